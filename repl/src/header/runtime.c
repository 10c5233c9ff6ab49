/* What all functions below are made of. A handle is a pointer to a cell that holds the library's value; of a value that an
 * entry point consumed the cell is empty, and can only be freed. */

/* Not every program uses all of them. */
#if defined(__GNUC__)
#define GV_MAYBE __attribute__((unused))
#else
#define GV_MAYBE
#endif

/* What a host says of a tuning parameter. */
struct gv_param {
  bool is_set;
  int64_t value;
};

/* An element type of galopvm.h, and a number of dimensions. */
struct gv_part {
  uint32_t elem;
  uint32_t rank;
};

struct futhark_context_config {
  size_t threads;
  int logging;
  int profiling;
  /* In the order of gv_params. */
  struct gv_param params[sizeof gv_params / sizeof gv_params[0]];
};

struct gv_event {
  const char *entry;
  double microseconds;
};

struct futhark_context {
  struct futhark_context_config *config;
  galopvm_engine *engine;
  galopvm_program *program;
  /* Whose memory the values of the host lie in; it takes no calls. */
  galopvm_session *values;
  /* What takes the calls; NULL if the next one is to begin with a new one. */
  galopvm_session *session;
  /* Held while the session, the events or the log are used. */
  pthread_mutex_t calls;
  /* Held while the error is used. */
  pthread_mutex_t errors;
  char *error;
  FILE *log;
  int paused;
  struct gv_event *events;
  size_t event_count;
  size_t event_room;
};

/* Remembers an error for futhark_context_get_error. */
GV_MAYBE static int gv_wrong(struct futhark_context *ctx, int code, const char *text) {
  char *copy = (char *)malloc(strlen(text) + 1);
  if (copy != NULL) {
    strcpy(copy, text);
  }
  pthread_mutex_lock(&ctx->errors);
  free(ctx->error);
  ctx->error = copy;
  pthread_mutex_unlock(&ctx->errors);
  return code;
}

GV_MAYBE static int gv_failed(struct futhark_context *ctx, galopvm_status status) {
  switch (status) {
    case GALOPVM_OK:
      return FUTHARK_SUCCESS;
    case GALOPVM_ARGUMENT:
    case GALOPVM_TYPE:
    case GALOPVM_PROGRAM:
      return gv_wrong(ctx, FUTHARK_PROGRAM_ERROR, galopvm_message());
    case GALOPVM_MEMORY:
      return gv_wrong(ctx, FUTHARK_OUT_OF_MEMORY, galopvm_message());
    default:
      return gv_wrong(ctx, 1, galopvm_message());
  }
}

GV_MAYBE static int gv_no_memory(struct futhark_context *ctx) {
  return gv_wrong(ctx, FUTHARK_OUT_OF_MEMORY, "There is no memory.");
}

GV_MAYBE static int gv_misuse(struct futhark_context *ctx, const char *text) {
  return gv_wrong(ctx, FUTHARK_PROGRAM_ERROR, text);
}

GV_MAYBE static galopvm_value *gv_of(const void *handle) {
  return handle == NULL ? NULL : *(galopvm_value *const *)handle;
}

/* A handle for a value, which is freed if there is none. */
GV_MAYBE static void *gv_keep(struct futhark_context *ctx, galopvm_value *value) {
  galopvm_value **cell = (galopvm_value **)malloc(sizeof *cell);
  if (cell == NULL) {
    galopvm_value_free(value);
    gv_no_memory(ctx);
    return NULL;
  }
  *cell = value;
  return cell;
}

GV_MAYBE static int gv_free(void *handle) {
  if (handle != NULL) {
    galopvm_value_free(gv_of(handle));
    free(handle);
  }
  return FUTHARK_SUCCESS;
}

GV_MAYBE static void gv_free_all(galopvm_value **values, size_t count) {
  for (size_t k = 0; k < count; k++) {
    galopvm_value_free(values[k]);
  }
}

/* That there is a value, for what looks at none of its parts. */
GV_MAYBE static int gv_given(struct futhark_context *ctx, const void *handle) {
  return gv_of(handle) != NULL ? FUTHARK_SUCCESS : gv_misuse(ctx, "An argument is NULL, or was consumed by an earlier call.");
}

/* Takes the value out of a handle whose parameter is consumed. */
GV_MAYBE static int gv_take(struct futhark_context *ctx, const void *handle, galopvm_value **out) {
  const int failed = gv_given(ctx, handle);
  if (!failed) {
    *out = gv_of(handle);
    *(galopvm_value **)handle = NULL;
  }
  return failed;
}

GV_MAYBE static int gv_share(struct futhark_context *ctx, const void *handle, galopvm_value **out) {
  const int failed = gv_given(ctx, handle);
  return failed ? failed : gv_failed(ctx, galopvm_value_clone(gv_of(handle), out));
}

/* -- Contexts -- */

GV_MAYBE static int gv_begin_session(struct futhark_context *ctx) {
  int failed = gv_failed(ctx, galopvm_session_new(ctx->engine, ctx->program, &ctx->session));
  for (size_t k = 0; !failed && gv_params[k] != NULL; k++) {
    const struct gv_param *param = &ctx->config->params[k];
    if (param->is_set) {
      failed = gv_failed(ctx, galopvm_session_set_param(ctx->session, gv_params[k], param->value));
    }
  }
  return failed;
}

GV_MAYBE static int gv_begin(struct futhark_context *ctx) {
  galopvm_options *options = NULL;
  int failed = gv_failed(ctx, galopvm_options_new(&options));
  if (!failed) {
    failed = gv_failed(ctx, galopvm_options_set_threads(options, ctx->config->threads));
  }
  if (!failed) {
    failed = gv_failed(ctx, galopvm_engine_new(options, &ctx->engine));
  }
  galopvm_options_free(options);
  if (!failed) {
    failed = gv_failed(ctx, galopvm_program_from_bytecode(gv_name, gv_bytecode, sizeof gv_bytecode, &ctx->program));
  }
  if (!failed) {
    failed = gv_failed(ctx, galopvm_session_new(ctx->engine, ctx->program, &ctx->values));
  }
  return failed ? failed : gv_begin_session(ctx);
}

GV_MAYBE static double gv_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

GV_MAYBE static void gv_record(struct futhark_context *ctx, const char *entry, double microseconds) {
  if (ctx->config->logging) {
    fprintf(ctx->log, "galopvm: %s: %.0f us\n", entry, microseconds);
  }
  if (!ctx->config->profiling || ctx->paused) {
    return;
  }
  if (ctx->event_count == ctx->event_room) {
    const size_t room = ctx->event_room == 0 ? 64 : 2 * ctx->event_room;
    struct gv_event *events = (struct gv_event *)realloc(ctx->events, room * sizeof *events);
    if (events == NULL) {
      return;
    }
    ctx->events = events;
    ctx->event_room = room;
  }
  ctx->events[ctx->event_count].entry = entry;
  ctx->events[ctx->event_count].microseconds = microseconds;
  ctx->event_count++;
}

/* Calls an entry point with arguments that are given up. Its results become one value. */
GV_MAYBE static int gv_call(struct futhark_context *ctx, const char *entry, galopvm_value **in, size_t taken, galopvm_value **parts, size_t given, galopvm_value **out) {
  pthread_mutex_lock(&ctx->calls);
  int failed = ctx->session == NULL ? gv_begin_session(ctx) : FUTHARK_SUCCESS;
  if (!failed) {
    const double start = gv_now();
    const galopvm_status status = galopvm_session_call_giving(ctx->session, entry, in, taken, parts, given);
    gv_record(ctx, entry, gv_now() - start);
    failed = gv_failed(ctx, status);
    if (status == GALOPVM_INTERNAL) {
      /* It takes no more calls; values are whole. */
      galopvm_session_free(ctx->session);
      ctx->session = NULL;
    }
  }
  pthread_mutex_unlock(&ctx->calls);
  if (failed) {
    return failed;
  }
  if (given == 1) {
    *out = parts[0];
    return FUTHARK_SUCCESS;
  }
  failed = gv_failed(ctx, galopvm_value_group((const galopvm_value *const *)parts, given, out));
  gv_free_all(parts, given);
  return failed;
}

/* -- Arrays -- */

GV_MAYBE static void *gv_new_array(struct futhark_context *ctx, uint32_t elem, const void *data, size_t rank, const int64_t *shape) {
  galopvm_value *value = NULL;
  if (gv_failed(ctx, galopvm_value_array_copy(ctx->values, elem, data, rank, shape, &value))) {
    return NULL;
  }
  return gv_keep(ctx, value);
}

GV_MAYBE static void *gv_lend_array(struct futhark_context *ctx, uint32_t elem, const void *data, size_t rank, const int64_t *shape) {
  galopvm_value *value = NULL;
  if (gv_failed(ctx, galopvm_value_array_borrow(elem, data, rank, shape, NULL, NULL, NULL, &value))) {
    return NULL;
  }
  return gv_keep(ctx, value);
}

GV_MAYBE static size_t gv_bytes(const galopvm_value *array, size_t width) {
  size_t bytes = width;
  for (size_t k = 0; k < galopvm_value_rank(array); k++) {
    bytes *= (size_t)galopvm_value_shape(array)[k];
  }
  return bytes;
}

GV_MAYBE static int gv_read_array(struct futhark_context *ctx, const void *handle, void *data, size_t width) {
  const galopvm_value *array = gv_of(handle);
  return gv_failed(ctx, galopvm_value_read(array, data, gv_bytes(array, width)));
}

GV_MAYBE static int gv_read_element(struct futhark_context *ctx, const void *handle, void *out, size_t width, size_t rank, const int64_t *index) {
  const galopvm_value *array = gv_of(handle);
  const char *element = (const char *)galopvm_value_data(array);
  if (galopvm_value_rank(array) != rank || element == NULL) {
    return gv_misuse(ctx, "The array is NULL, was consumed by an earlier call, or has no elements.");
  }
  for (size_t k = 0; k < rank; k++) {
    if (index[k] < 0 || index[k] >= galopvm_value_shape(array)[k]) {
      return gv_misuse(ctx, "The index is outside of the array.");
    }
    element += index[k] * galopvm_value_strides(array)[k] * (int64_t)width;
  }
  memcpy(out, element, width);
  return FUTHARK_SUCCESS;
}

/* The elements in row-major order, where they stay as long as the handle. */
GV_MAYBE static unsigned char *gv_raw(struct futhark_context *ctx, const void *handle) {
  if (gv_failed(ctx, galopvm_value_make_row_major(ctx->values, gv_of(handle)))) {
    return NULL;
  }
  return (unsigned char *)galopvm_value_data(gv_of(handle));
}

/* -- Values of several parts -- */

/* Some parts of a value as one. */
GV_MAYBE static int gv_pick(struct futhark_context *ctx, const galopvm_value *value, size_t count, const size_t *numbers, galopvm_value **out) {
  galopvm_value **parts = (galopvm_value **)calloc(count + 1, sizeof *parts);
  if (parts == NULL) {
    return gv_no_memory(ctx);
  }
  int failed = FUTHARK_SUCCESS;
  for (size_t k = 0; !failed && k < count; k++) {
    failed = gv_failed(ctx, galopvm_value_part(value, numbers[k], &parts[k]));
  }
  if (!failed) {
    failed = gv_failed(ctx, galopvm_value_group((const galopvm_value *const *)parts, count, out));
  }
  gv_free_all(parts, count);
  free(parts);
  return failed;
}

GV_MAYBE static int gv_pick_handle(struct futhark_context *ctx, const void *handle, size_t count, const size_t *numbers, void **out) {
  galopvm_value *value = NULL;
  int failed = gv_pick(ctx, gv_of(handle), count, numbers, &value);
  if (!failed) {
    *out = gv_keep(ctx, value);
    failed = *out == NULL;
  }
  return failed;
}

/* Parts that are given up, as one value. */
GV_MAYBE static int gv_join(struct futhark_context *ctx, galopvm_value **parts, size_t count, int failed, void **out) {
  galopvm_value *value = NULL;
  if (!failed) {
    failed = gv_failed(ctx, galopvm_value_group((const galopvm_value *const *)parts, count, &value));
  }
  gv_free_all(parts, count);
  if (!failed) {
    *out = gv_keep(ctx, value);
    failed = *out == NULL;
  }
  return failed;
}

GV_MAYBE static size_t gv_width(uint32_t elem) {
  switch (elem) {
    case GALOPVM_I8:
    case GALOPVM_U8:
    case GALOPVM_BOOL:
      return 1;
    case GALOPVM_I16:
    case GALOPVM_U16:
    case GALOPVM_F16:
      return 2;
    case GALOPVM_I64:
    case GALOPVM_U64:
    case GALOPVM_F64:
      return 8;
    default:
      return 4;
  }
}

/* An array of zeros. */
GV_MAYBE static int gv_zeros(struct futhark_context *ctx, uint32_t elem, size_t rank, const int64_t *shape, galopvm_value **out) {
  size_t bytes = gv_width(elem);
  for (size_t k = 0; k < rank; k++) {
    bytes *= (size_t)shape[k];
  }
  void *zeros = calloc(bytes + 1, 1);
  if (zeros == NULL) {
    return gv_no_memory(ctx);
  }
  int failed = gv_failed(ctx, galopvm_value_array_copy(ctx->values, elem, zeros, rank, shape, out));
  free(zeros);
  return failed;
}

/* A scalar from its bits. */
GV_MAYBE static galopvm_status gv_scalar(uint32_t elem, const void *bits, galopvm_value **out) {
  union {
    int8_t i8; int16_t i16; int32_t i32; int64_t i64;
    uint8_t u8; uint16_t u16; uint32_t u32; uint64_t u64;
    float f32; double f64; bool truth;
  } number;
  memcpy(&number, bits, gv_width(elem));
  switch (elem) {
    case GALOPVM_I8: return galopvm_value_i8(number.i8, out);
    case GALOPVM_I16: return galopvm_value_i16(number.i16, out);
    case GALOPVM_I32: return galopvm_value_i32(number.i32, out);
    case GALOPVM_I64: return galopvm_value_i64(number.i64, out);
    case GALOPVM_U8: return galopvm_value_u8(number.u8, out);
    case GALOPVM_U16: return galopvm_value_u16(number.u16, out);
    case GALOPVM_U32: return galopvm_value_u32(number.u32, out);
    case GALOPVM_U64: return galopvm_value_u64(number.u64, out);
    case GALOPVM_F16: return galopvm_value_f16(number.u16, out);
    case GALOPVM_F32: return galopvm_value_f32(number.f32, out);
    case GALOPVM_F64: return galopvm_value_f64(number.f64, out);
    default: return galopvm_value_bool(number.u8 != 0, out);
  }
}

/* The bits of a scalar. */
GV_MAYBE static galopvm_status gv_bits(uint32_t elem, const galopvm_value *value, void *out) {
  switch (elem) {
    case GALOPVM_I8: return galopvm_value_get_i8(value, (int8_t *)out);
    case GALOPVM_I16: return galopvm_value_get_i16(value, (int16_t *)out);
    case GALOPVM_I32: return galopvm_value_get_i32(value, (int32_t *)out);
    case GALOPVM_I64: return galopvm_value_get_i64(value, (int64_t *)out);
    case GALOPVM_U8: return galopvm_value_get_u8(value, (uint8_t *)out);
    case GALOPVM_U16: return galopvm_value_get_u16(value, (uint16_t *)out);
    case GALOPVM_U32: return galopvm_value_get_u32(value, (uint32_t *)out);
    case GALOPVM_U64: return galopvm_value_get_u64(value, (uint64_t *)out);
    case GALOPVM_F16: return galopvm_value_get_f16(value, (uint16_t *)out);
    case GALOPVM_F32: return galopvm_value_get_f32(value, (float *)out);
    case GALOPVM_F64: return galopvm_value_get_f64(value, (double *)out);
    default: return galopvm_value_get_bool(value, (bool *)out);
  }
}

/* The scalar that a part of a value is. */
GV_MAYBE static int gv_part_bits(struct futhark_context *ctx, const void *handle, size_t number, uint32_t elem, void *out) {
  galopvm_value *part = NULL;
  int failed = gv_failed(ctx, galopvm_value_part(gv_of(handle), number, &part));
  if (!failed) {
    failed = gv_failed(ctx, gv_bits(elem, part, out));
  }
  galopvm_value_free(part);
  return failed;
}

/* -- Arrays of values of several parts -- */

/* The extents of an array of whatever elements; they live as long as the handle. */
GV_MAYBE static const int64_t *gv_outer_shape(const void *handle) {
  return galopvm_value_outer_shape(gv_of(handle));
}

/* Elements of some types have no value where arrays of them have truth values: fills these in. */
GV_MAYBE static int gv_filled(struct futhark_context *ctx, const galopvm_value *element, size_t count, const bool *is_there, galopvm_value **out) {
  galopvm_value **parts = (galopvm_value **)calloc(count + 1, sizeof *parts);
  if (parts == NULL) {
    return gv_no_memory(ctx);
  }
  int failed = FUTHARK_SUCCESS;
  size_t next = 0;
  for (size_t k = 0; !failed && k < count; k++) {
    failed = gv_failed(ctx, is_there[k] ? galopvm_value_part(element, next++, &parts[k]) : galopvm_value_bool(false, &parts[k]));
  }
  if (!failed) {
    failed = gv_failed(ctx, galopvm_value_group((const galopvm_value *const *)parts, count, out));
  }
  gv_free_all(parts, count);
  free(parts);
  return failed;
}

/* The element at an index; `there` are the numbers of its parts among those of the array. */
GV_MAYBE static int gv_element(struct futhark_context *ctx, const void *handle, size_t rank, const int64_t *index, size_t count, const size_t *there, void **out) {
  galopvm_value *all = NULL, *element = NULL;
  int failed = gv_failed(ctx, galopvm_value_at(gv_of(handle), rank, index, &all));
  if (!failed) {
    failed = gv_pick(ctx, all, count, there, &element);
  }
  galopvm_value_free(all);
  if (!failed) {
    *out = gv_keep(ctx, element);
    failed = *out == NULL;
  }
  return failed;
}

GV_MAYBE static int gv_put_element(struct futhark_context *ctx, void *handle, const void *element, size_t rank, const int64_t *index, size_t count, const bool *is_there) {
  galopvm_value *filled = NULL;
  int failed = gv_filled(ctx, gv_of(element), count, is_there, &filled);
  if (!failed) {
    failed = gv_failed(ctx, galopvm_value_set(ctx->values, gv_of(handle), rank, index, filled));
  }
  galopvm_value_free(filled);
  return failed;
}

/* An array of elements in row-major order. */
GV_MAYBE static int gv_new_rows(struct futhark_context *ctx, const void *const *elements, size_t rank, const int64_t *shape, size_t count, const bool *is_there, const struct gv_part *parts, void **out) {
  size_t all = 1;
  for (size_t k = 0; k < rank; k++) {
    if (shape[k] < 0) {
      return gv_misuse(ctx, "An extent is negative.");
    }
    all *= (size_t)shape[k];
  }
  galopvm_value **made = (galopvm_value **)calloc((all > count ? all : count) + 1, sizeof *made);
  if (made == NULL) {
    return gv_no_memory(ctx);
  }
  int failed = FUTHARK_SUCCESS;
  galopvm_value *value = NULL;
  if (all == 0) {
    for (size_t k = 0; !failed && k < count; k++) {
      int64_t extents[256] = {0};
      memcpy(extents, shape, rank * sizeof *shape);
      failed = gv_zeros(ctx, parts[k].elem, parts[k].rank, extents, &made[k]);
    }
    failed = gv_join(ctx, made, count, failed, out);
    free(made);
    return failed;
  }
  for (size_t k = 0; !failed && k < all; k++) {
    failed = gv_filled(ctx, gv_of(elements[k]), count, is_there, &made[k]);
  }
  if (!failed) {
    failed = gv_failed(ctx, galopvm_value_stack(ctx->values, (const galopvm_value *const *)made, rank, shape, &value));
  }
  gv_free_all(made, all);
  free(made);
  if (!failed) {
    *out = gv_keep(ctx, value);
    failed = *out == NULL;
  }
  return failed;
}

/* Whether the arrays of fields agree in their outer extents, which those of the first one are. */
GV_MAYBE static int gv_zippable(struct futhark_context *ctx, galopvm_value **fields, size_t count, size_t rank) {
  galopvm_value *first = NULL, *other = NULL;
  int failed = gv_failed(ctx, galopvm_value_part(fields[0], 0, &first));
  for (size_t k = 1; !failed && k < count; k++) {
    failed = gv_failed(ctx, galopvm_value_part(fields[k], 0, &other));
    if (!failed && memcmp(galopvm_value_shape(first), galopvm_value_shape(other), rank * sizeof(int64_t)) != 0) {
      failed = gv_misuse(ctx, "The arrays differ in their extents.");
    }
    galopvm_value_free(other);
    other = NULL;
  }
  galopvm_value_free(first);
  return failed;
}

/* -- Opaque values as bytes: a mark, and of each part its type, rank, extents and elements -- */

GV_MAYBE static const char gv_mark[8] = {'g', 'a', 'l', 'o', 'p', 'v', 'm', '1'};

GV_MAYBE static size_t gv_stored_bytes(const galopvm_value *part, uint32_t elem) {
  return 2 * sizeof(uint32_t) + galopvm_value_rank(part) * sizeof(int64_t) + gv_bytes(part, gv_width(elem));
}

GV_MAYBE static int gv_store(struct futhark_context *ctx, const void *handle, size_t count, const struct gv_part *parts, void **p, size_t *n) {
  const galopvm_value *value = gv_of(handle);
  int failed = galopvm_value_parts(value) == count ? FUTHARK_SUCCESS : gv_misuse(ctx, "The value is NULL, or was consumed by an earlier call.");
  size_t bytes = sizeof gv_mark;
  for (size_t k = 0; !failed && k < count; k++) {
    galopvm_value *part = NULL;
    failed = gv_failed(ctx, galopvm_value_part(value, k, &part));
    bytes += gv_stored_bytes(part, parts[k].elem);
    galopvm_value_free(part);
  }
  if (failed) {
    return failed;
  }
  *n = bytes;
  if (p == NULL) {
    return FUTHARK_SUCCESS;
  }
  if (*p == NULL && (*p = malloc(bytes)) == NULL) {
    return gv_no_memory(ctx);
  }
  unsigned char *at = (unsigned char *)*p;
  memcpy(at, gv_mark, sizeof gv_mark);
  at += sizeof gv_mark;
  for (size_t k = 0; !failed && k < count; k++) {
    galopvm_value *part = NULL;
    failed = gv_failed(ctx, galopvm_value_part(value, k, &part));
    if (failed) {
      break;
    }
    const uint32_t rank = (uint32_t)galopvm_value_rank(part);
    const size_t elements = gv_bytes(part, gv_width(parts[k].elem));
    memcpy(at, &parts[k].elem, sizeof(uint32_t));
    memcpy(at + sizeof(uint32_t), &rank, sizeof rank);
    at += 2 * sizeof(uint32_t);
    if (rank == 0) {
      uint64_t bits = 0;
      failed = gv_failed(ctx, gv_bits(parts[k].elem, part, &bits));
      memcpy(at, &bits, elements);
    } else {
      memcpy(at, galopvm_value_shape(part), rank * sizeof(int64_t));
      at += rank * sizeof(int64_t);
      failed = gv_failed(ctx, galopvm_value_read(part, at, elements));
    }
    at += elements;
    galopvm_value_free(part);
  }
  return failed;
}

GV_MAYBE static void *gv_restore(struct futhark_context *ctx, const void *p, size_t count, const struct gv_part *parts) {
  const unsigned char *at = (const unsigned char *)p;
  if (p == NULL || memcmp(at, gv_mark, sizeof gv_mark) != 0) {
    gv_misuse(ctx, "The bytes are no value that was stored.");
    return NULL;
  }
  galopvm_value **made = (galopvm_value **)calloc(count + 1, sizeof *made);
  if (made == NULL) {
    gv_no_memory(ctx);
    return NULL;
  }
  at += sizeof gv_mark;
  int failed = FUTHARK_SUCCESS;
  for (size_t k = 0; !failed && k < count; k++) {
    struct gv_part found;
    memcpy(&found.elem, at, sizeof found.elem);
    memcpy(&found.rank, at + sizeof found.elem, sizeof found.rank);
    at += 2 * sizeof(uint32_t);
    if (found.elem != parts[k].elem || found.rank != parts[k].rank) {
      failed = gv_misuse(ctx, "The bytes are a value of another type.");
      break;
    }
    size_t bytes = gv_width(found.elem);
    if (found.rank == 0) {
      failed = gv_failed(ctx, gv_scalar(found.elem, at, &made[k]));
    } else {
      int64_t shape[256];
      memcpy(shape, at, found.rank * sizeof *shape);
      at += found.rank * sizeof *shape;
      for (size_t dim = 0; dim < found.rank; dim++) {
        bytes *= (size_t)shape[dim];
      }
      failed = gv_failed(ctx, galopvm_value_array_copy(ctx->values, found.elem, at, found.rank, shape, &made[k]));
    }
    at += bytes;
  }
  void *handle = NULL;
  failed = gv_join(ctx, made, count, failed, &handle);
  free(made);
  return handle;
}
