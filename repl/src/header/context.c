struct futhark_context_config *futhark_context_config_new(void) {
  struct futhark_context_config *cfg = (struct futhark_context_config *)calloc(1, sizeof *cfg);
  if (cfg != NULL) {
    cfg->threads = GV_THREADS;
  }
  return cfg;
}

void futhark_context_config_free(struct futhark_context_config *cfg) {
  free(cfg);
}

void futhark_context_config_set_debugging(struct futhark_context_config *cfg, int flag) {
  cfg->logging = flag;
  cfg->profiling = flag;
}

void futhark_context_config_set_profiling(struct futhark_context_config *cfg, int flag) {
  cfg->profiling = flag;
}

void futhark_context_config_set_logging(struct futhark_context_config *cfg, int flag) {
  cfg->logging = flag;
}

/* Nothing is compiled that could be kept in a file. */
void futhark_context_config_set_cache_file(struct futhark_context_config *cfg, const char *fname) {
  (void)cfg;
  (void)fname;
}

void futhark_context_config_set_num_threads(struct futhark_context_config *cfg, int n) {
  cfg->threads = n < 1 ? 0 : (size_t)n;
}

int futhark_context_config_set_tuning_param(struct futhark_context_config *cfg, const char *param_name, size_t new_value) {
  for (size_t k = 0; gv_params[k] != NULL; k++) {
    if (strcmp(gv_params[k], param_name) == 0) {
      cfg->params[k].is_set = true;
      cfg->params[k].value = (int64_t)new_value;
      return 0;
    }
  }
  return 1;
}

int futhark_get_tuning_param_count(void) {
  return (int)(sizeof gv_params / sizeof gv_params[0]) - 1;
}

const char *futhark_get_tuning_param_name(int i) {
  return i < 0 || i >= futhark_get_tuning_param_count() ? NULL : gv_params[i];
}

const char *futhark_get_tuning_param_class(int i) {
  return futhark_get_tuning_param_name(i) == NULL ? NULL : "user";
}

struct futhark_context *futhark_context_new(struct futhark_context_config *cfg) {
  struct futhark_context *ctx = (struct futhark_context *)calloc(1, sizeof *ctx);
  if (ctx == NULL) {
    return NULL;
  }
  ctx->config = cfg;
  ctx->log = stderr;
  pthread_mutex_init(&ctx->calls, NULL);
  pthread_mutex_init(&ctx->errors, NULL);
  gv_begin(ctx);
  return ctx;
}

void futhark_context_free(struct futhark_context *ctx) {
  galopvm_session_free(ctx->session);
  galopvm_session_free(ctx->values);
  galopvm_program_free(ctx->program);
  galopvm_engine_free(ctx->engine);
  pthread_mutex_destroy(&ctx->calls);
  pthread_mutex_destroy(&ctx->errors);
  free(ctx->events);
  free(ctx->error);
  free(ctx);
}

/* Calls are over when they return. */
int futhark_context_sync(struct futhark_context *ctx) {
  (void)ctx;
  return FUTHARK_SUCCESS;
}

char *futhark_context_get_error(struct futhark_context *ctx) {
  pthread_mutex_lock(&ctx->errors);
  char *error = ctx->error;
  ctx->error = NULL;
  pthread_mutex_unlock(&ctx->errors);
  return error;
}

void futhark_context_set_logging_file(struct futhark_context *ctx, FILE *f) {
  pthread_mutex_lock(&ctx->calls);
  ctx->log = f;
  pthread_mutex_unlock(&ctx->calls);
}

void futhark_context_pause_profiling(struct futhark_context *ctx) {
  pthread_mutex_lock(&ctx->calls);
  ctx->paused = 1;
  pthread_mutex_unlock(&ctx->calls);
}

void futhark_context_unpause_profiling(struct futhark_context *ctx) {
  pthread_mutex_lock(&ctx->calls);
  ctx->paused = 0;
  pthread_mutex_unlock(&ctx->calls);
}

/* The calls, each with its time, and the most bytes that values took. */
char *futhark_context_report(struct futhark_context *ctx) {
  pthread_mutex_lock(&ctx->calls);
  galopvm_memory memory = {0, 0, 0, 0, 0, 0};
  galopvm_session_memory(ctx->session != NULL ? ctx->session : ctx->values, &memory);
  size_t room = 256;
  for (size_t k = 0; k < ctx->event_count; k++) {
    room += 128 + strlen(ctx->events[k].entry);
  }
  char *report = (char *)malloc(room);
  if (report != NULL) {
    size_t used = (size_t)snprintf(report, room, "{\"memory\":{\"default space\":%llu},\"events\":[", (unsigned long long)memory.peak);
    for (size_t k = 0; k < ctx->event_count; k++) {
      const struct gv_event *event = &ctx->events[k];
      used += (size_t)snprintf(report + used, room - used, "%s{\"name\":\"%s\",\"provenance\":\"\",\"duration\":%.3f,\"details\":{}}",
                               k == 0 ? "" : ",", event->entry, event->microseconds);
    }
    snprintf(report + used, room - used, "]}");
    ctx->event_count = 0;
  }
  pthread_mutex_unlock(&ctx->calls);
  return report;
}

/* Plans and compiled code go with the session that calls are made in. */
int futhark_context_clear_caches(struct futhark_context *ctx) {
  pthread_mutex_lock(&ctx->calls);
  galopvm_session_free(ctx->session);
  ctx->session = NULL;
  pthread_mutex_unlock(&ctx->calls);
  return FUTHARK_SUCCESS;
}
