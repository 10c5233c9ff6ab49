/* Programs of other people: what they are, bounds of what they may take, and how a call is ended. */
#include <galopvm.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char source[] =
    "entry spin (n: i64): i64 = loop x = 0 for i < n do (x ^ i) + 1\n"
    "entry fill (n: i64): [n]f64 = map f64.i64 (iota n)\n"
    "entry steps: i64 = #[param(steps)] 10\n"
    "entry wraps: u8 = 300u8\n";

static void ok(galopvm_status status) {
  if (status == GALOPVM_OK) return;
  fprintf(stderr, "%s\n", galopvm_message());
  exit(1);
}

/* Calls an entry point with a number, and says how that ended. */
static galopvm_status call(const galopvm_session *session, const char *entry, int64_t number) {
  galopvm_value *argument = NULL, *result = NULL;
  ok(galopvm_value_i64(number, &argument));
  galopvm_status status = galopvm_session_call_giving(session, entry, &argument, 1, &result, 1);
  ok(galopvm_value_free(result));
  return status;
}

static const char *name_of(galopvm_status status) {
  switch (status) {
  case GALOPVM_OK: return "done";
  case GALOPVM_MEMORY: return "too much memory";
  case GALOPVM_FUEL: return "too many operations";
  case GALOPVM_TIME: return "too much time";
  case GALOPVM_CANCELLED: return "cancelled";
  default: return galopvm_message();
  }
}

static void *cancel_soon(void *canceller) {
  const struct timespec soon = {0, 50 * 1000 * 1000};
  nanosleep(&soon, NULL);
  ok(galopvm_cancel((const galopvm_canceller *)canceller));
  return NULL;
}

int main(void) {
  printf("galopvm has a version: %s\n", strlen(galopvm_version()) > 0 ? "yes" : "no");
  galopvm_program *source_program = NULL, *program = NULL;
  ok(galopvm_program_from_source("limits.fut", source, strlen(source), &source_program));
  if (galopvm_program_warnings(source_program) != NULL) printf("%s\n", galopvm_program_warnings(source_program));

  /* Bytecode is what is kept and sent: it is verified when it is loaded. */
  galopvm_bytes *bytes = NULL;
  const uint8_t *data;
  size_t count;
  ok(galopvm_program_bytecode(source_program, &bytes));
  ok(galopvm_bytes_get(bytes, &data, &count));
  ok(galopvm_program_from_bytecode("limits.gbc", data, count, &program));
  ok(galopvm_bytes_free(bytes));
  ok(galopvm_program_free(source_program));

  for (size_t k = 0; k < galopvm_program_entries(program); k++) {
    printf("%s:", galopvm_entry_name(program, k));
    for (size_t p = 0; p < galopvm_entry_params(program, k); p++)
      printf(" %s %s", galopvm_entry_param_name(program, k, p), galopvm_entry_param_type(program, k, p));
    for (size_t r = 0; r < galopvm_entry_results(program, k); r++) printf(" -> %s", galopvm_entry_result_type(program, k, r));
    printf("\n");
  }

  /* Everything by the interpreter, so that fuel counts what is done; 1 MB and a million operations for each session. */
  galopvm_options *options = NULL;
  galopvm_engine *engine = NULL;
  galopvm_session *session = NULL;
  const galopvm_limits limits = {1 << 20, 1000 * 1000, 0}, half_a_second = {0, 0, 500}, none = {0, 0, 0};
  ok(galopvm_options_new(&options));
  ok(galopvm_options_set_backend(options, "interp"));
  ok(galopvm_options_set_cpu(options, "scalar"));
  ok(galopvm_options_set_threads(options, 2));
  ok(galopvm_options_set_limits(options, &limits));
  ok(galopvm_engine_new(options, &engine));
  ok(galopvm_options_free(options));
  ok(galopvm_session_new(engine, program, &session));
  printf("a thousand numbers: %s\n", name_of(call(session, "fill", 1000)));
  printf("a million numbers: %s\n", name_of(call(session, "fill", 1000 * 1000)));
  printf("ten million steps: %s\n", name_of(call(session, "spin", 10 * 1000 * 1000)));
  ok(galopvm_session_set_limits(session, &half_a_second));
  printf("without an end: %s\n", name_of(call(session, "spin", INT64_MAX)));

  /* Another thread ends a call. */
  galopvm_canceller *canceller = NULL;
  pthread_t other;
  ok(galopvm_session_set_limits(session, &none));
  ok(galopvm_canceller_new(session, &canceller));
  if (pthread_create(&other, NULL, cancel_soon, canceller) != 0) return 1;
  printf("without an end: %s\n", name_of(call(session, "spin", INT64_MAX)));
  pthread_join(other, NULL);
  ok(galopvm_cancel_reset(canceller));
  ok(galopvm_canceller_free(canceller));
  printf("after it: %s\n", name_of(call(session, "spin", 1000)));

  /* A canceller that one call has for itself: cancelled too late, it ends no other. */
  ok(galopvm_canceller_new(NULL, &canceller));
  ok(galopvm_session_set_canceller(session, canceller));
  printf("a call in time: %s\n", name_of(call(session, "spin", 1000)));
  ok(galopvm_session_set_canceller(session, NULL));
  ok(galopvm_cancel(canceller));
  printf("the next one: %s\n", name_of(call(session, "spin", 1000)));
  ok(galopvm_canceller_free(canceller));

  /* A tuning parameter of the program. */
  galopvm_value *steps = NULL;
  int64_t number;
  ok(galopvm_session_set_param(session, "steps", 25));
  ok(galopvm_session_call(session, "steps", NULL, 0, &steps, 1));
  ok(galopvm_value_get_i64(steps, &number));
  ok(galopvm_value_free(steps));
  galopvm_memory memory;
  ok(galopvm_session_memory(session, &memory));
  printf("%d steps; most memory below 1 MB: %s, now %d bytes\n", (int)number, memory.peak <= 1 << 20 ? "yes" : "no", (int)memory.live);

  ok(galopvm_session_free(session));
  ok(galopvm_program_free(program));
  ok(galopvm_engine_free(engine));
  return 0;
}
