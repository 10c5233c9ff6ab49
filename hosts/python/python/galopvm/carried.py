"""Programs that came from another process: each is loaded once, however many copies of it arrive.

A program travels as its bytecode and the options that it was made with; an entry point as its program and its name. What they
have in common is the digest of both. Threads that want the same program at the same time wait for the one that loads it; a child
of the process has locks of its own, as its parent's may be held by threads that it has not.
"""

import hashlib
import os
import threading
from collections import OrderedDict

from ._galopvm import from_bytecode

# Programs that are kept. Workers live long, and each change of a program by somebody at a prompt is a new one.
KEPT = 64


class _Loading:
    """A program, once it is there."""

    def __init__(self):
        self.lock = threading.Lock()
        self.program = None


class _Loaded:
    """The programs of this process, by their digests and whose they are; those that were used last are kept."""

    def __init__(self):
        self.lock = threading.Lock()
        self.found = OrderedDict()

    def program(self, code, options, owner):
        key = digest(code, options), owner
        with self.lock:
            loading = self.found.setdefault(key, _Loading())
            self.found.move_to_end(key)
            if len(self.found) > KEPT:
                self.found.popitem(last=False)
        with loading.lock:
            if loading.program is None:
                loading.program = from_bytecode(code, **options)
            return loading.program


_loaded = _Loaded()


def _forget():
    global _loaded
    _loaded = _Loaded()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def digest(code, options):
    """What tells one program from others: the same bytecode with the same options has the same."""
    found = hashlib.sha256(repr(sorted(options.items())).encode())
    found.update(code)
    return found.hexdigest()


def program(code, options, owner=None):
    """The program of this bytecode with these options; that of an owner is shared with no other."""
    return _loaded.program(code, options, owner)


def entry(code, options, name):
    """An entry point of such a program."""
    return program(code, options).entries[name]
