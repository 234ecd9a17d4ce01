/* in_c MODEL: the C API; optimises a model, runs it on zeros, and says what comes out. */
#include <stdio.h>
#include <stdlib.h>
#include <weft/c_api.h>

static weft_code optimize(weft_model* model) {
  const weft_optimize_options options = {.size = sizeof options, .pipeline = "fuse", .check = 3};
  weft_report* report = NULL;
  const weft_code code = weft_model_optimize(model, &options, &report);
  if (code == WEFT_OK) fputs(weft_report_text(report), stdout);
  weft_report_free(report);
  return code;
}

/* Zeros for an input; sizes that the model leaves open are 1. 0 without memory. */
static int make_zeros(const weft_value_info* input, weft_tensor* tensor) {
  int64_t* dims = calloc(input->rank + 1, sizeof *dims);
  if (dims == NULL) return 0;
  size_t num_bytes = weft_dtype_size(input->dtype);
  for (size_t i = 0; i < input->rank; ++i) {
    dims[i] = input->dims[i] < 0 ? 1 : input->dims[i];
    num_bytes *= (size_t)dims[i];
  }
  *tensor = (weft_tensor){.size = sizeof *tensor,
                          .name = input->name,
                          .dims = dims,
                          .rank = input->rank,
                          .data = calloc(num_bytes + 1, 1),
                          .num_bytes = num_bytes,
                          .dtype = input->dtype};
  return tensor->data != NULL;
}

static weft_code run(const weft_session* session) {
  const size_t count = weft_session_num_inputs(session);
  weft_tensor* inputs = calloc(count + 1, sizeof *inputs);
  weft_code code = inputs == NULL ? WEFT_RESOURCE_EXHAUSTED : WEFT_OK;
  for (size_t i = 0; code == WEFT_OK && i < count; ++i)
    if (!make_zeros(weft_session_input(session, i), &inputs[i])) code = WEFT_RESOURCE_EXHAUSTED;

  weft_outputs* outputs = NULL;
  if (code == WEFT_OK) code = weft_session_run(session, inputs, count, NULL, &outputs);
  for (size_t i = 0; i < weft_outputs_count(outputs); ++i) {
    const weft_tensor* output = weft_outputs_at(outputs, i);
    printf("%s: %s, %zu bytes\n", output->name, weft_dtype_name(output->dtype), output->num_bytes);
  }
  weft_outputs_free(outputs);
  for (size_t i = 0; inputs != NULL && i < count; ++i) {
    free((void*)inputs[i].dims);
    free((void*)inputs[i].data);
  }
  free(inputs);
  return code;
}

int main(int argc, char** argv) {
  if (argc != 2) return puts("usage: in_c MODEL"), 2;
  weft_model* model = NULL;
  weft_session* session = NULL;
  weft_code code = weft_model_load(argv[1], NULL, &model);
  if (code == WEFT_OK) code = optimize(model);
  /* The model is optimised already. */
  const weft_session_options options = {.size = sizeof options, .pipeline = "none"};
  if (code == WEFT_OK) code = weft_session_create(model, &options, &session);
  if (code == WEFT_OK) code = run(session);
  if (code != WEFT_OK) fprintf(stderr, "%s\n", weft_error_message());
  weft_session_free(session);
  weft_model_free(model);
  return code == WEFT_OK ? 0 : 1;
}
