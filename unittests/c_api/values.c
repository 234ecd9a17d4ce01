/* Sequences and optionals. */
#include "c_api_test.h"

/* A sequence of x and twice x, and an optional without an element */
static const char* const kMake =
    "module {input_names:strings[\"x\"],output_names:strings[\"s\",\"o\"]} (%0: tensor<2x2xf32>) "
    "{\n"
    " (%1) = \"onnx.Add\" (%0, %0) {} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>\n"
    " (%2) = \"onnx.SequenceConstruct\" (%0, %1) {} : (tensor<2x2xf32>, tensor<2x2xf32>) -> "
    "seq<tensor<2x2xf32>>\n"
    " (%3) = \"onnx.Optional\" () {type:type<tensor<f32>>} : () -> optional<tensor<f32>>\n"
    " () = \"builtin.return\" (%2, %3) {} : (seq<tensor<2x2xf32>>, optional<tensor<f32>>) ->\n"
    "}\n";
/* What takes those */
static const char* const kTake =
    "module {input_names:strings[\"s\",\"o\"],output_names:strings[\"has\",\"all\"]} (%0: "
    "seq<tensor<?x2xf32>>, %1: optional<tensor<f32>>) {\n"
    " (%2) = \"onnx.OptionalHasElement\" (%1) {} : (optional<tensor<f32>>) -> tensor<bool>\n"
    " (%3) = \"onnx.ConcatFromSequence\" (%0) {axis:0} : (seq<tensor<?x2xf32>>) -> "
    "tensor<?x2xf32>\n"
    " () = \"builtin.return\" (%2, %3) {} : (tensor<bool>, tensor<?x2xf32>) ->\n"
    "}\n";

static weft_value value_of(const char* name, weft_kind kind, const weft_tensor* tensors,
                           size_t num_tensors) {
  const weft_value value = {.size = sizeof value,
                            .name = name,
                            .tensors = tensors,
                            .num_tensors = num_tensors,
                            .kind = kind};
  return value;
}

static void gives_them(void) {
  weft_session* session = session_of(kMake);
  const weft_value_info* info = weft_session_output(session, 0);
  CHECK(info->is_value == 1 && info->dtype == WEFT_F32 &&
        strcmp(info->type, "seq<tensor<2x2xf32>>") == 0);
  CHECK(weft_session_input(session, 0)->is_value == 0);
  const weft_tensor x = f32_2x2("x", kA);
  const weft_value input = value_of("x", WEFT_TENSOR, &x, 1);
  weft_values* y = NULL;
  CHECK(weft_session_run_values(session, &input, 1, NULL, &y) == WEFT_OK);
  CHECK(weft_values_count(y) == 2 && weft_values_at(y, 2) == NULL);
  const weft_value* s = weft_values_find(y, "s");
  CHECK(s == weft_values_at(y, 0) && s->kind == WEFT_SEQUENCE && s->num_tensors == 2);
  CHECK(s->tensors[1].rank == 2 && ((const float*)s->tensors[1].data)[3] == 8);
  CHECK(weft_values_find(y, "o")->kind == WEFT_NOTHING && weft_values_find(y, "p") == NULL);
  weft_values_free(y);
  weft_outputs* outputs = NULL;
  CHECK_FAILS(weft_session_run(session, &x, 1, NULL, &outputs), WEFT_UNIMPLEMENTED,
              "output 's' is seq");
  weft_session_free(session);
}

static void takes_them(void) {
  weft_session* session = session_of(kTake);
  const weft_tensor tensors[] = {f32_2x2("", kA), f32_2x2("", kB)};
  weft_value inputs[] = {value_of("s", WEFT_SEQUENCE, tensors, 2),
                         value_of("o", WEFT_NOTHING, NULL, 0)};
  weft_values* y = NULL;
  CHECK(weft_session_run_values(session, inputs, 2, NULL, &y) == WEFT_OK);
  const weft_tensor* all = weft_values_find(y, "all")->tensors;
  CHECK(all->dims[0] == 4 && ((const float*)all->data)[7] == 40);
  weft_values_free(y);
  inputs[0].kind = 7;
  CHECK_FAILS(weft_session_run_values(session, inputs, 2, NULL, &y), WEFT_INVALID_ARGUMENT,
              "input 's' has kind 7");
  inputs[0].kind = WEFT_TENSOR;
  CHECK_FAILS(weft_session_run_values(session, inputs, 2, NULL, &y), WEFT_INVALID_ARGUMENT,
              "input 's' is a tensor, but num_tensors is 2");
  inputs[0].kind = WEFT_SEQUENCE;
  inputs[0].tensors = NULL;
  CHECK_FAILS(weft_session_run_values(session, inputs, 2, NULL, &y), WEFT_INVALID_ARGUMENT,
              "weft_tensor");
  CHECK_FAILS(weft_session_run_values(session, inputs + 1, 1, NULL, &y), WEFT_INVALID_ARGUMENT,
              "input 's' is not given");
  weft_session_free(session);
}

void tests_values(void) {
  gives_them();
  takes_them();
  weft_values_free(NULL);
  CHECK(weft_values_count(NULL) == 0);
}
