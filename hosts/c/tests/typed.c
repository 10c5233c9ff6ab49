/* The typed functions of library.fut, each with what it gives, and what it refuses. Ends with "all as typed". */
#include "library.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "typed.c:%d: %s\n", __LINE__, #condition); \
      exit(1); \
    } \
  } while (0)

static struct futhark_context *ctx;

/* That the last call failed with a message that has these words. */
static void failed_with(const char *words) {
  char *error = futhark_context_get_error(ctx);
  if (error == NULL || strstr(error, words) == NULL) {
    fprintf(stderr, "the error is %s, not one with %s\n", error == NULL ? "none" : error, words);
    exit(1);
  }
  free(error);
  CHECK(futhark_context_get_error(ctx) == NULL);
}

static void arrays(void) {
  const double data[] = {1.0, 2.5, -4.0};
  double found[3] = {0};
  struct futhark_f64_1d *xs = futhark_new_f64_1d(ctx, data, 3), *ys = NULL;
  CHECK(xs != NULL && futhark_shape_f64_1d(ctx, xs)[0] == 3);
  CHECK(futhark_entry_scale(ctx, &ys, 10.0, xs) == FUTHARK_SUCCESS);
  CHECK(futhark_context_sync(ctx) == 0);
  CHECK(futhark_values_f64_1d(ctx, ys, found) == 0 && found[0] == 10 && found[1] == 25 && found[2] == -40);
  double one = 0;
  CHECK(futhark_index_f64_1d(ctx, &one, ys, 1) == 0 && one == 25);
  CHECK(futhark_index_f64_1d(ctx, &one, ys, 3) == FUTHARK_PROGRAM_ERROR && one == 25);
  failed_with("outside");
  CHECK(futhark_index_f64_1d(ctx, &one, ys, -1) != 0);
  failed_with("outside");
  CHECK(((double *)futhark_values_raw_f64_1d(ctx, ys))[2] == -40);
  futhark_free_f64_1d(ctx, xs);
  futhark_free_f64_1d(ctx, ys);
  CHECK(futhark_free_f64_1d(ctx, NULL) == 0);

  const int32_t matrix[] = {1, 2, 3, 4, 5, 6};
  int32_t turned[6];
  struct futhark_i32_2d *a = futhark_new_i32_2d(ctx, matrix, 2, 3), *b = NULL;
  CHECK(futhark_entry_turned(ctx, &b, a) == 0);
  CHECK(futhark_shape_i32_2d(ctx, b)[0] == 3 && futhark_shape_i32_2d(ctx, b)[1] == 2);
  CHECK(futhark_values_i32_2d(ctx, b, turned) == 0);
  int32_t element = 0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 2; j++) {
      CHECK(turned[2 * i + j] == matrix[3 * j + i]);
      CHECK(futhark_index_i32_2d(ctx, &element, b, i, j) == 0 && element == turned[2 * i + j]);
    }
  }
  /* A view of the other array, but raw elements are in row-major order. */
  CHECK(memcmp(futhark_values_raw_i32_2d(ctx, b), turned, sizeof turned) == 0);
  CHECK(futhark_values_i32_2d(ctx, a, turned) == 0 && memcmp(turned, matrix, sizeof matrix) == 0);
  futhark_free_i32_2d(ctx, a);
  futhark_free_i32_2d(ctx, b);

  CHECK(futhark_new_f64_1d(ctx, data, -1) == NULL);
  failed_with("-1");
  CHECK(futhark_values_f64_1d(ctx, NULL, found) != 0);
  failed_with("NULL");
}

static void consumption(void) {
  int32_t data[] = {1, 2, 3}, found[3];
  struct futhark_i32_1d *xs = futhark_new_i32_1d(ctx, data, 3), *ys = NULL;
  CHECK(futhark_entry_changed(ctx, &ys, xs, 9) == 0);
  CHECK(futhark_values_i32_1d(ctx, ys, found) == 0 && found[0] == 9 && found[1] == 2);
  /* What was consumed can only be freed. */
  CHECK(futhark_values_i32_1d(ctx, xs, found) != 0);
  failed_with("NULL");
  struct futhark_i32_1d *none = NULL;
  CHECK(futhark_entry_changed(ctx, &none, xs, 9) != 0 && none == NULL);
  failed_with("consumed");
  futhark_free_i32_1d(ctx, xs);
  futhark_free_i32_1d(ctx, ys);

  /* What the host keeps is not written, though it is consumed. */
  xs = futhark_new_raw_i32_1d(ctx, (unsigned char *)data, 3);
  CHECK(futhark_entry_changed(ctx, &ys, xs, 9) == 0);
  CHECK(futhark_values_i32_1d(ctx, ys, found) == 0 && found[0] == 9 && data[0] == 1);
  futhark_free_i32_1d(ctx, xs);
  futhark_free_i32_1d(ctx, ys);

  int32_t out = 7;
  xs = futhark_new_i32_1d(ctx, data, 3);
  CHECK(futhark_entry_at(ctx, &out, xs, 5) == FUTHARK_PROGRAM_ERROR && out == 7);
  failed_with("out of bounds");
  CHECK(futhark_entry_at(ctx, &out, xs, 1) == 0 && out == 2);
  futhark_free_i32_1d(ctx, xs);
}

static void records(void) {
  struct futhark_opaque_point *p = NULL, *q = NULL;
  double x = 0, y = 0;
  CHECK(futhark_new_opaque_point(ctx, &p, 1.5, 2.0) == 0);
  CHECK(futhark_entry_moved(ctx, &q, p, 1.0) == 0);
  CHECK(futhark_project_opaque_point_x(ctx, &x, q) == 0 && x == 2.5);
  CHECK(futhark_project_opaque_point_y(ctx, &y, q) == 0 && y == 1.0);

  const float data[] = {1, 2};
  float found[2];
  struct futhark_f32_1d *xs = futhark_new_f32_1d(ctx, data, 2), *ys = NULL;
  struct futhark_opaque_tup2_i32_arr1d_f32 *pair = NULL, *again = NULL;
  int32_t number = 0;
  CHECK(futhark_entry_both(ctx, &pair, 4, xs) == 0);
  CHECK(futhark_project_opaque_tup2_i32_arr1d_f32_0(ctx, &number, pair) == 0 && number == 5);
  CHECK(futhark_project_opaque_tup2_i32_arr1d_f32_1(ctx, &ys, pair) == 0);
  CHECK(futhark_values_f32_1d(ctx, ys, found) == 0 && found[0] == 2 && found[1] == 4);
  CHECK(futhark_new_opaque_tup2_i32_arr1d_f32(ctx, &again, 8, ys) == 0);
  futhark_free_f32_1d(ctx, ys);

  /* As bytes, and back: into memory of the library, and of the host. */
  void *bytes = NULL;
  size_t count = 0, same = 0;
  CHECK(futhark_store_opaque_tup2_i32_arr1d_f32(ctx, again, NULL, &count) == 0 && count > 0);
  CHECK(futhark_store_opaque_tup2_i32_arr1d_f32(ctx, again, &bytes, &same) == 0 && same == count);
  void *own = malloc(count);
  CHECK(futhark_store_opaque_tup2_i32_arr1d_f32(ctx, again, &own, &same) == 0 && memcmp(own, bytes, count) == 0);
  struct futhark_opaque_tup2_i32_arr1d_f32 *restored = futhark_restore_opaque_tup2_i32_arr1d_f32(ctx, bytes);
  CHECK(restored != NULL);
  CHECK(futhark_project_opaque_tup2_i32_arr1d_f32_0(ctx, &number, restored) == 0 && number == 8);
  CHECK(futhark_project_opaque_tup2_i32_arr1d_f32_1(ctx, &ys, restored) == 0);
  CHECK(futhark_values_f32_1d(ctx, ys, found) == 0 && found[0] == 2 && found[1] == 4);
  CHECK(futhark_restore_opaque_point(ctx, bytes) == NULL);
  failed_with("another type");
  CHECK(futhark_restore_opaque_point(ctx, "nothing of the kind") == NULL);
  failed_with("no value");
  free(bytes);
  free(own);

  futhark_free_f32_1d(ctx, xs);
  futhark_free_f32_1d(ctx, ys);
  futhark_free_opaque_point(ctx, p);
  futhark_free_opaque_point(ctx, q);
  futhark_free_opaque_tup2_i32_arr1d_f32(ctx, pair);
  futhark_free_opaque_tup2_i32_arr1d_f32(ctx, again);
  futhark_free_opaque_tup2_i32_arr1d_f32(ctx, restored);
}

static void arrays_of_records(void) {
  const double xs[] = {1, 2, 3}, ys[] = {4, 5, 6};
  double found[3], x = 0;
  struct futhark_f64_1d *a = futhark_new_f64_1d(ctx, xs, 3), *b = futhark_new_f64_1d(ctx, ys, 3), *c = NULL;
  struct futhark_f64_1d *shorter = futhark_new_f64_1d(ctx, xs, 2);
  struct futhark_opaque_arr1d_point *ps = NULL, *rs = NULL;
  CHECK(futhark_zip_opaque_arr1d_point(ctx, &ps, a, shorter) != 0 && ps == NULL);
  failed_with("extents");
  CHECK(futhark_zip_opaque_arr1d_point(ctx, &ps, a, b) == 0);
  CHECK(futhark_shape_opaque_arr1d_point(ctx, ps)[0] == 3);
  CHECK(futhark_entry_backwards(ctx, &rs, ps) == 0);
  CHECK(futhark_project_opaque_arr1d_point_y(ctx, &c, rs) == 0);
  CHECK(futhark_values_f64_1d(ctx, c, found) == 0 && found[0] == 6 && found[2] == 4);
  struct futhark_opaque_point *p = NULL;
  CHECK(futhark_index_opaque_arr1d_point(ctx, &p, rs, 1) == 0);
  CHECK(futhark_project_opaque_point_x(ctx, &x, p) == 0 && x == 2);
  struct futhark_opaque_point *outside = NULL;
  CHECK(futhark_index_opaque_arr1d_point(ctx, &outside, rs, 3) != 0 && outside == NULL);
  failed_with("outside");
  /* An element is changed, and nothing that was taken from the array before, or that it was made of. */
  CHECK(futhark_set_opaque_arr1d_point(ctx, rs, p, 0) == 0);
  CHECK(futhark_set_opaque_arr1d_point(ctx, rs, p, 7) != 0);
  failed_with("outside");
  CHECK(futhark_values_f64_1d(ctx, c, found) == 0 && found[0] == 6);
  futhark_free_f64_1d(ctx, c);
  CHECK(futhark_project_opaque_arr1d_point_y(ctx, &c, rs) == 0);
  CHECK(futhark_values_f64_1d(ctx, c, found) == 0 && found[0] == 5 && found[1] == 5 && found[2] == 4);
  CHECK(futhark_values_f64_1d(ctx, b, found) == 0 && found[0] == 4 && found[2] == 6);

  struct futhark_opaque_point *elements[] = {p, p};
  struct futhark_opaque_arr1d_point *two = NULL, *none = NULL;
  CHECK(futhark_new_opaque_arr1d_point(ctx, &two, elements, 2) == 0 && futhark_shape_opaque_arr1d_point(ctx, two)[0] == 2);
  CHECK(futhark_new_opaque_arr1d_point(ctx, &none, elements, 0) == 0 && futhark_shape_opaque_arr1d_point(ctx, none)[0] == 0);

  /* Elements that have less than the array. */
  struct futhark_opaque_arr1d_tup2_tup0_i32 *units = NULL;
  struct futhark_opaque_tup2_tup0_i32 *unit = NULL;
  struct futhark_opaque_tup0 *nothing = NULL;
  int32_t number = 0;
  CHECK(futhark_entry_units(ctx, &units, 3) == 0);
  CHECK(futhark_index_opaque_arr1d_tup2_tup0_i32(ctx, &unit, units, 2) == 0);
  CHECK(futhark_project_opaque_tup2_tup0_i32_1(ctx, &number, unit) == 0 && number == 2);
  CHECK(futhark_set_opaque_arr1d_tup2_tup0_i32(ctx, units, unit, 0) == 0);
  CHECK(futhark_project_opaque_tup2_tup0_i32_0(ctx, &nothing, unit) == 0);
  futhark_free_opaque_tup0(ctx, nothing);
  CHECK(futhark_entry_nothing(ctx, &nothing, 1) == 0);

  futhark_free_opaque_tup0(ctx, nothing);
  futhark_free_opaque_tup2_tup0_i32(ctx, unit);
  futhark_free_opaque_arr1d_tup2_tup0_i32(ctx, units);
  futhark_free_f64_1d(ctx, a);
  futhark_free_f64_1d(ctx, b);
  futhark_free_f64_1d(ctx, c);
  futhark_free_f64_1d(ctx, shorter);
  futhark_free_opaque_point(ctx, p);
  futhark_free_opaque_arr1d_point(ctx, ps);
  futhark_free_opaque_arr1d_point(ctx, rs);
  futhark_free_opaque_arr1d_point(ctx, two);
  futhark_free_opaque_arr1d_point(ctx, none);
}

static void sums(void) {
  struct futhark_opaque_shape *circle = NULL, *path = NULL, *none = NULL, *rect = NULL;
  struct futhark_opaque_point *p = NULL, *q = NULL;
  double area = 0, r = 0;
  CHECK(futhark_new_opaque_shape_circle(ctx, &circle, 3.0) == 0);
  CHECK(futhark_entry_area(ctx, &area, circle) == 0 && area == 9);
  CHECK(futhark_new_opaque_point(ctx, &p, 2.0, 5.0) == 0);
  CHECK(futhark_new_opaque_shape_rect(ctx, &rect, p) == 0);
  CHECK(futhark_entry_area(ctx, &area, rect) == 0 && area == 10);
  CHECK(futhark_new_opaque_shape_none(ctx, &none) == 0);
  CHECK(futhark_entry_area(ctx, &area, none) == 0 && area == 0);
  CHECK(futhark_entry_path(ctx, &path, 4) == 0);
  CHECK(futhark_entry_area(ctx, &area, path) == 0 && area == 13);
  CHECK(futhark_variant_opaque_shape(ctx, circle) != futhark_variant_opaque_shape(ctx, path));

  CHECK(futhark_destruct_opaque_shape_circle(ctx, &r, circle) == 0 && r == 3);
  CHECK(futhark_destruct_opaque_shape_circle(ctx, &r, path) != 0 && r == 3);
  failed_with("constructor");
  CHECK(futhark_destruct_opaque_shape_none(ctx, none) == 0);
  CHECK(futhark_destruct_opaque_shape_rect(ctx, &q, rect) == 0);
  CHECK(futhark_project_opaque_point_y(ctx, &r, q) == 0 && r == 5);
  struct futhark_opaque_arr1d_point *ps = NULL;
  int32_t k = 0;
  CHECK(futhark_destruct_opaque_shape_path(ctx, &ps, &k, path) == 0 && k == 7);
  CHECK(futhark_shape_opaque_arr1d_point(ctx, ps)[0] == 4);
  struct futhark_opaque_shape *again = NULL;
  CHECK(futhark_new_opaque_shape_path(ctx, &again, ps, 8) == 0);
  CHECK(futhark_entry_area(ctx, &area, again) == 0 && area == 14);

  struct futhark_opaque_sum_no_yes_arr1d_f32 *tagged = NULL;
  struct futhark_f32_1d *three = NULL;
  CHECK(futhark_entry_tagged(ctx, &tagged, true) == 0);
  CHECK(futhark_destruct_opaque_sum_no_yes_arr1d_f32_yes(ctx, &three, tagged) == 0);
  CHECK(futhark_shape_f32_1d(ctx, three)[0] == 3);

  futhark_free_f32_1d(ctx, three);
  futhark_free_opaque_sum_no_yes_arr1d_f32(ctx, tagged);
  futhark_free_opaque_arr1d_point(ctx, ps);
  futhark_free_opaque_point(ctx, p);
  futhark_free_opaque_point(ctx, q);
  futhark_free_opaque_shape(ctx, circle);
  futhark_free_opaque_shape(ctx, path);
  futhark_free_opaque_shape(ctx, none);
  futhark_free_opaque_shape(ctx, rect);
  futhark_free_opaque_shape(ctx, again);
}

#define ALL(function) futhark_##function##_opaque_tup10_i8_i16_i64_u8_u16_u32_u64_f16_f32_bool

static void scalars(void) {
  struct futhark_opaque_tup10_i8_i16_i64_u8_u16_u32_u64_f16_f32_bool *all = NULL;
  CHECK(futhark_entry_all(ctx, &all, -1, -2, -3, 4, 5, 6, UINT64_MAX, 0x3c00, 0.5f, true) == 0);
  void *bytes = NULL;
  size_t count = 0;
  CHECK(ALL(store)(ctx, all, &bytes, &count) == 0);
  futhark_free_opaque_tup10_i8_i16_i64_u8_u16_u32_u64_f16_f32_bool(ctx, all);
  all = ALL(restore)(ctx, bytes);
  free(bytes);
  int8_t a; int16_t b; int64_t c; uint8_t d; uint16_t e, h; uint32_t f; uint64_t g; float i; bool j;
  CHECK(futhark_project_opaque_tup10_i8_i16_i64_u8_u16_u32_u64_f16_f32_bool_0(ctx, &a, all) == 0 && a == -1);
  CHECK(futhark_project_opaque_tup10_i8_i16_i64_u8_u16_u32_u64_f16_f32_bool_1(ctx, &b, all) == 0 && b == -2);
  CHECK(futhark_project_opaque_tup10_i8_i16_i64_u8_u16_u32_u64_f16_f32_bool_2(ctx, &c, all) == 0 && c == -3);
  CHECK(futhark_project_opaque_tup10_i8_i16_i64_u8_u16_u32_u64_f16_f32_bool_3(ctx, &d, all) == 0 && d == 4);
  CHECK(futhark_project_opaque_tup10_i8_i16_i64_u8_u16_u32_u64_f16_f32_bool_4(ctx, &e, all) == 0 && e == 5);
  CHECK(futhark_project_opaque_tup10_i8_i16_i64_u8_u16_u32_u64_f16_f32_bool_5(ctx, &f, all) == 0 && f == 6);
  CHECK(futhark_project_opaque_tup10_i8_i16_i64_u8_u16_u32_u64_f16_f32_bool_6(ctx, &g, all) == 0 && g == UINT64_MAX);
  CHECK(futhark_project_opaque_tup10_i8_i16_i64_u8_u16_u32_u64_f16_f32_bool_7(ctx, &h, all) == 0 && h == 0x3c00);
  CHECK(futhark_project_opaque_tup10_i8_i16_i64_u8_u16_u32_u64_f16_f32_bool_8(ctx, &i, all) == 0 && i == 0.5f);
  CHECK(futhark_project_opaque_tup10_i8_i16_i64_u8_u16_u32_u64_f16_f32_bool_9(ctx, &j, all) == 0 && j);
  futhark_free_opaque_tup10_i8_i16_i64_u8_u16_u32_u64_f16_f32_bool(ctx, all);
  int32_t same = 0;
  CHECK(futhark_entry_xzq(ctx, &same, 12) == 0 && same == 12);
}

/* Calls of several threads in one context come one after the other. */
static void *calls(void *number) {
  const double data[] = {1, 2, 3};
  double found[3];
  for (int k = 0; k < 200; k++) {
    struct futhark_f64_1d *xs = futhark_new_f64_1d(ctx, data, 3), *ys = NULL;
    CHECK(futhark_entry_scale(ctx, &ys, *(int *)number, xs) == 0);
    CHECK(futhark_values_f64_1d(ctx, ys, found) == 0 && found[2] == 3 * *(int *)number);
    futhark_free_f64_1d(ctx, xs);
    futhark_free_f64_1d(ctx, ys);
  }
  return NULL;
}

int main(void) {
  struct futhark_context_config *config = futhark_context_config_new();
  CHECK(futhark_get_tuning_param_count() == 1 && strcmp(futhark_get_tuning_param_name(0), "step") == 0);
  CHECK(futhark_get_tuning_param_name(1) == NULL && futhark_get_tuning_param_class(0) != NULL);
  CHECK(futhark_context_config_set_tuning_param(config, "step", 3) == 0);
  CHECK(futhark_context_config_set_tuning_param(config, "step", 4) == 0);
  CHECK(futhark_context_config_set_tuning_param(config, "leap", 4) != 0);
  futhark_context_config_set_num_threads(config, 2);
  futhark_context_config_set_profiling(config, 1);
  futhark_context_config_set_cache_file(config, NULL);
  ctx = futhark_context_new(config);
  CHECK(futhark_context_get_error(ctx) == NULL);

  arrays();
  consumption();
  records();
  arrays_of_records();
  sums();
  scalars();

  int64_t tuned = 0;
  CHECK(futhark_entry_tuned(ctx, &tuned, 1) == 0 && tuned == 5);
  CHECK(futhark_context_clear_caches(ctx) == 0);
  CHECK(futhark_entry_tuned(ctx, &tuned, 1) == 0 && tuned == 5);

  pthread_t threads[4];
  int numbers[] = {1, 2, 3, 4};
  for (int k = 0; k < 4; k++) {
    CHECK(pthread_create(&threads[k], NULL, calls, &numbers[k]) == 0);
  }
  for (int k = 0; k < 4; k++) {
    CHECK(pthread_join(threads[k], NULL) == 0);
  }

  futhark_context_pause_profiling(ctx);
  CHECK(futhark_entry_tuned(ctx, &tuned, 1) == 0);
  futhark_context_unpause_profiling(ctx);
  char *report = futhark_context_report(ctx);
  CHECK(report != NULL && strstr(report, "{\"name\":\"scale\",") != NULL && strstr(report, "\"default space\":") != NULL);
  free(report);

  FILE *log = tmpfile();
  futhark_context_config_set_logging(config, 1);
  futhark_context_set_logging_file(ctx, log);
  CHECK(futhark_entry_tuned(ctx, &tuned, 1) == 0);
  char line[64] = "";
  rewind(log);
  CHECK(fgets(line, sizeof line, log) != NULL && strstr(line, "galopvm: tuned: ") == line);
  fclose(log);

  futhark_context_free(ctx);
  futhark_context_config_free(config);
  puts("all as typed");
  return 0;
}
