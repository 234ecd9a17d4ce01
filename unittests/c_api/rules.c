/* Rules of one's own through the C API. */
#include "c_api_test.h"

/* relu(relu(x)) => relu(x), where x fits */
static const char* const kReluRelu =
    "rule relu-relu {\n"
    "  numerics exact\n"
    "  source {\n"
    "    %0 = onnx.Relu(%x)\n"
    "    %1 = onnx.Relu(%0)\n"
    "  }\n"
    "  require \"x fits\" native fits(%x, 3, array[4,5], \"text\", 0.5)\n"
    "  result { !0 = onnx.Relu(%x) }\n"
    "  replace %1 with !0\n"
    "}\n";

/* Of the model kRelus alone: judging a rule asks of others, in other threads. */
struct asked {
  int answer, of_the_model;
};
static int fits(void* user_data, const weft_argument* const* arguments, size_t num_arguments) {
  struct asked* asked = user_data;
  const weft_argument* x = arguments[0];
  if (num_arguments != 5 || x->size < sizeof *x || x->kind != WEFT_ARGUMENT_VALUE) return -1;
  if (strcmp(x->type, "tensor<\"N\"x3xf32>") == 0) {
    asked->of_the_model = 1;
    CHECK(x->dtype == WEFT_F32 && x->has_rank && x->rank == 2 && x->data == NULL);
    CHECK(x->dims[0] == -1 && strcmp(x->symbols[0], "N") == 0);
    CHECK(x->dims[1] == 3 && x->symbols[1] == NULL);
    CHECK(arguments[1]->kind == WEFT_ARGUMENT_INT && arguments[1]->integers[0] == 3);
    CHECK(arguments[2]->kind == WEFT_ARGUMENT_INTS && arguments[2]->count == 2);
    CHECK(arguments[2]->integers[1] == 5);
    CHECK(arguments[3]->kind == WEFT_ARGUMENT_STRING && arguments[3]->strings[0].num_bytes == 4);
    CHECK(arguments[4]->kind == WEFT_ARGUMENT_FLOAT && arguments[4]->numbers[0] == 0.5);
  }
  return asked->answer;
}

static size_t operations_after(weft_code expected, struct asked* asked, int32_t trust_rules) {
  const weft_function functions[] = {{"fits", fits, asked}};
  const weft_rule_text rules = {
      .size = sizeof rules, .text = kReluRelu, .functions = functions, .num_functions = 1};
  const weft_optimize_options options = {.size = sizeof options,
                                         .pipeline = "none",
                                         .trust_rules = trust_rules,
                                         .rules = &rules,
                                         .num_rules = 1};
  weft_model* model = from_text(kRelus);
  CHECK(weft_model_optimize(model, &options, NULL) == expected);
  size_t after = 0;
  CHECK(weft_model_num_operations(model, &after) == WEFT_OK);
  weft_model_free(model);
  return after;
}

static void tests_functions(void) {
  struct asked asked = {.answer = 1};
  CHECK(operations_after(WEFT_OK, &asked, 0) == 2 && asked.of_the_model);
  asked.answer = 0;
  CHECK(operations_after(WEFT_OK, &asked, 1) == 3);
  asked.answer = -1;
  CHECK(operations_after(WEFT_CANCELLED, &asked, 0) == 3);
  CHECK(operations_after(WEFT_CANCELLED, &asked, 1) == 3);
}

static void tests_printing_and_judging(void) {
  weft_rule_text rules = {.size = sizeof rules, .text = kReluRelu, .origin = "mine"};
  weft_bytes* text = NULL;
  CHECK_FAILS(weft_rules_print(&rules, NULL, NULL, &text), WEFT_INVALID_ARGUMENT, "mine:7:");
  struct asked asked = {.answer = 1};
  const weft_function functions[] = {{"fits", fits, &asked}};
  rules.functions = functions;
  rules.num_functions = 1;
  CHECK(weft_rules_print(&rules, NULL, NULL, &text) == WEFT_OK);
  CHECK(strstr(weft_bytes_data(text), "native fits(%x, 3, array[4,5], \"text\", 0.5)") != NULL);
  weft_bytes_free(text);
  CHECK(weft_rules_judge(&rules, NULL, &text) == WEFT_OK);
  CHECK(strstr(weft_bytes_data(text), "\"verdict\":\"tested\"") != NULL);
  weft_bytes_free(text);
  asked.answer = -1;
  CHECK_FAILS(weft_rules_judge(&rules, NULL, &text), WEFT_CANCELLED, "stopped");
  CHECK(text == NULL);
  const weft_judge_options options = {.size = sizeof options, .seconds_a_rule = -1};
  CHECK_FAILS(weft_rules_judge(&rules, &options, &text), WEFT_INVALID_ARGUMENT, "seconds_a_rule");
  const weft_function no_function[] = {{"fits", NULL, NULL}};
  rules.functions = no_function;
  CHECK_FAILS(weft_rules_judge(&rules, NULL, &text), WEFT_INVALID_ARGUMENT, "'fits' is NULL");
  CHECK(weft_rules_vocabulary(&text) == WEFT_OK);
  CHECK(strstr(weft_bytes_data(text), "\"name\":\"onnx.Relu\"") != NULL);
  CHECK(strstr(weft_bytes_data(text), "\"name\":\"rank_is\"") != NULL);
  weft_bytes_free(text);
}

static void tests_explaining(void) {
  weft_model* model = NULL;
  weft_bytes* text = NULL;
  CHECK(weft_model_load(bert, NULL, &model) == WEFT_OK);
  const weft_optimize_options options = {.size = sizeof options, .pipeline = "fuse"};
  CHECK(weft_model_explain(model, "fuse-attention", &options, &text) == WEFT_OK);
  CHECK(strstr(weft_bytes_data(text), "fuse-attention was applied 2 times") != NULL);
  CHECK(strstr(weft_bytes_data(text), "after the run") != NULL);
  weft_bytes_free(text);
  CHECK_FAILS(weft_model_explain(model, "fuse-atention", &options, &text), WEFT_INVALID_ARGUMENT,
              "did you mean 'fuse-attention'");
  CHECK_FAILS(weft_model_explain(model, "fuse-attention@nowhere", &options, &text),
              WEFT_INVALID_ARGUMENT, "unknown value 'nowhere'");
  CHECK(weft_model_summary(model, &text) == WEFT_OK);
  CHECK(strstr(weft_bytes_data(text), "{\"name\":\"onnx.Erf\",\"count\":2}") != NULL);
  weft_bytes_free(text);
  weft_model_free(model);
}

void tests_rules(void) {
  tests_functions();
  tests_printing_and_judging();
  tests_explaining();
}
