/* weft/c_api.h from plain C: c_api_test MODELS SCRATCH runs all of it on models of the folder MODELS, writes into
 * the folder SCRATCH, and exits with the number of what did not hold, each printed in a line. */
#include "c_api_test.h"

int failures = 0;
char bert[1000], scratch[1000];

static const char* const kStrings =
    "module {input_names:strings[\"s\"],output_names:strings[\"t\"]} (%0: tensor<2xstring>) {\n"
    " (%1) = \"onnx.Identity\" (%0) {} : (tensor<2xstring>) -> tensor<2xstring>\n"
    " () = \"builtin.return\" (%1) {} : (tensor<2xstring>) -> \n"
    "}\n";

static void tests_versions(void) {
  CHECK(weft_c_api_version() == WEFT_C_API_VERSION);
  CHECK(strchr(weft_version(), '.') != NULL);
  CHECK(strcmp(weft_dtype_name(WEFT_BF16), "bf16") == 0);
  CHECK(weft_dtype_name(99) == NULL && weft_dtype_name(0) == NULL);
  CHECK(weft_dtype_size(WEFT_F64) == 8 && weft_dtype_size(WEFT_I2) == 1 &&
        weft_dtype_size(-1) == 0);
}

static void tests_saving(void) {
  weft_model *model = NULL, *again = NULL;
  weft_bytes* bytes = NULL;
  CHECK(weft_model_load(bert, NULL, &model) == WEFT_OK);
  CHECK(weft_model_to_bytes(model, NULL, &bytes) == WEFT_OK);
  CHECK(weft_model_from_bytes(weft_bytes_data(bytes), weft_bytes_size(bytes), NULL, &again) ==
        WEFT_OK);
  size_t before = 0, after = 1;
  CHECK(weft_model_num_operations(model, &before) == WEFT_OK);
  CHECK(weft_model_num_operations(again, &after) == WEFT_OK);
  CHECK(before == after && before > 10);
  weft_model_free(again);
  CHECK(weft_model_save(model, in_scratch("c.onnx"), NULL) == WEFT_OK);
  FILE* file = fopen(in_scratch("c.onnx"), "rb");
  char* read = malloc(weft_bytes_size(bytes) + 1);
  CHECK(file != NULL && fread(read, 1, weft_bytes_size(bytes) + 1, file) == weft_bytes_size(bytes));
  CHECK(memcmp(read, weft_bytes_data(bytes), weft_bytes_size(bytes)) == 0);
  free(read);
  fclose(file);
  weft_bytes_free(bytes);
  weft_model_free(model);
}

static void count_progress(void* user_data, const weft_progress* progress) {
  CHECK(progress->size >= sizeof *progress && progress->number >= 1 && progress->pass[0] != '\0');
  CHECK(progress->number <= progress->count && progress->operations > 0);
  ++*(int*)user_data;
}
static int stop_in_second(void* user_data) { return *(int*)user_data == 2; }

static void tests_optimising(void) {
  weft_model* model = NULL;
  weft_report* report = NULL;
  int passes = 0;
  CHECK(weft_model_load(bert, NULL, &model) == WEFT_OK);
  weft_optimize_options options = {.size = sizeof options,
                                   .pipeline = "fuse",
                                   .check = 1,
                                   .record_rewrites = 1,
                                   .progress = count_progress,
                                   .user_data = &passes,
                                   .picture = 1};
  CHECK(weft_model_optimize(model, &options, &report) == WEFT_OK);
  weft_report_counts counts = {.size = sizeof counts};
  CHECK(weft_report_get_counts(report, &counts) == WEFT_OK);
  CHECK(counts.ops_after < counts.ops_before / 2 && counts.ops_after > 0);
  CHECK(counts.num_passes == (size_t)passes && passes > 3);
  CHECK(counts.num_rules_applied > 3 && counts.num_applications >= counts.num_rules_applied);
  CHECK(counts.num_rewrites >= counts.num_applications);
  CHECK(counts.num_outputs > 0 && counts.largest_difference < 5e-6 && counts.seconds > 0);
  CHECK(strstr(weft_report_text(report), "fuse-erf-gelu applied 2 times") != NULL);
  CHECK(strstr(weft_report_json(report), "\"rule\":\"fuse-erf-gelu\"") != NULL);
  CHECK(weft_report_json(report) == weft_report_json(report)); /* made once */
  CHECK(strstr(weft_report_html(report), "fuse-erf-gelu") != NULL);
  size_t now = 0;
  CHECK(weft_model_num_operations(model, &now) == WEFT_OK && now == counts.ops_after);
  /* One of a program that knows of the first two fields only. */
  weft_report_counts old = {.size = offsetof(weft_report_counts, ops_after), .ops_after = 12345};
  CHECK(weft_report_get_counts(report, &old) == WEFT_OK);
  CHECK(old.ops_before == counts.ops_before && old.ops_after == 12345);
  weft_report_free(report);
  weft_model_free(model);
}

static void tests_sizes_of_inputs(void) {
  weft_model *model = from_text(kRelus), *clone = NULL;
  CHECK(weft_model_clone(model, &clone) == WEFT_OK);
  const weft_dim dim = {"N", 7};
  weft_optimize_options options = {.size = sizeof options, .dims = &dim, .num_dims = 1};
  CHECK(weft_model_optimize(model, &options, NULL) == WEFT_OK);
  char* text = text_of(model);
  CHECK(strstr(text, "tensor<7x3xf32>") != NULL);
  free(text);
  text = text_of(clone);
  CHECK(strcmp(text, kRelus) == 0);
  free(text);
  const weft_dim twice[] = {{"N", 7}, {"N", 8}};
  options.dims = twice;
  options.num_dims = 2;
  CHECK(weft_model_optimize(clone, &options, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(strcmp(weft_error_message(), "dimension 'N' is given twice") == 0);
  const int64_t dims[] = {5, 3};
  const weft_input_shape shape = {"x", dims, 2};
  weft_optimize_options shaped = {
      .size = sizeof shaped, .input_shapes = &shape, .num_input_shapes = 1};
  const char* const none[] = {"canonicalize"};
  shaped.passes = none;
  shaped.num_passes = 1;
  CHECK(weft_model_optimize(clone, &shaped, NULL) == WEFT_OK);
  text = text_of(clone);
  CHECK(strstr(text, "tensor<5x3xf32>") != NULL);
  free(text);
  weft_model_free(clone);
  weft_model_free(model);
}

static void tests_stops(void) {
  weft_model* model = NULL;
  CHECK(weft_model_load(bert, NULL, &model) == WEFT_OK);
  int passes = 0;
  const weft_optimize_options options = {.size = sizeof options,
                                         .progress = count_progress,
                                         .stop = stop_in_second,
                                         .user_data = &passes};
  CHECK_FAILS(weft_model_optimize(model, &options, NULL), WEFT_CANCELLED, "stopped before");
  CHECK(passes == 2);
  weft_model_free(model);
  weft_session* session = session_of(kSums);
  const weft_tensor inputs[] = {f32_2x2("a", kA), f32_2x2("b", kB)};
  const weft_run_options run = {.size = sizeof run, .stop = stop_in_second, .user_data = &passes};
  weft_outputs* outputs = NULL;
  CHECK_FAILS(weft_session_run(session, inputs, 2, &run, &outputs), WEFT_CANCELLED, "");
  CHECK(outputs == NULL);
  weft_session_free(session);
}

static void tests_running(void) {
  weft_session* session = session_of(kSums);
  CHECK(weft_session_num_inputs(session) == 2 && weft_session_num_outputs(session) == 2);
  const weft_value_info* info = weft_session_input(session, 1);
  CHECK(strcmp(info->name, "b") == 0 && strcmp(info->type, "tensor<\"N\"x2xf32>") == 0);
  CHECK(info->dtype == WEFT_F32 && info->rank == 2 && info->dims[0] == -1 && info->dims[1] == 2);
  CHECK(info->size >= sizeof *info && !info->has_default);
  CHECK(weft_session_num_threads(session) == 1 && strlen(weft_session_isa(session)) > 2);
  CHECK(strcmp(weft_session_output(session, 0)->name, "sum") == 0);
  CHECK(weft_session_input(session, 2) == NULL && weft_session_output(session, 2) == NULL);

  const weft_tensor inputs[] = {f32_2x2("b", kB), f32_2x2("a", kA)};
  weft_outputs* outputs = NULL;
  CHECK(weft_session_run(session, inputs, 2, NULL, &outputs) == WEFT_OK);
  CHECK(weft_outputs_count(outputs) == 2 && weft_outputs_at(outputs, 2) == NULL);
  CHECK(strcmp(weft_outputs_at(outputs, 0)->name, "sum") == 0);
  CHECK(weft_outputs_find(outputs, "sum") == weft_outputs_at(outputs, 0));
  CHECK(weft_outputs_find(outputs, "product") == NULL);
  const weft_tensor* difference = weft_outputs_find(outputs, "difference");
  CHECK(difference->rank == 2 && difference->dims[0] == 2 && difference->dtype == WEFT_F32);
  CHECK(difference->num_bytes == 16 && ((const float*)difference->data)[3] == -36);
  weft_session_free(session); /* outputs do not need it */
  CHECK(((const float*)weft_outputs_find(outputs, "sum")->data)[1] == 22);
  weft_outputs_free(outputs);
}

static void tests_running_into(void) {
  weft_session* session = session_of(kSums);
  const weft_tensor inputs[] = {f32_2x2("a", kA), f32_2x2("b", kB)};
  float sum[4] = {0}, difference[4] = {0};
  weft_buffer into[] = {into_2x2("difference", difference), into_2x2("sum", sum)};
  CHECK(weft_session_run_into(session, inputs, 2, into, 2, NULL) == WEFT_OK);
  CHECK(sum[0] == 11 && sum[3] == 44 && difference[0] == -9 && difference[3] == -36);
  CHECK_FAILS(weft_session_run_into(session, inputs, 2, into, 1, NULL), WEFT_INVALID_ARGUMENT,
              "output 'sum' is not given");
  into[0].num_bytes = 12;
  CHECK_FAILS(weft_session_run_into(session, inputs, 2, into, 2, NULL), WEFT_INVALID_ARGUMENT,
              "output 'difference' has 12 bytes, but f32 [2,2] needs 16");
  weft_session_free(session);
}

static void tests_sharing_threads(void) {
  const weft_session_options two = {.size = sizeof two, .threads = 2, .oversubscribe = 1};
  weft_model* model = from_text(kSums);
  weft_session *first = NULL, *second = NULL;
  CHECK(weft_session_create(model, &two, &first) == WEFT_OK);
  const weft_session_options of_first = {
      .size = sizeof of_first, .threads = 1, .threads_of = first};
  CHECK(weft_session_create(model, &of_first, &second) == WEFT_OK);
  CHECK(weft_session_num_threads(second) == 2);
  weft_session_free(second);
  weft_session_free(first);
  weft_model_free(model);
}

static void tests_strings(void) {
  weft_session* session = session_of(kStrings);
  const weft_string words[] = {{"", 0}, {"two\0words", 9}};
  const int64_t dims[] = {2};
  const weft_tensor input = {.size = sizeof input,
                             .name = "s",
                             .dims = dims,
                             .rank = 1,
                             .data = words,
                             .num_bytes = sizeof words,
                             .dtype = WEFT_STRING};
  weft_outputs* outputs = NULL;
  CHECK(weft_session_run(session, &input, 1, NULL, &outputs) == WEFT_OK);
  const weft_tensor* t = weft_outputs_find(outputs, "t");
  CHECK(t->dtype == WEFT_STRING && t->num_bytes == 2 * sizeof(weft_string));
  const weft_string* got = t->data;
  CHECK(got[0].num_bytes == 0 && got[1].num_bytes == 9 &&
        memcmp(got[1].data, "two\0words", 10) == 0);
  weft_outputs_free(outputs);
  weft_string room[2];
  const weft_buffer into = {.size = sizeof into,
                            .name = "t",
                            .dims = dims,
                            .rank = 1,
                            .data = room,
                            .num_bytes = sizeof room,
                            .dtype = WEFT_STRING};
  CHECK_FAILS(weft_session_run_into(session, &input, 1, &into, 1, NULL), WEFT_UNIMPLEMENTED,
              "strings");
  weft_session_free(session);
}

static void ignores_null(void) {
  weft_model_free(NULL);
  weft_bytes_free(NULL);
  weft_report_free(NULL);
  weft_session_free(NULL);
  weft_outputs_free(NULL);
  CHECK(weft_bytes_data(NULL) == NULL && weft_bytes_size(NULL) == 0);
  CHECK(weft_report_text(NULL) == NULL && weft_outputs_count(NULL) == 0);
  CHECK(weft_session_isa(NULL) == NULL && weft_session_num_threads(NULL) == 0);
}

int main(int argc, char** argv) {
  if (argc != 3) return puts("usage: c_api_test MODELS SCRATCH"), 100;
  snprintf(bert, sizeof bert, "%s/bert_tiny.onnx", argv[1]);
  snprintf(scratch, sizeof scratch, "%s", argv[2]);
  CHECK(strcmp(weft_error_message(), "") == 0);
  tests_versions();
  tests_saving();
  tests_optimising();
  tests_sizes_of_inputs();
  tests_stops();
  tests_interrupts();
  tests_running();
  tests_running_into();
  tests_bound_outputs();
  tests_sharing_threads();
  tests_strings();
  tests_rules();
  tests_values();
  refuses_what_is_wrong();
  ignores_null();
  return failures;
}
