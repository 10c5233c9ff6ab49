/* What hosts in C may do, and what they may do wrong. Ends with 0 if all is as the header says. */
#include "check.h"

#include <pthread.h>
#include <string.h>

static const char source[] =
    "entry more [n] (xs: *[n]i32): *[n]i32 = xs with [0] = 77\n"
    "entry same [n][m] (xs: [n][m]i16) = xs\n"
    "entry spin (n: i64): i64 = loop x = 0 for i < n do x ^ i\n"
    "entry take (n: i64): []f64 = replicate n 1\n"
    "entry at (xs: []i32) (i: i64) = xs[i]\n"
    "entry all (a: i8) (b: i16) (c: i32) (d: i64) (e: u8) (f: u16) (g: u32) (h: u64) (i: f16) (j: f32) (k: f64) (l: bool) =\n"
    "  (l, k, j, i, h, g, f, e, d, c, b, a)\n"
    "entry pair (r: {x: i32, y: (f64, bool)}) = ({y = r.y, x = r.x + 1}, r.x)\n"
    "entry make (x: i32): #none | #some i32 = if x > 0 then #some x else #none\n"
    "entry look (s: #none | #some i32): i32 = match s case #none -> 0 case #some x -> x\n";

static int released = 0;

static void on_release(void *context) {
  released++;
  free(context);
}

static void arrays(galopvm_session *session) {
  galopvm_value *array = NULL, *result = NULL, *again = NULL;
  const int64_t four[] = {4}, negative[] = {-4}, two[] = {2, 2}, turned[] = {-1, -2};
  int32_t *data = (int32_t *)malloc(4 * sizeof(int32_t));
  int32_t read[4];
  galopvm_memory before, after;
  for (int k = 0; k < 4; k++)
    data[k] = k;

  /* What is lent is copied before it changes, and released once. */
  OK(galopvm_value_array_borrow(GALOPVM_I32, data, 1, four, NULL, on_release, data, &array));
  CHECK(galopvm_value_data(array) == data && galopvm_value_is_borrowed(array));
  OK(galopvm_session_call(session, "more", (const galopvm_value *const *)&array, 1, &result, 1));
  CHECK(galopvm_value_data(result) != data && !galopvm_value_is_borrowed(result) && data[0] == 0);
  OK(galopvm_value_read(result, read, sizeof read));
  CHECK(read[0] == 77 && read[3] == 3);
  IS(GALOPVM_ARGUMENT, galopvm_value_read(result, read, 3));
  OK(galopvm_value_free(result));
  OK(galopvm_session_call_giving(session, "more", &array, 1, &result, 1));
  CHECK(array == NULL && released == 1);
  OK(galopvm_value_free(result));

  /* What is given is changed where it is. */
  data = (int32_t *)malloc(4 * sizeof(int32_t));
  memset(data, 0, 4 * sizeof(int32_t));
  OK(galopvm_value_array_give(GALOPVM_I32, data, 1, four, NULL, on_release, data, &array));
  OK(galopvm_session_call(session, "more", (const galopvm_value *const *)&array, 1, &result, 1));
  CHECK(galopvm_value_data(result) != data && data[0] == 0);
  OK(galopvm_value_free(result));
  OK(galopvm_session_memory(session, &before));
  OK(galopvm_session_call_giving(session, "more", &array, 1, &result, 1));
  OK(galopvm_session_memory(session, &after));
  CHECK(galopvm_value_data(result) == data && data[0] == 77 && released == 1);
  CHECK(before.copied == after.copied && before.blocks == after.blocks);
  OK(galopvm_value_clone(result, &again));
  OK(galopvm_value_free(result));
  CHECK(released == 1);
  OK(galopvm_value_free(again));
  CHECK(released == 2);

  /* Views stay views. */
  int16_t matrix[] = {1, 2, 3, 4};
  uint32_t type = 99;
  OK(galopvm_value_array_borrow(GALOPVM_I16, &matrix[3], 2, two, turned, NULL, NULL, &array));
  OK(galopvm_session_call_giving(session, "same", &array, 1, &result, 1));
  CHECK(galopvm_value_data(result) == &matrix[3] && galopvm_value_rank(result) == 2);
  CHECK(galopvm_value_strides(result)[0] == -1 && galopvm_value_strides(result)[1] == -2);
  CHECK(galopvm_value_shape(result)[1] == 2 && !galopvm_value_is_row_major(result));
  int16_t order[4];
  OK(galopvm_value_read(result, order, sizeof order));
  CHECK(order[0] == 4 && order[1] == 2 && order[2] == 3 && order[3] == 1);
  OK(galopvm_value_type(result, &type));
  CHECK(type == GALOPVM_I16);
  OK(galopvm_value_free(result));

  /* What is no array. */
  IS(GALOPVM_ARGUMENT, galopvm_value_array_borrow(GALOPVM_I32, NULL, 1, four, NULL, on_release, NULL, &array));
  IS(GALOPVM_ARGUMENT, galopvm_value_array_borrow(GALOPVM_I32, read, 1, negative, NULL, on_release, NULL, &array));
  IS(GALOPVM_ARGUMENT, galopvm_value_array_borrow(GALOPVM_I32, read, 0, four, NULL, on_release, NULL, &array));
  IS(GALOPVM_ARGUMENT, galopvm_value_array_borrow(99, read, 1, four, NULL, on_release, NULL, &array));
  IS(GALOPVM_ARGUMENT, galopvm_value_array_borrow(GALOPVM_I32, read, 1, four, NULL, on_release, NULL, NULL));
  const uint8_t numbers[] = {1, 2, 3, 4};
  IS(GALOPVM_ARGUMENT, galopvm_value_array_borrow(GALOPVM_BOOL, numbers, 1, four, NULL, on_release, NULL, &array));
  const int64_t huge[] = {INT64_MAX, INT64_MAX}, none[] = {0, 5};
  IS(GALOPVM_ARGUMENT, galopvm_value_array_borrow(GALOPVM_I32, read, 2, huge, NULL, on_release, NULL, &array));
  CHECK(released == 2);
  OK(galopvm_value_array_borrow(GALOPVM_I16, NULL, 2, none, NULL, NULL, NULL, &array));
  OK(galopvm_session_call_giving(session, "same", &array, 1, &result, 1));
  CHECK(galopvm_value_shape(result)[0] == 0 && galopvm_value_shape(result)[1] == 5);
  OK(galopvm_value_free(result));
  OK(galopvm_value_array_copy(session, GALOPVM_I32, read, 1, four, &array));
  OK(galopvm_value_free(array));
}

static void scalars(galopvm_session *session) {
  galopvm_value *in[12], *out[12];
  int8_t a; int16_t b; int32_t c; int64_t d; uint8_t e; uint16_t f, i; uint32_t g; uint64_t h; float j; double k; bool l;
  OK(galopvm_value_i8(-8, &in[0]));
  OK(galopvm_value_i16(-16, &in[1]));
  OK(galopvm_value_i32(-32, &in[2]));
  OK(galopvm_value_i64(INT64_MIN, &in[3]));
  OK(galopvm_value_u8(200, &in[4]));
  OK(galopvm_value_u16(60000, &in[5]));
  OK(galopvm_value_u32(4000000000u, &in[6]));
  OK(galopvm_value_u64(UINT64_MAX, &in[7]));
  OK(galopvm_value_f16(0x3c00, &in[8]));
  OK(galopvm_value_f32(1.5f, &in[9]));
  OK(galopvm_value_f64(-2.5, &in[10]));
  OK(galopvm_value_bool(true, &in[11]));
  OK(galopvm_session_call_giving(session, "all", in, 12, out, 12));
  OK(galopvm_value_get_bool(out[0], &l));
  OK(galopvm_value_get_f64(out[1], &k));
  OK(galopvm_value_get_f32(out[2], &j));
  OK(galopvm_value_get_f16(out[3], &i));
  OK(galopvm_value_get_u64(out[4], &h));
  OK(galopvm_value_get_u32(out[5], &g));
  OK(galopvm_value_get_u16(out[6], &f));
  OK(galopvm_value_get_u8(out[7], &e));
  OK(galopvm_value_get_i64(out[8], &d));
  OK(galopvm_value_get_i32(out[9], &c));
  OK(galopvm_value_get_i16(out[10], &b));
  OK(galopvm_value_get_i8(out[11], &a));
  CHECK(l && k == -2.5 && j == 1.5f && i == 0x3c00 && h == UINT64_MAX && g == 4000000000u && f == 60000 && e == 200);
  CHECK(d == INT64_MIN && c == -32 && b == -16 && a == -8);
  IS(GALOPVM_TYPE, galopvm_value_get_i8(out[0], &a));
  CHECK(galopvm_value_data(out[0]) == NULL && galopvm_value_shape(out[0]) == NULL && galopvm_value_rank(out[0]) == 0);
  for (int n = 0; n < 12; n++)
    OK(galopvm_value_free(out[n]));
}

static void groups(galopvm_session *session, galopvm_program *program) {
  galopvm_value *parts[3], *record, *results[2], *part, *sum, *number;
  int32_t x = 0;
  double y = 0;
  CHECK(galopvm_program_entries(program) == 9 && strcmp(galopvm_entry_name(program, 6), "pair") == 0);
  CHECK(strcmp(galopvm_entry_param_type(program, 6, 0), "{x: i32, y: (f64, bool)}") == 0);
  CHECK(strcmp(galopvm_entry_param_name(program, 6, 0), "r") == 0 && galopvm_entry_results(program, 6) == 2);
  CHECK(galopvm_entry_param_type(program, 6, 1) == NULL && galopvm_entry_name(program, 9) == NULL);
  OK(galopvm_value_i32(4, &parts[0]));
  OK(galopvm_value_f64(0.5, &parts[1]));
  OK(galopvm_value_bool(true, &parts[2]));
  OK(galopvm_value_group((const galopvm_value *const *)parts, 3, &record));
  CHECK(galopvm_value_parts(record) == 3);
  IS(GALOPVM_TYPE, galopvm_value_get_i32(record, &x));
  IS(GALOPVM_TYPE, galopvm_session_call(session, "pair", (const galopvm_value *const *)parts, 1, results, 2));
  OK(galopvm_session_call(session, "pair", (const galopvm_value *const *)&record, 1, results, 2));
  OK(galopvm_value_part(results[0], 0, &part));
  OK(galopvm_value_get_i32(part, &x));
  OK(galopvm_value_free(part));
  OK(galopvm_value_part(results[0], 1, &part));
  OK(galopvm_value_get_f64(part, &y));
  OK(galopvm_value_free(part));
  IS(GALOPVM_ARGUMENT, galopvm_value_part(results[0], 3, &part));
  CHECK(x == 5 && y == 0.5);
  for (int n = 0; n < 3; n++)
    OK(galopvm_value_free(parts[n]));
  OK(galopvm_value_free(record));
  OK(galopvm_value_free(results[0]));
  OK(galopvm_value_free(results[1]));
  /* A sum passes through. */
  OK(galopvm_value_i32(9, &number));
  OK(galopvm_session_call_giving(session, "make", &number, 1, &sum, 1));
  OK(galopvm_session_call_giving(session, "look", &sum, 1, &number, 1));
  OK(galopvm_value_get_i32(number, &x));
  CHECK(x == 9);
  OK(galopvm_value_free(number));
}

static void *cancel(void *canceller) {
  OK(galopvm_cancel((galopvm_canceller *)canceller));
  return NULL;
}

static void *use(void *session) {
  galopvm_value *number = NULL, *result = NULL;
  OK(galopvm_value_i64(INT64_MAX, &number));
  galopvm_status status = galopvm_session_call((galopvm_session *)session, "spin", (const galopvm_value *const *)&number, 1, &result, 1);
  CHECK(status == GALOPVM_BUSY || status == GALOPVM_CANCELLED);
  OK(galopvm_value_free(number));
  return (void *)(uintptr_t)status;
}

static void limits(galopvm_session *session) {
  galopvm_value *number = NULL, *small = NULL, *result = NULL;
  galopvm_canceller *canceller = NULL;
  const galopvm_limits fuel = {0, 1000, 0}, time = {0, 0, 50}, memory = {1 << 20, 0, 0}, none = {0, 0, 0};
  pthread_t threads[3];
  OK(galopvm_value_i64(INT64_MAX, &number));
  OK(galopvm_value_i64(10000000, &small));
  const galopvm_value *arguments[] = {number}, *few[] = {small};
  OK(galopvm_session_set_limits(session, &fuel));
  IS(GALOPVM_FUEL, galopvm_session_call(session, "spin", arguments, 1, &result, 1));
  OK(galopvm_session_set_limits(session, &time));
  IS(GALOPVM_TIME, galopvm_session_call(session, "spin", arguments, 1, &result, 1));
  OK(galopvm_session_set_limits(session, &memory));
  IS(GALOPVM_MEMORY, galopvm_session_call(session, "take", few, 1, &result, 1));
  OK(galopvm_session_set_limits(session, &none));

  /* Two threads with one session: one of them is told. Both end when the call is cancelled. */
  OK(galopvm_canceller_new(session, &canceller));
  void *first = NULL, *second = NULL;
  pthread_create(&threads[0], NULL, use, session);
  pthread_create(&threads[1], NULL, use, session);
  pthread_create(&threads[2], NULL, cancel, canceller);
  pthread_join(threads[0], &first);
  pthread_join(threads[1], &second);
  pthread_join(threads[2], NULL);
  OK(galopvm_cancel_reset(canceller));
  OK(galopvm_canceller_free(canceller));

  /* A canceller of one call: who cancels it later ends no other, and the session's own is another. */
  OK(galopvm_canceller_new(NULL, &canceller));
  OK(galopvm_session_set_canceller(session, canceller));
  pthread_create(&threads[0], NULL, cancel, canceller);
  IS(GALOPVM_CANCELLED, galopvm_session_call(session, "spin", arguments, 1, &result, 1));
  pthread_join(threads[0], NULL);
  OK(galopvm_session_set_canceller(session, NULL));
  OK(galopvm_value_free(number));
  OK(galopvm_value_i64(10, &number));
  OK(galopvm_session_call(session, "spin", (const galopvm_value *const *)&number, 1, &result, 1));
  OK(galopvm_value_free(result));
  OK(galopvm_session_set_canceller(session, canceller));
  OK(galopvm_canceller_free(canceller));
  IS(GALOPVM_CANCELLED, galopvm_session_call(session, "spin", (const galopvm_value *const *)&number, 1, &result, 1));
  OK(galopvm_session_set_canceller(session, NULL));
  OK(galopvm_session_call_giving(session, "spin", &number, 1, &result, 1));
  OK(galopvm_value_free(result));
  OK(galopvm_value_free(small));
}

static void errors(galopvm_engine *engine, galopvm_session *session) {
  galopvm_program *program = NULL;
  galopvm_options *options = NULL;
  galopvm_value *pair[2] = {NULL, NULL}, *result = NULL;
  const int64_t four[] = {4};
  const int32_t data[] = {1, 2, 3, 4};
  IS(GALOPVM_COMPILE, galopvm_program_from_source("bad.fut", "def f = x + 1", 13, &program));
  CHECK(strstr(galopvm_message(), "bad.fut:1:9") && program == NULL);
  IS(GALOPVM_LOAD, galopvm_program_from_file("/there/is/no/such.fut", &program));
  IS(GALOPVM_LOAD, galopvm_program_from_bytecode("bytes", (const uint8_t *)"abc", 3, &program));
  IS(GALOPVM_ARGUMENT, galopvm_program_from_file(NULL, &program));
  IS(GALOPVM_ARGUMENT, galopvm_program_from_file("a.fut", NULL));
  IS(GALOPVM_ARGUMENT, galopvm_program_from_source(NULL, NULL, 1, &program));
  IS(GALOPVM_ARGUMENT, galopvm_program_from_source("\xff", "", 0, &program));
  IS(GALOPVM_ARGUMENT, galopvm_engine_new(NULL, NULL));
  IS(GALOPVM_ARGUMENT, galopvm_session_new(NULL, NULL, NULL));
  IS(GALOPVM_ARGUMENT, galopvm_session_new(engine, NULL, NULL));
  IS(GALOPVM_ARGUMENT, galopvm_session_call(NULL, "more", NULL, 0, NULL, 0));
  IS(GALOPVM_ARGUMENT, galopvm_session_call(session, NULL, NULL, 0, NULL, 0));
  IS(GALOPVM_ARGUMENT, galopvm_session_call(session, "more", NULL, 1, &result, 1));
  IS(GALOPVM_ARGUMENT, galopvm_session_call(session, "more", (const galopvm_value *const *)pair, 1, &result, 1));
  CHECK(strstr(galopvm_message(), "NULL"));
  IS(GALOPVM_ARGUMENT, galopvm_session_call_giving(session, "more", pair, 2, NULL, 1));
  IS(GALOPVM_ARGUMENT, galopvm_session_call(session, "gone", NULL, 0, NULL, 0));
  IS(GALOPVM_ARGUMENT, galopvm_session_set_param(session, NULL, 1));
  IS(GALOPVM_TYPE, galopvm_session_set_param(session, "none", 1));
  IS(GALOPVM_ARGUMENT, galopvm_session_memory(session, NULL));
  IS(GALOPVM_ARGUMENT, galopvm_cancel(NULL));
  IS(GALOPVM_ARGUMENT, galopvm_value_get_i8(NULL, NULL));
  IS(GALOPVM_ARGUMENT, galopvm_value_i8(1, NULL));
  IS(GALOPVM_ARGUMENT, galopvm_value_clone(NULL, &result));
  IS(GALOPVM_ARGUMENT, galopvm_value_group(NULL, 2, &result));
  CHECK(galopvm_value_parts(NULL) == 0 && galopvm_value_data(NULL) == NULL && !galopvm_value_is_borrowed(NULL));
  CHECK(galopvm_program_entries(NULL) == 0 && galopvm_entry_name(NULL, 0) == NULL);
  OK(galopvm_value_free(NULL));
  OK(galopvm_session_free(NULL));
  OK(galopvm_options_new(&options));
  IS(GALOPVM_ARGUMENT, galopvm_options_set_backend(options, "fast"));
  CHECK(strstr(galopvm_message(), "interp"));
  OK(galopvm_options_set_cpu(options, "avx2"));
  OK(galopvm_options_free(options));
  /* An index outside, with the source line of it. */
  OK(galopvm_value_array_copy(session, GALOPVM_I32, data, 1, four, &pair[0]));
  OK(galopvm_value_i64(4, &pair[1]));
  IS(GALOPVM_PROGRAM, galopvm_session_call_giving(session, "at", pair, 2, &result, 1));
  CHECK(strstr(galopvm_message(), "out of bounds") && pair[0] == NULL && pair[1] == NULL);
}

int main(int count, char **words) {
  galopvm_options *options = NULL;
  galopvm_engine *engine = NULL;
  galopvm_program *program = NULL, *again = NULL;
  galopvm_session *session = NULL;
  galopvm_bytes *bytes = NULL;
  galopvm_memory memory;
  const uint8_t *data = NULL;
  size_t size = 0;
  OK(galopvm_options_new(&options));
  OK(galopvm_options_set_backend(options, count > 1 ? words[1] : "auto"));
  OK(galopvm_options_set_threads(options, 2));
  OK(galopvm_engine_new(options, &engine));
  OK(galopvm_options_free(options));
  OK(galopvm_program_from_source("boundary.fut", source, strlen(source), &again));
  OK(galopvm_program_bytecode(again, &bytes));
  OK(galopvm_bytes_get(bytes, &data, &size));
  OK(galopvm_program_from_bytecode("boundary.gbc", data, size, &program));
  OK(galopvm_bytes_free(bytes));
  OK(galopvm_program_free(again));
  OK(galopvm_session_new(engine, program, &session));
  arrays(session);
  scalars(session);
  groups(session, program);
  limits(session);
  errors(engine, session);
  OK(galopvm_session_memory(session, &memory));
  CHECK(memory.live == 0 && memory.blocks > 0);
  OK(galopvm_session_free(session));
  OK(galopvm_program_free(program));
  OK(galopvm_engine_free(engine));
  printf("galopvm %s: all as the header says\n", galopvm_version());
  return 0;
}
