/* Sessions, which run models; part of weft/c_api.h, which includes it.
 *
 *   const weft_session_options options = {.size = sizeof options, .threads = 2};
 *   if (weft_session_create(model, &options, &session) == WEFT_OK)
 *     code = weft_session_run(session, inputs, num_inputs, NULL, &outputs);
 */
#include "weft/c_api.h" /* before the guard: it includes this one, and then what needs it */

#ifndef WEFT_C_SESSION_H_
#define WEFT_C_SESSION_H_

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_session weft_session;
typedef struct weft_outputs weft_outputs;

typedef struct weft_bound_output { /* names; it has no size field and never changes */
  const char *output, *input;
} weft_bound_output;

typedef struct weft_session_options {
  size_t size;
  const char* isa;       /* portable, avx2, avx512, amx; NULL: the best of the machine */
  const char* provider;  /* kernels: auto, native, xnnpack, reference; NULL: auto */
  const char* pipeline;  /* what is done to a copy of the model first, none: nothing; NULL: fuse */
  const char* numerics;  /* see weft_optimize_options */
  int32_t threads;       /* that run, the caller among them; 0: as many as there are CPUs for us */
  int32_t oversubscribe; /* more threads than CPUs */
  const weft_session* threads_of; /* a session of any model, whose threads are shared; or NULL */
  /* Outputs that lie where an input lies: a cache that grows, or changes, in place from run to run. They take
   * weft_session_run_into, and one address for both, with memory for the larger. A run that fails or is stopped may
   * leave neither the input nor the output. */
  const weft_bound_output* bound_outputs;
  size_t num_bound_outputs;
  /* Of products on amx: float32; bf16x2, bf16 where numerics are approximate; NULL: float32 */
  const char* matmul_precision;
} weft_session_options;

typedef struct weft_value_info {
  size_t size;
  const char* name;
  const char* type;    /* "tensor<"N"x8xf32>" */
  const int64_t* dims; /* -1 where open */
  size_t rank;         /* 0 for an unknown one, too */
  weft_dtype dtype;    /* 0 where unknown, as of what an operator makes that nobody knows */
  int32_t has_default; /* an input that may be left out */
  int32_t is_value;    /* a sequence or an optional (weft/c_values.h), whose tensors are of dtype */
} weft_value_info;

typedef struct weft_run_options {
  size_t size;
  /* Asked before each operation; not 0 ends the run in WEFT_CANCELLED, with buffers partly written. */
  int (*stop)(void* user_data);
  void* user_data;
  /* SIGINT ends the run as `stop` does, once the handler was called that the program has for it. Without one it does
   * what it always does: it ends the program, or is ignored. */
  int32_t stop_at_interrupt;
} weft_run_options;

/* A model made ready to run, which keeps what it needs: the model may change or be freed. Sessions of a model and
 * of its clones share their packed weights. */
WEFT_API weft_code weft_session_create(const weft_model* model, const weft_session_options* options,
                                       weft_session** session);
WEFT_API void weft_session_free(weft_session* session);
WEFT_API size_t weft_session_num_inputs(const weft_session* session);
WEFT_API size_t weft_session_num_outputs(const weft_session* session);
/* In the order of the model; NULL from their number on. */
WEFT_API const weft_value_info* weft_session_input(const weft_session* session, size_t index);
WEFT_API const weft_value_info* weft_session_output(const weft_session* session, size_t index);
/* Threads that run, the caller among them; the instruction set of our own kernels: "avx2", ... */
WEFT_API int32_t weft_session_num_threads(const weft_session* session);
WEFT_API const char* weft_session_isa(const weft_session* session);

/* Inputs in any order; those with a default may be left out. */
WEFT_API weft_code weft_session_run(const weft_session* session, const weft_tensor* inputs,
                                    size_t num_inputs, const weft_run_options* options,
                                    weft_outputs** outputs);
/* Into memory of the caller's, where kernels write without a copy. All outputs must be given, in their types and
 * shapes, and overlap nothing but the input that they are bound to; strings are refused with WEFT_UNIMPLEMENTED. */
WEFT_API weft_code weft_session_run_into(const weft_session* session, const weft_tensor* inputs,
                                         size_t num_inputs, const weft_buffer* outputs,
                                         size_t num_outputs, const weft_run_options* options);

WEFT_API size_t weft_outputs_count(const weft_outputs* outputs);
/* In the order of the model, and by name; NULL when there is none. */
WEFT_API const weft_tensor* weft_outputs_at(const weft_outputs* outputs, size_t index);
WEFT_API const weft_tensor* weft_outputs_find(const weft_outputs* outputs, const char* name);
WEFT_API void weft_outputs_free(weft_outputs* outputs);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_C_SESSION_H_ */
