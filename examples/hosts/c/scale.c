/* The smallest whole program: a kernel from source text, an array in, an array out. */
#include <galopvm.h>
#include <stdio.h>
#include <string.h>

static const char source[] = "entry scale [n] (a: f64) (xs: [n]f64): [n]f64 = map (* a) xs";

static int failed(void) {
  fprintf(stderr, "%s\n", galopvm_message());
  return 1;
}

int main(void) {
  galopvm_engine *engine = NULL;
  galopvm_program *program = NULL;
  galopvm_session *session = NULL;
  galopvm_value *arguments[2] = {NULL, NULL}, *result = NULL;
  const double xs[] = {1.0, 2.5, 4.0};
  const int64_t shape[] = {3};

  if (galopvm_engine_new(NULL, &engine) || galopvm_program_from_source("scale.fut", source, strlen(source), &program) ||
      galopvm_session_new(engine, program, &session) || galopvm_value_f64(10.0, &arguments[0]) ||
      galopvm_value_array_borrow(GALOPVM_F64, xs, 1, shape, NULL, NULL, NULL, &arguments[1]) ||
      galopvm_session_call_giving(session, "scale", arguments, 2, &result, 1))
    return failed();

  const double *scaled = (const double *)galopvm_value_data(result);
  printf("%g %g %g\n", scaled[0], scaled[1], scaled[2]);

  galopvm_value_free(result);
  galopvm_session_free(session);
  galopvm_program_free(program);
  galopvm_engine_free(engine);
  return 0;
}
