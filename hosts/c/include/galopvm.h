/* galopvm: runs data-parallel array programs in the Futhark language inside a host program.
 *
 * An engine knows the machine, a program is verified code, a session calls a program's entry points with values. See
 * docs/embedding.md for a first program, and examples/hosts/c for whole ones.
 *
 * Functions return a status; of anything but GALOPVM_OK, galopvm_message() says why. Outputs are only written on success.
 * Handles are freed with their own function, which takes NULL as well; a program, session or value goes on when what it was
 * made from is freed. Text is UTF-8, ends with a zero, and stays the library's.
 *
 * Any pointer may be NULL, which is an error unless something else is said. What is not NULL has to be what it is declared
 * to be. Nothing here ends the process, prints, changes signal handlers, or throws.
 *
 * Threads: engines, programs, values and cancellers may be used by several threads at the same time. A session is used by one
 * thread at a time (GALOPVM_BUSY otherwise); threads that call at the same time have sessions of their own, of one engine and program.
 * A handle must not be freed while another thread uses it.
 */
#ifndef GALOPVM_H
#define GALOPVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum galopvm_status {
  GALOPVM_OK = 0,
  GALOPVM_ARGUMENT = 1,  /* an argument of the function is missing or does not fit */
  GALOPVM_COMPILE = 2,   /* the source does not compile; the message shows where */
  GALOPVM_LOAD = 3,      /* a file cannot be read, or is no program */
  GALOPVM_TYPE = 4,      /* a value has another type than was asked for */
  GALOPVM_PROGRAM = 5,   /* the program failed: an index outside its array, a division by zero, .. */
  GALOPVM_MEMORY = 6,    /* there is no memory, or the limit is reached */
  GALOPVM_FUEL = 7,      /* the fuel is used up */
  GALOPVM_TIME = 8,      /* the time is used up */
  GALOPVM_DEPTH = 9,     /* calls are nested too deeply */
  GALOPVM_CANCELLED = 10,
  GALOPVM_BUSY = 11,     /* another thread is using the session */
  GALOPVM_INTERNAL = 12  /* a mistake of galopvm; the session takes no more calls */
} galopvm_status;

/* Element types. Truth values are bytes of 0 and 1, halves are 16 bits. */
enum galopvm_type {
  GALOPVM_I8 = 0,
  GALOPVM_I16 = 1,
  GALOPVM_I32 = 2,
  GALOPVM_I64 = 3,
  GALOPVM_U8 = 4,
  GALOPVM_U16 = 5,
  GALOPVM_U32 = 6,
  GALOPVM_U64 = 7,
  GALOPVM_F16 = 8,
  GALOPVM_F32 = 9,
  GALOPVM_F64 = 10,
  GALOPVM_BOOL = 11
};

typedef struct galopvm_options galopvm_options;
typedef struct galopvm_engine galopvm_engine;
typedef struct galopvm_program galopvm_program;
typedef struct galopvm_bytes galopvm_bytes;
typedef struct galopvm_session galopvm_session;
typedef struct galopvm_canceller galopvm_canceller;
typedef struct galopvm_value galopvm_value;

/* Bounds of calls; 0 is none. */
typedef struct galopvm_limits {
  uint64_t memory;       /* bytes that the values of a session may take, of memory that the library takes */
  uint64_t fuel;         /* operations that one call may execute in the interpreter */
  uint64_t milliseconds; /* time that one call may take */
} galopvm_limits;

/* Figures of a session's memory. What a host lends or gives is not in them. */
typedef struct galopvm_memory {
  uint64_t blocks; /* blocks that the library took for values */
  uint64_t bytes;  /* bytes of them */
  uint64_t live;   /* bytes of values now */
  uint64_t peak;   /* most bytes of values at one time */
  uint64_t held;   /* bytes held now: of values, and kept for others */
  uint64_t copied; /* bytes of elements that were copied */
} galopvm_memory;

/* Called once, on any thread, when memory of a host is needed no more. It must not call the library with the session that is
 * in a call. May be NULL if there is nothing to do. */
typedef void (*galopvm_release)(void *context);

/* The text of this thread's last failure; stays until the thread's next failure. */
const char *galopvm_message(void);
const char *galopvm_version(void);

/* -- Engines -- */

galopvm_status galopvm_options_new(galopvm_options **out);
/* What executes parallel work: "auto", "interp", "vector", "x86", "vulkan", "reference". */
galopvm_status galopvm_options_set_backend(galopvm_options *options, const char *name);
/* The greatest instruction set to use: "scalar", "avx2", "avx512". */
galopvm_status galopvm_options_set_cpu(galopvm_options *options, const char *name);
/* Worker threads; 0 is one for each hardware thread. */
galopvm_status galopvm_options_set_threads(galopvm_options *options, size_t threads);
/* Bounds of the calls in all sessions. */
galopvm_status galopvm_options_set_limits(galopvm_options *options, const galopvm_limits *limits);
galopvm_status galopvm_options_free(galopvm_options *options);

/* With NULL for options the engine is the usual one. */
galopvm_status galopvm_engine_new(const galopvm_options *options, galopvm_engine **out);
galopvm_status galopvm_engine_free(galopvm_engine *engine);

/* -- Programs -- */

/* Compiles source text of so many bytes. Messages call the file `name`; imports are looked for from its folder. */
galopvm_status galopvm_program_from_source(const char *name, const char *source, size_t bytes, galopvm_program **out);
/* The program in a file: bytecode, or source. */
galopvm_status galopvm_program_from_file(const char *path, galopvm_program **out);
galopvm_status galopvm_program_from_bytecode(const char *name, const uint8_t *bytecode, size_t bytes, galopvm_program **out);
/* The bytes of a bytecode file. */
galopvm_status galopvm_program_bytecode(const galopvm_program *program, galopvm_bytes **out);
galopvm_status galopvm_program_free(galopvm_program *program);
galopvm_status galopvm_bytes_get(const galopvm_bytes *bytes, const uint8_t **data, size_t *count);
galopvm_status galopvm_bytes_free(galopvm_bytes *bytes);

/* Warnings of the compilation, NULL if there are none. These functions and the next ones live as long as the program, and give
 * 0 or NULL for numbers that there are not. */
const char *galopvm_program_warnings(const galopvm_program *program);
size_t galopvm_program_entries(const galopvm_program *program);
const char *galopvm_entry_name(const galopvm_program *program, size_t number);
size_t galopvm_entry_params(const galopvm_program *program, size_t number);
const char *galopvm_entry_param_name(const galopvm_program *program, size_t number, size_t param);
/* As the source writes it, with "*" in front of what is consumed. */
const char *galopvm_entry_param_type(const galopvm_program *program, size_t number, size_t param);
size_t galopvm_entry_results(const galopvm_program *program, size_t number);
const char *galopvm_entry_result_type(const galopvm_program *program, size_t number, size_t result);

/* -- Sessions -- */

galopvm_status galopvm_session_new(const galopvm_engine *engine, const galopvm_program *program, galopvm_session **out);
/* Calls an entry point with as many arguments, and for as many results, as it has. The arguments stay the caller's: what the
 * program consumes is copied first. Each result is a new handle. */
galopvm_status galopvm_session_call(const galopvm_session *session, const char *entry, const galopvm_value *const *arguments, size_t argument_count, galopvm_value **results, size_t result_count);
/* The same with arguments that the caller gives up: they are freed, whatever the status, and set to NULL. What the program
 * consumes of them is changed in place if nobody else holds it. */
galopvm_status galopvm_session_call_giving(const galopvm_session *session, const char *entry, galopvm_value **arguments, size_t argument_count, galopvm_value **results, size_t result_count);
galopvm_status galopvm_session_set_limits(const galopvm_session *session, const galopvm_limits *limits);
/* Gives a tuning parameter, #[param(name)], a value for further calls. */
galopvm_status galopvm_session_set_param(const galopvm_session *session, const char *name, int64_t value);
galopvm_status galopvm_session_memory(const galopvm_session *session, galopvm_memory *out);
galopvm_status galopvm_session_free(galopvm_session *session);

/* What ends the calls of a session, from any thread. Without a session (NULL) it ends those calls that it is set for. */
galopvm_status galopvm_canceller_new(const galopvm_session *session, galopvm_canceller **out);
/* From the next call on, the session's calls are ended by this canceller as well as by its own; NULL takes it away. With a canceller
 * for each call, a thread that cancels too late ends no other call. */
galopvm_status galopvm_session_set_canceller(const galopvm_session *session, const galopvm_canceller *canceller);
/* The running call and any further one end with GALOPVM_CANCELLED, until galopvm_cancel_reset. */
galopvm_status galopvm_cancel(const galopvm_canceller *canceller);
galopvm_status galopvm_cancel_reset(const galopvm_canceller *canceller);
galopvm_status galopvm_canceller_free(galopvm_canceller *canceller);

/* -- Values --
 *
 * A value is a scalar or an array. A tuple, record or sum is a group of them: the parts in the order of its type; a sum has the
 * number of its constructor first, an i8. */

galopvm_status galopvm_value_i8(int8_t value, galopvm_value **out);
galopvm_status galopvm_value_i16(int16_t value, galopvm_value **out);
galopvm_status galopvm_value_i32(int32_t value, galopvm_value **out);
galopvm_status galopvm_value_i64(int64_t value, galopvm_value **out);
galopvm_status galopvm_value_u8(uint8_t value, galopvm_value **out);
galopvm_status galopvm_value_u16(uint16_t value, galopvm_value **out);
galopvm_status galopvm_value_u32(uint32_t value, galopvm_value **out);
galopvm_status galopvm_value_u64(uint64_t value, galopvm_value **out);
galopvm_status galopvm_value_f16(uint16_t bits, galopvm_value **out);
galopvm_status galopvm_value_f32(float value, galopvm_value **out);
galopvm_status galopvm_value_f64(double value, galopvm_value **out);
galopvm_status galopvm_value_bool(bool value, galopvm_value **out);

galopvm_status galopvm_value_get_i8(const galopvm_value *value, int8_t *out);
galopvm_status galopvm_value_get_i16(const galopvm_value *value, int16_t *out);
galopvm_status galopvm_value_get_i32(const galopvm_value *value, int32_t *out);
galopvm_status galopvm_value_get_i64(const galopvm_value *value, int64_t *out);
galopvm_status galopvm_value_get_u8(const galopvm_value *value, uint8_t *out);
galopvm_status galopvm_value_get_u16(const galopvm_value *value, uint16_t *out);
galopvm_status galopvm_value_get_u32(const galopvm_value *value, uint32_t *out);
galopvm_status galopvm_value_get_u64(const galopvm_value *value, uint64_t *out);
galopvm_status galopvm_value_get_f16(const galopvm_value *value, uint16_t *out);
galopvm_status galopvm_value_get_f32(const galopvm_value *value, float *out);
galopvm_status galopvm_value_get_f64(const galopvm_value *value, double *out);
galopvm_status galopvm_value_get_bool(const galopvm_value *value, bool *out);

/* Arrays. `elem` is a galopvm_type; the shape has `rank` extents, outermost first. */

/* Copies the elements, which lie in row-major order, into the session's memory. */
galopvm_status galopvm_value_array_copy(const galopvm_session *session, uint32_t elem, const void *data, size_t rank, const int64_t *shape, galopvm_value **out);
/* Looks at elements where they are. `data` is the element at index 0; strides are in elements and may be negative, NULL for
 * row-major order. The memory must stay as it is until `release` is called, and is never written. It is released when neither
 * the value nor any that lies in it (a result may) is held; if this function fails, it is not released at all. */
galopvm_status galopvm_value_array_borrow(uint32_t elem, const void *data, size_t rank, const int64_t *shape, const int64_t *strides, galopvm_release release, void *context, galopvm_value **out);
/* The same with memory that nobody else uses any more until it is released: a program that consumes the array writes in it. */
galopvm_status galopvm_value_array_give(uint32_t elem, void *data, size_t rank, const int64_t *shape, const int64_t *strides, galopvm_release release, void *context, galopvm_value **out);

/* The element type of a scalar or array. */
galopvm_status galopvm_value_type(const galopvm_value *value, uint32_t *out);
/* 0 for what is no array, and NULL from the next three; they live as long as the value. */
size_t galopvm_value_rank(const galopvm_value *value);
const int64_t *galopvm_value_shape(const galopvm_value *value);
/* In elements. */
const int64_t *galopvm_value_strides(const galopvm_value *value);
/* The element at index 0; only to be read. */
const void *galopvm_value_data(const galopvm_value *value);
bool galopvm_value_is_row_major(const galopvm_value *value);
/* Whether an array lies in memory that a host lent. */
bool galopvm_value_is_borrowed(const galopvm_value *value);
/* Copies the elements of an array, so many bytes, to `data` in row-major order. */
galopvm_status galopvm_value_read(const galopvm_value *value, void *data, size_t bytes);

/* Elements. An array of tuples or records is a value of one array for each part, and its element a value of one element for
 * each. An index has `rank` numbers; with fewer than there are dimensions it means a row. What is changed may be used by nobody else
 * meanwhile, and is no other argument. */

/* The extents of the first part of a value, NULL if it has no array: of an array of tuples or records, those of the array come first.
 * They live as long as the value. */
const int64_t *galopvm_value_outer_shape(const galopvm_value *value);
/* The element at an index. Rows share the memory. */
galopvm_status galopvm_value_at(const galopvm_value *value, size_t rank, const int64_t *index, galopvm_value **out);
/* Puts another element there: in place if nobody else holds the memory, else in a copy, which the value then is. */
galopvm_status galopvm_value_set(const galopvm_session *session, galopvm_value *value, size_t rank, const int64_t *index, const galopvm_value *element);
/* An array of elements in row-major order, as many as the shape says; there has to be one at least, and all have to be of one shape. */
galopvm_status galopvm_value_stack(const galopvm_session *session, const galopvm_value *const *elements, size_t rank, const int64_t *shape, galopvm_value **out);
/* Copies the elements of an array into row-major order, unless they lie so. */
galopvm_status galopvm_value_make_row_major(const galopvm_session *session, galopvm_value *value);

/* One value of several. */
galopvm_status galopvm_value_group(const galopvm_value *const *parts, size_t count, galopvm_value **out);
size_t galopvm_value_parts(const galopvm_value *value);
galopvm_status galopvm_value_part(const galopvm_value *value, size_t number, galopvm_value **out);
/* A further handle; the memory is shared. */
galopvm_status galopvm_value_clone(const galopvm_value *value, galopvm_value **out);
galopvm_status galopvm_value_free(galopvm_value *value);

#ifdef __cplusplus
}
#endif

#endif
