/* Hosts with handlers of signals of their own, which come while calls run, and hosts that fork. Ends with 0 if all is as it has to be. */
#include "check.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static const char source[] =
    "entry sum [n] (xs: [n]i32): i32 = i32.sum (map (\\x -> x * 3 - 1) xs)\n"
    "entry spin (n: i64): i64 = loop x = 0 for i < n do (x ^ i) + 1\n"
    "entry bad (i: i32): i32 = [1, 2, 3][i]\n";

enum { COUNT = 300000 };

static const int kept[] = {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPIPE, SIGCHLD};
enum { KEPT = sizeof kept / sizeof *kept };
static volatile sig_atomic_t came = 0;

static void on_signal(int number) {
  (void)number;
  came++;
}

static galopvm_engine *engine_with(size_t threads) {
  galopvm_options *options = NULL;
  galopvm_engine *engine = NULL;
  OK(galopvm_options_new(&options));
  OK(galopvm_options_set_threads(options, threads));
  OK(galopvm_engine_new(options, &engine));
  OK(galopvm_options_free(options));
  return engine;
}

/* Calls often enough that code is compiled and run by several threads, and looks at the results. */
static void work(const galopvm_engine *engine, int calls) {
  galopvm_program *program = NULL;
  galopvm_session *session = NULL;
  galopvm_value *array = NULL, *result = NULL, *number = NULL;
  const int64_t shape[] = {COUNT};
  int32_t *data = (int32_t *)malloc(COUNT * sizeof(int32_t)), sum = 0, wanted = 0;
  CHECK(data != NULL);
  for (int k = 0; k < COUNT; k++) {
    data[k] = k % 7;
    wanted += data[k] * 3 - 1;
  }
  OK(galopvm_program_from_source("process.fut", source, sizeof source - 1, &program));
  OK(galopvm_session_new(engine, program, &session));
  OK(galopvm_value_array_borrow(GALOPVM_I32, data, 1, shape, NULL, NULL, NULL, &array));
  for (int k = 0; k < calls; k++) {
    OK(galopvm_session_call(session, "sum", (const galopvm_value *const *)&array, 1, &result, 1));
    OK(galopvm_value_get_i32(result, &sum));
    OK(galopvm_value_free(result));
    CHECK(sum == wanted);
  }
  /* What goes wrong in a program comes back as a status, whatever the process does with signals. */
  OK(galopvm_value_i32(7, &number));
  CHECK(galopvm_session_call(session, "bad", (const galopvm_value *const *)&number, 1, &result, 1) == GALOPVM_PROGRAM);
  OK(galopvm_value_free(number));
  OK(galopvm_value_i64(3000000, &number));
  OK(galopvm_session_call(session, "spin", (const galopvm_value *const *)&number, 1, &result, 1));
  OK(galopvm_value_free(number));
  OK(galopvm_value_free(result));
  OK(galopvm_value_free(array));
  OK(galopvm_session_free(session));
  OK(galopvm_program_free(program));
  free(data);
}

static void handlers(void) {
  struct sigaction own, found;
  struct itimerval often, never;
  galopvm_engine *engine = NULL;
  memset(&own, 0, sizeof own);
  own.sa_handler = on_signal;
  sigemptyset(&own.sa_mask);
  for (int k = 0; k < KEPT; k++)
    CHECK(sigaction(kept[k], &own, NULL) == 0);
  engine = engine_with(2);
  work(engine, 3);
  /* A signal each half millisecond, without SA_RESTART: calls of the system are interrupted. */
  memset(&never, 0, sizeof never);
  often.it_interval.tv_sec = often.it_value.tv_sec = 0;
  often.it_interval.tv_usec = often.it_value.tv_usec = 500;
  came = 0;
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  for (int k = 0; k < 20 || came < 20; k++)
    work(engine, 20);
  CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
  came = 0;
  CHECK(raise(SIGINT) == 0 && came == 1);
  OK(galopvm_engine_free(engine));
  for (int k = 0; k < KEPT; k++) {
    CHECK(sigaction(kept[k], NULL, &found) == 0);
    CHECK(found.sa_handler == on_signal);
  }
}

/* Runs something in a child and waits for it. */
static void in_child(void (*what)(void)) {
  int status = 0;
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(60);
    what();
    _exit(0);
  }
  while (waitpid(child, &status, 0) < 0)
    ;
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void own_engine(void) {
  galopvm_engine *engine = engine_with(2);
  work(engine, 30);
  OK(galopvm_engine_free(engine));
}

/* A child of a child, and the one that forked goes on. */
static void again(void) {
  own_engine();
  in_child(own_engine);
  own_engine();
}

static void forks(void) {
  galopvm_engine *of_parent = NULL;
  in_child(own_engine); /* before the parent has threads */
  of_parent = engine_with(2);
  work(of_parent, 30);
  in_child(own_engine);
  in_child(again);
  work(of_parent, 30);
  OK(galopvm_engine_free(of_parent));
}

int main(void) {
  forks();
  handlers();
  puts("handlers and forks work");
  return 0;
}
