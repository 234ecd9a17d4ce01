/* Outputs that lie where an input lies: a cache that grows in place. */
#include "c_api_test.h"

/* present = past and a row; y = the row times each of those */
static const char* const kGrow =
    "module {input_names:strings[\"past\",\"row\"],output_names:strings[\"present\",\"y\"]} "
    "(%0: tensor<\"P\"x2xf32>, %1: tensor<1x2xf32>) {\n"
    " (%2) = \"onnx.Concat\" (%0, %1) {axis:0} : (tensor<\"P\"x2xf32>, tensor<1x2xf32>) -> "
    "tensor<?x2xf32>\n"
    " (%3) = \"onnx.Mul\" (%1, %2) {} : (tensor<1x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>\n"
    " () = \"builtin.return\" (%2, %3) {} : (tensor<?x2xf32>, tensor<?x2xf32>) -> \n"
    "}\n";

enum { STEPS = 6 };

static weft_code create(const weft_bound_output* bound, size_t num_bound, weft_session** session) {
  const weft_session_options options = {
      .size = sizeof options, .threads = 1, .bound_outputs = bound, .num_bound_outputs = num_bound};
  weft_model* model = from_text(kGrow);
  const weft_code code = weft_session_create(model, &options, session);
  weft_model_free(model);
  return code;
}

static weft_tensor rows_of(const char* name, const int64_t* dims, const float* values) {
  const weft_tensor tensor = {.size = sizeof tensor,
                              .name = name,
                              .dims = dims,
                              .rank = 2,
                              .data = values,
                              .num_bytes = (size_t)(dims[0] * dims[1]) * sizeof *values,
                              .dtype = WEFT_F32};
  return tensor;
}

static weft_buffer into_rows(const char* name, const int64_t* dims, float* values) {
  const weft_tensor tensor = rows_of(name, dims, values);
  const weft_buffer buffer = {.size = sizeof buffer,
                              .name = name,
                              .dims = dims,
                              .rank = 2,
                              .data = values,
                              .num_bytes = tensor.num_bytes,
                              .dtype = WEFT_F32};
  return buffer;
}

static void grow_in_place(void) {
  const weft_bound_output bound = {.output = "present", .input = "past"};
  weft_session *session = NULL, *unbound = NULL;
  CHECK(create(&bound, 1, &session) == WEFT_OK);
  CHECK(create(NULL, 0, &unbound) == WEFT_OK);
  float cache[2 * STEPS],
      y[2 * STEPS];          /* cache: what the next run is given, and what it grows to */
  weft_outputs* last = NULL; /* of the other session, whose cache is a new one each time */
  for (int64_t n = 0; n < STEPS; ++n) {
    const int64_t before[] = {n, 2}, after[] = {n + 1, 2}, one[] = {1, 2};
    const float row[] = {(float)(n * n) + 1, 0.5F - (float)n};
    const weft_tensor inputs[] = {rows_of("past", before, cache), rows_of("row", one, row)};
    const weft_buffer outputs[] = {into_rows("present", after, cache), into_rows("y", after, y)};
    CHECK(weft_session_run_into(session, inputs, 2, outputs, 2, NULL) == WEFT_OK);

    const float* past = n == 0 ? NULL : weft_outputs_find(last, "present")->data;
    const weft_tensor others[] = {rows_of("past", before, past), rows_of("row", one, row)};
    weft_outputs* expected = NULL;
    CHECK(weft_session_run(unbound, others, 2, NULL, &expected) == WEFT_OK);
    weft_outputs_free(last);
    last = expected;
    const weft_tensor* present = weft_outputs_find(expected, "present");
    CHECK(present->num_bytes == outputs[0].num_bytes);
    CHECK(memcmp(present->data, cache, present->num_bytes) == 0);
    CHECK(memcmp(weft_outputs_find(expected, "y")->data, y, outputs[1].num_bytes) == 0);
  }
  CHECK(cache[0] == 1 && cache[1] == 0.5F && cache[2 * STEPS - 2] == 26);
  weft_outputs_free(last);
  weft_session_free(unbound);
  weft_session_free(session);
}

static void refuses_other_addresses(void) {
  const weft_bound_output bound = {.output = "present", .input = "past"};
  weft_session* session = NULL;
  CHECK(create(&bound, 1, &session) == WEFT_OK);
  float cache[4] = {0}, other[4], y[4];
  const int64_t one[] = {1, 2};
  const weft_tensor inputs[] = {rows_of("past", one, cache), rows_of("row", one, kA)};
  const weft_buffer outputs[] = {into_2x2("present", other), into_2x2("y", y)};
  const char* const why = "output 'present' must be given the address of input 'past'";
  CHECK_FAILS(weft_session_run_into(session, inputs, 2, outputs, 2, NULL), WEFT_INVALID_ARGUMENT,
              why);
  weft_outputs* made = NULL;
  CHECK_FAILS(weft_session_run(session, inputs, 2, NULL, &made), WEFT_INVALID_ARGUMENT, why);
  weft_session_free(session);
}

static void refuses_other_names(void) {
  weft_session* session = NULL;
  const weft_bound_output unknown = {"presents", "past"}, nameless = {"present", NULL};
  const weft_bound_output twice[] = {{"present", "past"}, {"y", "past"}};
  CHECK_FAILS(create(&unknown, 1, &session), WEFT_INVALID_ARGUMENT, "no such output");
  CHECK_FAILS(create(&nameless, 1, &session), WEFT_INVALID_ARGUMENT,
              "the input of a weft_bound_output is NULL");
  CHECK_FAILS(create(twice, 2, &session), WEFT_INVALID_ARGUMENT, "bound already");
  CHECK_FAILS(create(NULL, 1, &session), WEFT_INVALID_ARGUMENT, "bound_outputs is NULL");
  CHECK(session == NULL);
}

void tests_bound_outputs(void) {
  grow_in_place();
  refuses_other_addresses();
  refuses_other_names();
}
