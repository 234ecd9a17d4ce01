/* What the C API refuses, and how. */
#include "c_api_test.h"

static const char* const kUnknownOp =
    "module {input_names:strings[\"x\"],output_names:strings[\"y\"]} (%0: tensor<2xf32>) {\n"
    " (%1) = \"acme.twice\" (%0) {} : (tensor<2xf32>) -> tensor<2xf32>\n"
    " () = \"builtin.return\" (%1) {} : (tensor<2xf32>) -> \n"
    "}\n";
static const char* const kWrongRule =
    "rule relu-to-tanh {\n"
    "  numerics exact\n"
    "  source { %0 = onnx.Relu(%x) }\n"
    "  result { !0 = onnx.Tanh(%x) }\n"
    "  replace %0 with !0\n"
    "}\n";

struct notices {
  int errors, texts;
};
static void count_notices(void* user_data, weft_notice_kind kind, const char* text) {
  struct notices* notices = user_data;
  CHECK(text[0] != '\0');
  notices->errors += kind == WEFT_NOTICE_ERROR;
  notices->texts += kind == WEFT_NOTICE_TEXT;
}

static void tests_checks(void) {
  weft_model* model = from_text(kRelus);
  FILE* file = fopen(in_scratch("wrong.weft"), "w");
  fputs(kWrongRule, file);
  fclose(file);
  const char* const files[] = {in_scratch("wrong.weft")};
  struct notices notices = {0, 0};
  weft_optimize_options options = {.size = sizeof options,
                                   .rules_files = files,
                                   .num_rules_files = 1,
                                   .notice = count_notices,
                                   .user_data = &notices};
  weft_report* report = (weft_report*)&notices; /* which an error sets to NULL */
  CHECK_FAILS(weft_model_optimize(model, &options, &report), WEFT_CHECK_FAILED, "relu-to-tanh");
  CHECK(report == NULL && notices.errors == 1 && notices.texts > 0);
  options.trust_rules = 1;
  options.check = 1;
  CHECK_FAILS(weft_model_optimize(model, &options, NULL), WEFT_CHECK_FAILED, "outputs differ by");
  char* text = text_of(model);
  CHECK(strcmp(text, kRelus) == 0);
  free(text);
  const double tolerance = 10;
  options.check_tolerance = &tolerance;
  CHECK(weft_model_optimize(model, &options, NULL) == WEFT_OK);
  text = text_of(model);
  CHECK(strstr(text, "onnx.Tanh") != NULL);
  free(text);
  weft_model_free(model);
}

static void refuses_tensors(void) {
  weft_session* session = session_of(kSums);
  weft_outputs* outputs = NULL;
  const weft_tensor good[] = {f32_2x2("a", kA), f32_2x2("b", kB)};
  weft_tensor bad[2];
/* One field of `good` is changed. */
#define REFUSED(change, text)                                                                    \
  do {                                                                                           \
    memcpy(bad, good, sizeof bad);                                                               \
    (change);                                                                                    \
    CHECK_FAILS(weft_session_run(session, bad, 2, NULL, &outputs), WEFT_INVALID_ARGUMENT, text); \
  } while (0)
  REFUSED(bad[1].name = "c", "unknown input 'c'");
  REFUSED(bad[1].name = NULL, "the name of a tensor is NULL");
  REFUSED(bad[1].dtype = 99, "input 'b' has dtype 99");
  REFUSED(bad[1].dtype = WEFT_I32, "input 'b' is i32[2,2], expected f32[2,2]");
  REFUSED(bad[1].dims = NULL, "input 'b': dims is NULL");
  REFUSED(bad[1].data = NULL, "input 'b': data is NULL");
  REFUSED(bad[1].num_bytes = 8, "input 'b' has 8 bytes, but f32 [2,2] needs 16");
  const int64_t negative[] = {-2, -2}, huge[] = {INT64_C(1) << 62, INT64_C(1) << 62};
  REFUSED(bad[1].dims = negative, "a dimension of size -2");
  REFUSED(bad[1].dims = huge, "needs more than there are");
  REFUSED(bad[0].size = 0, "the size of weft_tensor is 0");
  REFUSED(bad[1].size = 8, "vary in size");
  CHECK_FAILS(weft_session_run(session, good, 1, NULL, &outputs), WEFT_INVALID_ARGUMENT,
              "'b' is not given");
  CHECK_FAILS(weft_session_run(session, NULL, 1, NULL, &outputs), WEFT_INVALID_ARGUMENT, "is NULL");
  CHECK(outputs == NULL);
  weft_session_free(session);
}

static void refuses_models_and_options(void) {
  weft_model *model = from_text(kRelus), *none = model;
  CHECK_FAILS(weft_model_load("no.onnx", NULL, &none), WEFT_INVALID_ARGUMENT, "no.onnx");
  CHECK(none == NULL);
  CHECK_FAILS(weft_model_load(NULL, NULL, &none), WEFT_INVALID_ARGUMENT, "the path is NULL");
  CHECK_FAILS(weft_model_load(bert, NULL, NULL), WEFT_INVALID_ARGUMENT, "is NULL");
  CHECK_FAILS(weft_model_from_bytes("not a model", 11, NULL, &none), WEFT_INVALID_ARGUMENT, "byte");
  CHECK_FAILS(weft_model_from_text("module {", NULL, &none), WEFT_INVALID_ARGUMENT, "<text>:1:");
  CHECK_FAILS(weft_model_save(model, "model.pt", NULL), WEFT_INVALID_ARGUMENT, ".onnx or .ir");
  CHECK_FAILS(weft_model_optimize(NULL, NULL, NULL), WEFT_INVALID_ARGUMENT, "the model is NULL");
  weft_optimize_options options = {.size = sizeof options, .pipeline = "simplfy"};
  CHECK_FAILS(weft_model_optimize(model, &options, NULL), WEFT_INVALID_ARGUMENT,
              "did you mean 'simplify'");
  options.size = 0;
  CHECK_FAILS(weft_model_optimize(model, &options, NULL), WEFT_INVALID_ARGUMENT,
              "the size of weft_optimize_options is 0, expected sizeof(weft_optimize_options)");
  weft_session* session = NULL;
  const weft_session_options rounded = {.size = sizeof rounded, .matmul_precision = "bf16"};
  CHECK_FAILS(weft_session_create(model, &rounded, &session), WEFT_INVALID_ARGUMENT,
              "matmul precision bf16 rounds factors: it needs numerics approximate");
  const weft_session_options threads = {.size = sizeof threads, .threads = -1};
  CHECK_FAILS(weft_session_create(model, &threads, &session), WEFT_INVALID_ARGUMENT,
              "threads is -1");
  CHECK(session == NULL);
  weft_model_free(model);
}

static void refuses_what_no_kernel_runs(void) {
  weft_session* session = session_of(kUnknownOp);
  const int64_t dims[] = {2};
  const weft_tensor x = {.size = sizeof x,
                         .name = "x",
                         .dims = dims,
                         .rank = 1,
                         .data = kA,
                         .num_bytes = 2 * sizeof *kA,
                         .dtype = WEFT_F32};
  weft_outputs* outputs = NULL;
  CHECK_FAILS(weft_session_run(session, &x, 1, NULL, &outputs), WEFT_UNIMPLEMENTED, "acme.twice");
  weft_session_free(session);
}

/* What programs built against a later header would pass. */
static void tests_options_of_a_later_version(void) {
  struct {
    weft_save_options known;
    int64_t later;
  } options = {.known = {.size = sizeof options}};
  weft_model* model = from_text(kRelus);
  weft_bytes* bytes = NULL;
  CHECK(weft_model_to_bytes(model, &options.known, &bytes) == WEFT_OK);
  weft_bytes_free(bytes);
  options.later = 1;
  CHECK_FAILS(weft_model_to_bytes(model, &options.known, &bytes), WEFT_INVALID_ARGUMENT,
              "does not know");
  CHECK(bytes == NULL);
  weft_model_free(model);
}

void refuses_what_is_wrong(void) {
  tests_checks();
  refuses_tensors();
  refuses_models_and_options();
  refuses_what_no_kernel_runs();
  tests_options_of_a_later_version();
}
