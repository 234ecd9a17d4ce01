/* What the sources of c_api_test share: checks that are counted, and small models and tensors. */
#ifndef WEFT_UNITTESTS_C_API_TEST_H_
#define WEFT_UNITTESTS_C_API_TEST_H_

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/c_api.h>

extern int failures;
extern char bert[1000], scratch[1000]; /* a model; a folder to write to */

#define CHECK(condition)                                                                        \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      printf("%s:%d: not so: %s [%s]\n", __FILE__, __LINE__, #condition, weft_error_message()); \
      ++failures;                                                                               \
    }                                                                                           \
  } while (0)
/* The call fails with the code and a line that has the text. */
#define CHECK_FAILS(call, code, text)                    \
  do {                                                   \
    const weft_code got = (call);                        \
    CHECK(got == (code));                                \
    CHECK(strstr(weft_error_message(), (text)) != NULL); \
    CHECK(strchr(weft_error_message(), '\n') == NULL);   \
  } while (0)

/* sum = a + b and difference = a - b */
static const char* const kSums =
    "module {input_names:strings[\"a\",\"b\"],output_names:strings[\"sum\",\"difference\"]} "
    "(%0: tensor<\"N\"x2xf32>, %1: tensor<\"N\"x2xf32>) {\n"
    " (%2) = \"onnx.Add\" (%0, %1) {} : (tensor<\"N\"x2xf32>, tensor<\"N\"x2xf32>) -> "
    "tensor<\"N\"x2xf32>\n"
    " (%3) = \"onnx.Sub\" (%0, %1) {} : (tensor<\"N\"x2xf32>, tensor<\"N\"x2xf32>) -> "
    "tensor<\"N\"x2xf32>\n"
    " () = \"builtin.return\" (%2, %3) {} : (tensor<\"N\"x2xf32>, tensor<\"N\"x2xf32>) -> \n"
    "}\n";
/* y = relu(relu(x)) */
static const char* const kRelus =
    "module {input_names:strings[\"x\"],output_names:strings[\"y\"]} (%0: tensor<\"N\"x3xf32>) {\n"
    " (%1) = \"onnx.Relu\" (%0) {} : (tensor<\"N\"x3xf32>) -> tensor<\"N\"x3xf32>\n"
    " (%2) = \"onnx.Relu\" (%1) {} : (tensor<\"N\"x3xf32>) -> tensor<\"N\"x3xf32>\n"
    " () = \"builtin.return\" (%2) {} : (tensor<\"N\"x3xf32>) -> \n"
    "}\n";
static inline weft_model* from_text(const char* text) {
  weft_model* model = NULL;
  CHECK(weft_model_from_text(text, NULL, &model) == WEFT_OK);
  return model;
}

static inline weft_session* session_of(const char* text) {
  weft_model* model = from_text(text);
  weft_session* session = NULL;
  const weft_session_options options = {.size = sizeof options, .threads = 1};
  CHECK(weft_session_create(model, &options, &session) == WEFT_OK);
  weft_model_free(model); /* the session keeps what it needs */
  return session;
}

static inline char* text_of(const weft_model* model) {
  weft_bytes* text = NULL;
  CHECK(weft_model_to_text(model, &text) == WEFT_OK);
  char* copy = malloc(weft_bytes_size(text) + 1);
  memcpy(copy, weft_bytes_data(text), weft_bytes_size(text) + 1);
  weft_bytes_free(text);
  return copy;
}

static inline const char* in_scratch(const char* name) {
  static char path[2000];
  snprintf(path, sizeof path, "%s/%s", scratch, name);
  return path;
}

static const int64_t kDims[] = {2, 2};
static const float kA[] = {1, 2, 3, 4}, kB[] = {10, 20, 30, 40};

static inline weft_tensor f32_2x2(const char* name, const float* values) {
  const weft_tensor tensor = {.size = sizeof tensor,
                              .name = name,
                              .dims = kDims,
                              .rank = 2,
                              .data = values,
                              .num_bytes = 4 * sizeof *values,
                              .dtype = WEFT_F32};
  return tensor;
}

static inline weft_buffer into_2x2(const char* name, float* values) {
  const weft_buffer buffer = {.size = sizeof buffer,
                              .name = name,
                              .dims = kDims,
                              .rank = 2,
                              .data = values,
                              .num_bytes = 4 * sizeof *values,
                              .dtype = WEFT_F32};
  return buffer;
}

void refuses_what_is_wrong(void); /* of refusals.c */
void tests_bound_outputs(void);   /* of bound_outputs.c */
void tests_interrupts(void);      /* of interrupts.c */
void tests_rules(void);           /* of rules.c */
void tests_values(void);          /* of values.c */

#endif /* WEFT_UNITTESTS_C_API_TEST_H_ */
