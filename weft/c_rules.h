/* Rules of one's own in C: texts in memory, with functions for what the vocabulary cannot say; judging them; why a
 * rule does not apply. A part of weft/c_api.h, which includes it.
 *
 *   static int by_four(void* user_data, const weft_argument* const* arguments, size_t count) {
 *     const weft_argument* w = arguments[0];  // require "w is packed" native by_four(%w)
 *     return w->rank > 0 && w->dims[w->rank - 1] > 0 && w->dims[w->rank - 1] % 4 == 0;
 *   }
 *   const weft_function functions[] = {{"by_four", by_four, NULL}};
 *   const weft_rule_text rules = {.size = sizeof rules, .text = text, .functions = functions, .num_functions = 1};
 *   const weft_optimize_options options = {.size = sizeof options, .rules = &rules, .num_rules = 1}; */
#ifndef WEFT_C_RULES_H_
#define WEFT_C_RULES_H_

#include "weft/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t weft_argument_kind;
enum {
  WEFT_ARGUMENT_ABSENT = 0, /* an operand or an attribute that is not given */
  WEFT_ARGUMENT_VALUE = 1,  /* with data where it is a constant whose contents are known */
  WEFT_ARGUMENT_LIST = 2,   /* of values: elements */
  /* Attributes; the one of a kind is the first of its array. */
  WEFT_ARGUMENT_BOOL = 3,    /* integers: 0 or 1 */
  WEFT_ARGUMENT_INT = 4,     /* integers */
  WEFT_ARGUMENT_FLOAT = 5,   /* numbers */
  WEFT_ARGUMENT_STRING = 6,  /* strings */
  WEFT_ARGUMENT_INTS = 7,    /* integers */
  WEFT_ARGUMENT_FLOATS = 8,  /* numbers */
  WEFT_ARGUMENT_STRINGS = 9, /* strings */
  WEFT_ARGUMENT_DTYPE = 10,  /* dtype */
  WEFT_ARGUMENT_TENSOR = 11, /* as a value that is a constant */
  WEFT_ARGUMENT_OTHER = 12   /* type: its text */
};

/* What a match has for an argument of a function: valid during the call. */
typedef struct weft_argument {
  size_t size;
  weft_argument_kind kind;
  weft_dtype dtype;           /* of elements; 0 where it is not known */
  const char* type;           /* of a value or a tensor: "tensor<"N"x8xf32>"; else NULL */
  int32_t has_rank;           /* whether dims are known */
  size_t rank;                /* of a value or a tensor */
  const int64_t* dims;        /* -1 where open */
  const char* const* symbols; /* of open dims: "N", "2*N"; NULL where there is none */
  const void* data;           /* dense and row-major; of strings, weft_string; NULL: not known */
  size_t num_bytes;
  const int64_t* integers;
  const double* numbers;
  const weft_string* strings;
  const struct weft_argument* const* elements;
  size_t count; /* of the one of these four that there is */
} weft_argument;

/* Whether the constraint holds: 1 or 0. Less than 0 ends the call, in WEFT_CANCELLED. Called also by threads that are
 * not the caller's, by several at once, and very often: it must be quick, and give equal answers to equal arguments.
 * It must not call functions of models or sessions. */
typedef int (*weft_function_fn)(void* user_data, const weft_argument* const* arguments,
                                size_t num_arguments);

/* This has no size and never changes. */
typedef struct weft_function {
  const char* name; /* in the text */
  weft_function_fn holds;
  void* user_data;
} weft_function;

struct weft_rule_text {
  size_t size;
  const char* text;   /* of rules: drr/text/rule_text.h has the grammar */
  const char* origin; /* in messages, as the name of a file is; NULL: <rules> */
  const weft_function* functions;
  size_t num_functions;
};

/* The rules as they were understood. Mistakes but the one that is returned are error notices. */
WEFT_API weft_code weft_rules_print(const weft_rule_text* rules, weft_notice_fn notice,
                                    void* user_data, weft_bytes** text);

typedef struct weft_judge_options {
  size_t size;
  double seconds_a_rule; /* of CPU time; 0: 2 */
  uint64_t seed;         /* 0: 1 */
  weft_notice_fn notice;
  int (*stop)(void* user_data); /* asked now and then; not 0 ends in WEFT_CANCELLED */
  void* user_data;              /* of both */
} weft_judge_options;

/* Tries each rule on programs that are made from it, without Z3: what ir-opt --verify-rules proves is "tested" here. An
 * array of objects: rule, numerics, verdict ("tested", "refuted", "unjudged"), badge, why, counterexample, programs,
 * comparisons. Fields may be added. */
WEFT_API weft_code weft_rules_judge(const weft_rule_text* rules, const weft_judge_options* options,
                                    weft_bytes** json);

/* What rules may name, as an object: operators [{name, doc, operands [{name, arity}], results [{name, arity}],
 * attributes [{name, kind, optional, has_default, values}]}], arity being "one", "optional" or "variadic"; constraints
 * and computed [{name, arguments, least, doc}], arguments being kinds in words, of which the first `least` must be
 * given; traits [name]. Fields may be added. */
WEFT_API weft_code weft_rules_vocabulary(weft_bytes** json);

/* Why the rule does not apply in a run with these options, or where it does, in lines: before the first pass that has
 * it, and after the run. `what` is a rule, or RULE@VALUE: a name, or %N as the program after the run numbers it. The
 * model stays what it is; nothing is checked. */
WEFT_API weft_code weft_model_explain(const weft_model* model, const char* what,
                                      const weft_optimize_options* options, weft_bytes** text);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_C_RULES_H_ */
