"""Drives the prompt of galopvm in a terminal: editing, completion, several lines, paste, interrupts, the end.

Usage: python3 terminal.py GALOPVM FOLDER
What appears is compared without colours and movements of the cursor. Exit code 0 if all is as it should be.
"""

import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import fcntl
import time

# Longest wait for anything: a loaded machine is slow, a hanging prompt never comes.
PATIENCE = 60.0

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[=>()][0-9A-B]?|\x1b\][^\x07]*\x07|[\x07\x08]")


class Terminal:
    """A process behind a terminal of 100 columns."""

    def __init__(self, command, folder, **more):
        self.seen = ""
        self.from_here = 0
        self.child, self.master = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            environment = dict(os.environ, TERM="xterm", XDG_DATA_HOME=folder, XDG_CACHE_HOME=folder, NO_COLOR="1")
            environment.update(more)
            os.execve(command[0], command, environment)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))

    def types(self, keys):
        """Presses keys."""
        os.write(self.master, keys.encode())

    def take(self, seconds):
        """What appears within some time; false if that is the end of the process."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:
            return False
        self.seen += data.decode(errors="replace")
        return bool(data)

    def text(self):
        """What has appeared since the last thing that was waited for."""
        return ESCAPES.sub("", self.seen).replace("\r", "\n")[self.from_here:]

    def waits_for(self, pattern):
        """Goes on when a pattern has appeared; gives the text up to its end."""
        end = time.monotonic() + PATIENCE
        while True:
            found = re.search(pattern, self.text())
            if found:
                before = self.text()[: found.end()]
                self.from_here += found.end()
                return before
            if time.monotonic() > end or not self.take(0.2):
                # The last words of a process may be there with its end.
                if re.search(pattern, self.text()):
                    continue
                sys.exit(f"terminal: waited for {pattern!r}, and got:\n{self.text()}")

    def waits_for_bytes(self, expected):
        """Goes on when this has appeared, colours included."""
        end = time.monotonic() + PATIENCE
        while expected not in self.seen:
            if time.monotonic() > end or not self.take(0.2):
                sys.exit(f"terminal: waited for {expected!r}, and got:\n{self.seen!r}")

    def ends(self):
        """The exit code, when the process has ended by itself."""
        end = time.monotonic() + PATIENCE
        while self.take(0.2):
            if time.monotonic() > end:
                os.kill(self.child, signal.SIGKILL)
                sys.exit(f"terminal: the prompt does not end:\n{self.text()}")
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")


def main():
    galopvm, folder = sys.argv[1:]
    prompt = r"\[\d+\]> "
    at = Terminal([galopvm, "repl"], folder)
    at.waits_for(prompt)
    at.types("def redness = 7i32\r")
    at.waits_for(prompt)
    # The whole word, where there is one.
    at.types("redn\t * 6\r")
    at.waits_for(r"42i32")
    at.waits_for(prompt)
    # All words, where there are several.
    at.types("red\t\t")
    listed = at.waits_for(r"reduce_comm")
    if "redness" not in listed:
        sys.exit(f"terminal: Tab does not know what was defined:\n{listed}")
    at.types("\x15f64.sqr\t 9\r")
    at.waits_for(r"3f64")
    at.waits_for(prompt)
    at.types(":und\t\r")
    at.waits_for(prompt)
    at.types("redness\r")
    at.waits_for(r"Unknown name \"redness\"")
    at.waits_for(prompt)
    # An input goes on until it is complete.
    at.types("map (+ 1) [1,\r")
    at.types("2]\r")
    at.waits_for(r"\[2i32, 3i32\]")
    at.waits_for(prompt)
    # A line of such an input is changed when others have been typed below it.
    at.types("[5, 6,\r7]\x1b[A\x01\x1b[C4, \r")
    at.waits_for(r"\[4i32, 5i32, 6i32, 7i32\]")
    at.waits_for(prompt)
    # An empty line ends it.
    at.types("1 +\r\r")
    at.waits_for(r"error")
    at.waits_for(prompt)
    # What may stand there: members, fields, types, names of the line, constructors, files to import.
    write(os.path.join(folder, "imported.fut"), "def from_file = 8i32")
    for line in [
        "module outer = { def alpha = 1i32 module inner = { def delta = 2i32 } }",
        "def rec = {first = 3i32, second = {third = 4i32}}",
        "type number = i32",
        "def colour (c: #green | #blue) = match c case #green -> 5i32 case #blue -> 6i32",
    ]:
        at.types(line + "\r")
        at.waits_for(prompt)
    for typed, value in [
        ("outer.al\t", 1),
        ("outer.inner.d\t", 2),
        ("rec.f\t", 3),
        ("rec.second.t\t", 4),
        ("(\\xylo -> xy\t + 2) 5", 7),
        ("let quux = 9 in quu\t", 9),
        ("(10: numb\t)", 10),
        ("colour #gr\t", 5),
    ]:
        at.types(typed + " + 100\r" if "#" not in typed else typed + "\r")
        at.waits_for(f"\n{value + 100 if '#' not in typed else value}i32")
        at.waits_for(prompt)
    at.types('import "impor\t"\r')
    at.waits_for(prompt)
    at.types("from_f\t\r")
    at.waits_for(r"\n8i32")
    at.waits_for(prompt)
    for _ in range(5):
        at.types(":undo\r")
        at.waits_for(prompt)
    # The line before, changed.
    at.types("40 + 1\r")
    at.waits_for(r"41i32")
    at.waits_for(prompt)
    at.types("\x1b[A\x7f2\r")
    at.waits_for(r"42i32")
    at.waits_for(prompt)
    # What is pasted is taken as it is.
    at.types("\x1b[200~def a = 1i64\x1b[201~\r")
    at.waits_for(prompt)
    at.types("a + 1\r")
    at.waits_for(r"2i64")
    at.waits_for(prompt)
    # Definitions and expressions that are pasted together are each taken by itself, and a definition goes on where it does.
    at.types("\x1b[200~-- both\ndef sq (x: i64) =\n  x\n  * x\n\nsq 5\nlet y = 3i64\nsq y\n\x1b[201~\r")
    at.waits_for(r"25i64")
    at.waits_for(r"9i64")
    at.waits_for(prompt)
    # An evaluation without end ends with Ctrl-C, and nothing is lost.
    at.types("loop x = 0i32 while x >= 0 do (x + 1) % 1000\r")
    time.sleep(0.5)
    at.types("\x03")
    start = time.monotonic()
    at.waits_for(prompt)
    print(f"terminal: a prompt {1000 * (time.monotonic() - start):.0f} ms after Ctrl-C")
    at.types("a + 2\r")
    at.waits_for(r"3i64")
    at.waits_for(prompt)
    # A breakpoint has a prompt of its own; Ctrl-C there ends the evaluation, and nothing else.
    at.types("map (\\x -> break (x * 2)) [a, a + 1]\r")
    at.waits_for(r"Breakpoint at [^\n]*: 2\n")
    at.waits_for(r"\[0\]> ")
    at.types("it + a\r")
    at.waits_for(r"3i64")
    at.waits_for(r"\[1\]> ")
    at.types(":unbreak\r")
    at.waits_for(r"Breakpoint at [^\n]*: 4\n")
    at.waits_for(r"\[0\]> ")
    at.types("loop x = 0i32 while x >= 0 do (x + 1) % 1000\r")
    time.sleep(0.5)
    at.types("\x03")
    at.waits_for(r"Interrupted")
    at.waits_for(r"\[1\]> ")
    at.types("\x03")
    at.waits_for(r"Interrupted")
    at.waits_for(prompt)
    at.types("a + 3\r")
    at.waits_for(r"4i64")
    at.waits_for(prompt)
    # An evaluation that takes long says so; the line is erased at the end.
    at.types("loop x = 0i32 while x >= 0 do (x + 1) % 1000\r")
    at.waits_for(r"running for 1 s: while loop at [^ ]*, values take \d+\.\d MiB")
    at.types("\x03")
    at.waits_for(r"Interrupted")
    at.waits_for(prompt)
    if not re.search(r"MiB(\^C)?\r\x1b\[K[^\n]*Interrupted", at.seen):
        sys.exit(f"terminal: the line of an evaluation is not erased:\n{at.seen!r}")
    # A file is loaded whenever it changes, with errors and without, until Ctrl-C, which may come while something runs.
    watched = os.path.join(folder, "watched.fut")
    write(watched, "def answer = 40i32")
    at.types(":watch watched.fut answer + 2\r")
    at.waits_for(r"42i32")
    write(watched, "def answer = 41i16")
    at.waits_for(r"43i16")
    write(watched, "def answer = nobody")
    at.waits_for(r'Unknown name "nobody"')
    os.remove(watched)
    at.waits_for(r"no such file")
    write(watched, "def answer = loop x = 0i32 while x >= 0 do (x + 1) % 1000")
    at.waits_for(r"running for 1 s")
    at.types("\x03")
    at.waits_for(prompt)
    at.types(":watch watched.fut\r")
    at.waits_for(r"watched.fut is loaded")
    at.types("\x03")
    at.waits_for(prompt)
    # All that was loaded by watching is taken back at once.
    at.types(":undo\r")
    at.waits_for(prompt)
    at.types(":undo\r")
    at.waits_for(prompt)
    at.types("a + 3\r")
    at.waits_for(r"4i64")
    at.waits_for(prompt)
    # Commands, and files behind those that take one, with blanks in their names.
    for typed, whole in [("expl", "explain"), ("as", "asm"), ("gr", "grad"), ("pl", "plot"), ("im", "image"), ("wat", "watch"), ("rea", "read")]:
        at.types(":" + typed + "\t")
        at.waits_for(":" + whole)
        at.types("\x15")
    os.mkdir(os.path.join(folder, "my files"))
    write(os.path.join(folder, "my files", "some answer.fut"), "def answer = 44i32")
    at.types(":watch my\t\t")
    at.waits_for(r"my\\ files/some\\ answer\.fut")
    at.types(" answer + 1\r")
    at.waits_for(r"45i32")
    at.types("\x03")
    at.waits_for(prompt)
    at.types(":load my\t\t\r")
    at.waits_for(prompt)
    at.types(":image [[0u8, 255u8]] ./my\tpicture.png\r")
    at.waits_for(r"written to ./my files/picture\.png")
    at.waits_for(prompt)
    at.types(":undo\r")
    at.waits_for(prompt)
    at.types(":undo\r")
    at.waits_for(prompt)
    # Figures and images are of what the terminal knows.
    at.types(":plot map (\\x -> x * x) (iota 50)\r")
    at.waits_for(r"2401 │ *[\u2801-\u28ff]")
    at.waits_for(prompt)
    # Ctrl-C on a line forgets the line; Ctrl-D ends the session.
    at.types("this is nothing\x03")
    at.waits_for(prompt)
    at.types("\x04")
    code = at.ends()
    if code != 0:
        sys.exit(f"terminal: exit code {code}:\n{at.text()}")
    # In colours: tokens, and how the last input that began so went on, which the right arrow takes.
    at = Terminal([galopvm, "repl"], folder, NO_COLOR="")
    at.waits_for(prompt)
    at.types("let hinted = 12i32 in hinted + 1\r")
    at.waits_for(r"13i32")
    at.waits_for(prompt)
    if "\x1b[35mlet\x1b[0m hinted = \x1b[36m12i32\x1b[0m" not in at.seen:
        sys.exit(f"terminal: tokens have no colours:\n{at.seen!r}")
    at.types("let hin")
    at.waits_for_bytes("\x1b[2mted = 12i32 in hinted + 1\x1b[0m")
    at.types("\x1b[C0\r")
    at.waits_for(r"\n22i32")
    at.waits_for(prompt)
    at.types("\x04")
    at.ends()
    # A terminal that can nothing but show lines gets lines, and a mark where an input goes on.
    at = Terminal([galopvm, "repl"], folder, NO_COLOR="", TERM="dumb")
    at.waits_for(prompt)
    at.types("[1,\r")
    at.waits_for(r"\n +\| ")
    at.types("2]\r")
    at.waits_for(r"\[1i32, 2i32\]")
    at.types("\x04")
    at.ends()
    if "\x1b" in at.seen:
        sys.exit(f"terminal: a plain terminal is driven:\n{at.seen!r}")
    # A program says what it waits for.
    write(os.path.join(folder, "waits.fut"), "entry add (p: {x: i32, y: i32}) (k: i32) = p.x + p.y + k")
    at = Terminal([galopvm, "run", "waits.fut"], folder)
    at.waits_for(r"`add` takes \(p: \{x: i32, y: i32\}\) \(k: i32\); type the values")
    at.types("{x = 1, y = 2}\r3\r\x04")
    at.waits_for(r"6i32")
    if at.ends() != 0:
        sys.exit(f"terminal: the program fails:\n{at.text()}")


if __name__ == "__main__":
    main()
