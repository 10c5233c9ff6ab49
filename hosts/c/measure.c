/* What a call from C costs: the median of many, in nanoseconds, and how the memory of the process grows with calls.
 *
 *   cargo build --release -p galopvm-c
 *   cc -O2 -I hosts/c/include -o target/measure hosts/c/measure.c target/release/libgalopvm_c.a -lpthread -ldl -lm
 *   target/measure 100000
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/check.h"

#include <string.h>
#include <time.h>

static const char source[] =
    "entry scalar (x: i32): i32 = x + 1\n"
    "entry array [n] (xs: [n]f32): [n]f32 = map (+ 1) xs\n"
    "entry pair [n] (xs: [n]f32) (a: f32): ([n]f32, {low: f32, high: f32}) =\n"
    "  (map (* a) xs, {low = f32.minimum xs, high = f32.maximum xs})\n";

static const int64_t elements[] = {64, 1024};
enum { SIZES = 2, MOST = 1024 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Bytes of the process that are in memory; 0 where the system does not tell. */
static long resident(void) {
  long kilobytes = 0;
  char line[256];
  FILE *file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "VmRSS: %ld", &kilobytes) == 1) break;
  if (file != NULL) fclose(file);
  return kilobytes * 1024;
}

/* One call: what is called, its arguments, how many results it has, and elements that are its first argument, lent for the call. */
struct call {
  galopvm_session *session;
  const char *entry;
  const galopvm_value *arguments[2];
  size_t count, results;
  const float *lent;
};

static void run(const struct call *call) {
  galopvm_value *results[2] = {NULL, NULL}, *array = NULL;
  const galopvm_value *arguments[2] = {call->arguments[0], call->arguments[1]};
  if (call->lent != NULL) {
    OK(galopvm_value_array_borrow(GALOPVM_F32, call->lent, 1, &elements[0], NULL, NULL, NULL, &array));
    arguments[0] = array;
  }
  OK(galopvm_session_call(call->session, call->entry, arguments, call->count, results, call->results));
  OK(galopvm_value_free(array));
  for (size_t k = 0; k < call->results; k++) OK(galopvm_value_free(results[k]));
}

static void measure(const char *what, const struct call *call, size_t repetitions, double *times) {
  for (size_t k = 0; k < 3000; k++) run(call);
  const long before = resident();
  for (size_t k = 0; k < repetitions; k++) {
    const double start = now();
    run(call);
    times[k] = now() - start;
  }
  const long grown = resident() - before;
  qsort(times, repetitions, sizeof *times, by_size);
  printf("%-28s least %7.0f ns, median %7.0f ns, memory grew by %ld bytes\n", what, times[0], times[repetitions / 2], grown);
}

int main(int argc, char **argv) {
  const size_t repetitions = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 100000;
  double *times = calloc(repetitions + 1, sizeof *times);
  galopvm_engine *engine = NULL;
  galopvm_program *program = NULL;
  galopvm_session *session = NULL;
  galopvm_value *one = NULL, *half = NULL, *arrays[SIZES] = {NULL};
  static float data[MOST];
  CHECK(times != NULL);
  /* Pages that are written for the first time while it measures would be memory that grows. */
  for (size_t k = 0; k <= repetitions; k++) times[k] = 1;
  for (int k = 0; k < MOST; k++) data[k] = (float)k;

  OK(galopvm_engine_new(NULL, &engine));
  OK(galopvm_program_from_source("measure.fut", source, strlen(source), &program));
  OK(galopvm_session_new(engine, program, &session));
  OK(galopvm_value_i32(1, &one));
  OK(galopvm_value_f32(0.5f, &half));
  for (int k = 0; k < SIZES; k++)
    OK(galopvm_value_array_borrow(GALOPVM_F32, data, 1, &elements[k], NULL, NULL, NULL, &arrays[k]));

  measure("a scalar", &(struct call){session, "scalar", {one, NULL}, 1, 1, NULL}, repetitions, times);
  for (int k = 0; k < SIZES; k++) {
    char what[64];
    snprintf(what, sizeof what, "map over %d elements", (int)elements[k]);
    measure(what, &(struct call){session, "array", {arrays[k], NULL}, 1, 1, NULL}, repetitions, times);
  }
  measure("the same over 64, lent", &(struct call){session, "array", {NULL, NULL}, 1, 1, data}, repetitions, times);
  measure("three operators over 64", &(struct call){session, "pair", {arrays[0], half}, 2, 2, NULL}, repetitions, times);

  for (int k = 0; k < SIZES; k++) OK(galopvm_value_free(arrays[k]));
  OK(galopvm_value_free(half));
  OK(galopvm_value_free(one));
  OK(galopvm_session_free(session));
  OK(galopvm_program_free(program));
  OK(galopvm_engine_free(engine));
  free(times);
  return 0;
}
