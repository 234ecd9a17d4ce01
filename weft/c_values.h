/* Inputs and outputs that may be sequences of tensors or optionals; part of weft/c_api.h, which includes it.
 *
 *   weft_tensor frames[2] = {{.size = sizeof *frames, ...}, ...};
 *   weft_value inputs[1] = {{.size = sizeof *inputs, .name = "frames", .kind = WEFT_SEQUENCE,
 *                            .tensors = frames, .num_tensors = 2}};
 *   code = weft_session_run_values(session, inputs, 1, NULL, &outputs);
 */
#ifndef WEFT_C_VALUES_H_
#define WEFT_C_VALUES_H_

#include "weft/c_session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t weft_kind;
enum {
  WEFT_NOTHING = 0,  /* an optional without an element */
  WEFT_TENSOR = 1,   /* num_tensors is 1 */
  WEFT_SEQUENCE = 2, /* of any number */
};

/* The names of the tensors are not read, those of outputs are that of the value. */
typedef struct weft_value {
  size_t size;
  const char* name;
  const weft_tensor* tensors; /* of inputs: those of a sequence are copied */
  size_t num_tensors;
  weft_kind kind;
} weft_value;

typedef struct weft_values weft_values;

/* For any model; weft_session_run refuses one with such inputs or outputs as WEFT_UNIMPLEMENTED, and their
 * weft_value_info has is_value set. */
WEFT_API weft_code weft_session_run_values(const weft_session* session, const weft_value* inputs,
                                           size_t num_inputs, const weft_run_options* options,
                                           weft_values** outputs);
WEFT_API size_t weft_values_count(const weft_values* values);
/* In the order of the model, and by name; NULL when there is none. */
WEFT_API const weft_value* weft_values_at(const weft_values* values, size_t index);
WEFT_API const weft_value* weft_values_find(const weft_values* values, const char* name);
WEFT_API void weft_values_free(weft_values* values);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_C_VALUES_H_ */
