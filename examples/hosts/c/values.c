/* Values: every kind of scalar, arrays in every way that a host has them, elements and rows, tuples and records. */
#include <galopvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "entry scalars (a: i8) (b: i16) (c: i32) (d: i64) (e: u8) (f: u16) (g: u32) (h: u64) (i: f16) (j: f32) (k: f64) (l: bool) =\n"
    "  (a + 1, b + 1, c + 1, d + 1, e + 1, f + 1, g + 1, h + 1, i + 1, j + 1, k + 1, !l)\n"
    "entry turned [n][m] (xs: [n][m]f32): [m][n]f32 = transpose xs\n"
    "entry doubled [n] (xs: *[n]f32): *[n]f32 = map (* 2) xs\n"
    "entry far [n] (ps: [n]{x: f32, y: f32}): (i64, f32) =\n"
    "  let distances = map (\\p -> f32.hypot p.x p.y) ps\n"
    "  in reduce (\\(i, a) (j, b) -> if b > a then (j, b) else (i, a)) (-1, -1) (zip (iota n) distances)\n";

static void ok(galopvm_status status) {
  if (status == GALOPVM_OK) return;
  fprintf(stderr, "%s\n", galopvm_message());
  exit(1);
}

/* Called when the library needs the memory no more. */
static void release(void *memory) {
  printf("released %zu bytes\n", *(size_t *)memory * sizeof(float));
}

static void scalars(const galopvm_session *session) {
  enum { COUNT = 12 };
  galopvm_value *in[COUNT] = {NULL}, *out[COUNT] = {NULL};
  ok(galopvm_value_i8(-1, &in[0]));
  ok(galopvm_value_i16(-2, &in[1]));
  ok(galopvm_value_i32(-3, &in[2]));
  ok(galopvm_value_i64(-4, &in[3]));
  ok(galopvm_value_u8(1, &in[4]));
  ok(galopvm_value_u16(2, &in[5]));
  ok(galopvm_value_u32(3, &in[6]));
  ok(galopvm_value_u64(4, &in[7]));
  ok(galopvm_value_f16(0x3c00, &in[8])); /* The bits of a half: 1.0. */
  ok(galopvm_value_f32(0.5f, &in[9]));
  ok(galopvm_value_f64(0.25, &in[10]));
  ok(galopvm_value_bool(true, &in[11]));
  ok(galopvm_session_call_giving(session, "scalars", in, COUNT, out, COUNT));
  int8_t a;
  int16_t b;
  int32_t c;
  int64_t d;
  uint8_t e;
  uint16_t f, i;
  uint32_t g;
  uint64_t h;
  float j;
  double k;
  bool l;
  ok(galopvm_value_get_i8(out[0], &a));
  ok(galopvm_value_get_i16(out[1], &b));
  ok(galopvm_value_get_i32(out[2], &c));
  ok(galopvm_value_get_i64(out[3], &d));
  ok(galopvm_value_get_u8(out[4], &e));
  ok(galopvm_value_get_u16(out[5], &f));
  ok(galopvm_value_get_u32(out[6], &g));
  ok(galopvm_value_get_u64(out[7], &h));
  ok(galopvm_value_get_f16(out[8], &i));
  ok(galopvm_value_get_f32(out[9], &j));
  ok(galopvm_value_get_f64(out[10], &k));
  ok(galopvm_value_get_bool(out[11], &l));
  printf("%d %d %d %d, ", a, b, (int)c, (int)d);
  printf("%d %d %d %d, ", e, f, (int)g, (int)h);
  printf("%#x %g %g, %s\n", i, j, k, l ? "true" : "false");
  for (int at = 0; at < COUNT; at++) ok(galopvm_value_free(out[at]));
}

static void arrays(const galopvm_session *session) {
  /* Two rows of three, of which the library takes a copy; the result is a view of it with other strides. */
  const float rows[] = {1, 2, 3, 4, 5, 6};
  const int64_t shape[] = {2, 3};
  galopvm_value *array = NULL, *turned = NULL;
  ok(galopvm_value_array_copy(session, GALOPVM_F32, rows, 2, shape, &array));
  ok(galopvm_session_call(session, "turned", (const galopvm_value *const *)&array, 1, &turned, 1));
  uint32_t type;
  ok(galopvm_value_type(turned, &type));
  const int64_t *extents = galopvm_value_shape(turned), *strides = galopvm_value_strides(turned);
  printf("rank %zu, shape %d %d, strides %d %d, %s\n", galopvm_value_rank(turned), (int)extents[0], (int)extents[1], (int)strides[0],
         (int)strides[1], type == GALOPVM_F32 && !galopvm_value_is_row_major(turned) ? "a view" : "row-major");
  float elements[6];
  ok(galopvm_value_read(turned, elements, sizeof elements));
  ok(galopvm_value_make_row_major(session, turned));
  const float *data = (const float *)galopvm_value_data(turned);
  printf("%g %g .. %g %g\n", elements[0], elements[1], data[4], data[5]);

  /* A row of it shares its memory; a new element makes it another array. */
  const int64_t at[] = {2, 0};
  galopvm_value *row = NULL, *element = NULL, *nine = NULL;
  float first;
  ok(galopvm_value_f32(9, &nine));
  ok(galopvm_value_at(turned, 1, at, &row));
  ok(galopvm_value_set(session, turned, 2, at, nine));
  ok(galopvm_value_at(turned, 2, at, &element));
  ok(galopvm_value_get_f32(element, &first));
  printf("the row had %g, the array has %g\n", ((const float *)galopvm_value_data(row))[0], first);
  galopvm_value *all[] = {array, turned, row, element, nine};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) ok(galopvm_value_free(all[k]));
}

static void memory_of_the_host(const galopvm_session *session) {
  /* Lent memory is looked at where it lies, here every other element and backwards, and never written. */
  static float lent[] = {1, 0, 2, 0, 3}, given[] = {4, 5, 6};
  static size_t count_lent = 5, count_given = 3;
  const int64_t shape[] = {3}, strides[] = {-2};
  galopvm_value *view = NULL, *same = NULL, *doubled = NULL;
  ok(galopvm_value_array_borrow(GALOPVM_F32, &lent[4], 1, shape, strides, release, &count_lent, &view));
  ok(galopvm_value_clone(view, &same));
  ok(galopvm_session_call(session, "doubled", (const galopvm_value *const *)&view, 1, &doubled, 1));
  const float *data = (const float *)galopvm_value_data(doubled);
  printf("lent %s: %g %g %g from %g %g %g\n", galopvm_value_is_borrowed(same) ? "yes" : "no", data[0], data[1], data[2], lent[4], lent[2],
         lent[0]);
  ok(galopvm_value_free(doubled));
  ok(galopvm_value_free(view));
  ok(galopvm_value_free(same)); /* Nobody holds it any more: it is released. */

  /* What is given is the program's: it may write there. */
  galopvm_value *own = NULL;
  ok(galopvm_value_array_give(GALOPVM_F32, given, 1, shape, NULL, release, &count_given, &own));
  ok(galopvm_session_call_giving(session, "doubled", &own, 1, &doubled, 1));
  printf("given: %g\n", ((const float *)galopvm_value_data(doubled))[2]);
  ok(galopvm_value_free(doubled));
}

static void records(const galopvm_session *session) {
  /* Records are groups of their fields in the order of the names; records of one kind stacked are an array of records. */
  const float places[][2] = {{1, 1}, {3, 4}, {2, 0}};
  const int64_t count[] = {3};
  galopvm_value *points[3], *array = NULL, *found = NULL;
  for (int k = 0; k < 3; k++) {
    galopvm_value *fields[2];
    for (int field = 0; field < 2; field++) ok(galopvm_value_f32(places[k][field], &fields[field]));
    ok(galopvm_value_group((const galopvm_value *const *)fields, 2, &points[k]));
    for (int field = 0; field < 2; field++) ok(galopvm_value_free(fields[field]));
  }
  ok(galopvm_value_stack(session, (const galopvm_value *const *)points, 1, count, &array));
  for (int k = 0; k < 3; k++) ok(galopvm_value_free(points[k]));
  printf("%d records of %zu parts\n", (int)galopvm_value_outer_shape(array)[0], galopvm_value_parts(array));

  galopvm_value *results[2], *y = NULL;
  ok(galopvm_session_call(session, "far", (const galopvm_value *const *)&array, 1, results, 2));
  int64_t which;
  float distance;
  ok(galopvm_value_get_i64(results[0], &which));
  ok(galopvm_value_get_f32(results[1], &distance));
  ok(galopvm_value_at(array, 1, &which, &found));
  ok(galopvm_value_part(found, 1, &y));
  float height;
  ok(galopvm_value_get_f32(y, &height));
  printf("number %d is %g away, at height %g\n", (int)which, distance, height);
  galopvm_value *all[] = {results[0], results[1], found, y, array};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) ok(galopvm_value_free(all[k]));
}

int main(void) {
  galopvm_engine *engine = NULL;
  galopvm_program *program = NULL;
  galopvm_session *session = NULL;
  ok(galopvm_engine_new(NULL, &engine));
  ok(galopvm_program_from_source("values.fut", source, strlen(source), &program));
  ok(galopvm_session_new(engine, program, &session));
  scalars(session);
  arrays(session);
  memory_of_the_host(session);
  records(session);
  ok(galopvm_session_free(session));
  ok(galopvm_program_free(program));
  ok(galopvm_engine_free(engine));
  return 0;
}
