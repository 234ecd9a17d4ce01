/* Weft in C: load a model, optimise it, save it, run it. Link with -lweft (pkg-config weft, weft::c in CMake).
 *
 *   weft_model* model = NULL;
 *   if (weft_model_load("bert.onnx", NULL, &model) != WEFT_OK) return fail(weft_error_message());
 *   weft_optimize_options options = {.size = sizeof options, .pipeline = "fuse", .check = 3};
 *   if (weft_model_optimize(model, &options, NULL) != WEFT_OK) return fail(weft_error_message());
 *   weft_model_free(model);
 *
 * Errors: what can fail returns a weft_code, and leaves one line of text in weft_error_message(). What it
 * should have made is NULL then, and nothing is half done.
 *
 * Structs begin with their size, which is to be set to sizeof; all else may be zero, which is the default. So
 * they can grow: a program runs with any later library of the same SONAME, and what it does not know of is zero.
 * Options may be NULL as a whole. An array of such structs has those of one size. Flags are 0 or 1.
 *
 * Memory: handles are freed by their ..._free, which takes NULL, too. Text and arrays that a function takes are
 * read before it returns and may go away then; what is reached through a handle lives as long as the handle.
 *
 * Threads: functions of one model and of its sessions may be called by several threads, and weft_session_run
 * by any number at once; a handle is freed by one of them, when no other uses it. Callbacks are called by the
 * thread that called the function, and must not call functions of models or sessions, but may free handles that
 * this function does not use. */
#ifndef WEFT_C_API_H_
#define WEFT_C_API_H_

#include <stddef.h> /* NOLINT(modernize-deprecated-headers): of C */
#include <stdint.h> /* NOLINT(modernize-deprecated-headers) */

#if defined(__GNUC__)
#define WEFT_API __attribute__((visibility("default")))
#else
#define WEFT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- errors and versions ------------------------------------------------------------------------ */

typedef int32_t weft_code;
enum {
  WEFT_OK = 0,
  WEFT_INVALID_ARGUMENT = 1,   /* a model, option, input or file is wrong */
  WEFT_UNIMPLEMENTED = 2,      /* right, but not supported */
  WEFT_CHECK_FAILED = 3,       /* a rule is refuted, or outputs differ */
  WEFT_CANCELLED = 4,          /* by `stop` */
  WEFT_RESOURCE_EXHAUSTED = 5, /* not enough memory */
  WEFT_INTERNAL = 6            /* a fault of Weft's, or an exception of a callback's */
};

/* What went wrong in the last call of this thread that did not return WEFT_OK: one line, valid until the next
 * such call of this thread; "" when there was none. */
WEFT_API const char* weft_error_message(void);

/* Grows with every addition to this header. */
#define WEFT_C_API_VERSION 6
WEFT_API int32_t weft_c_api_version(void); /* of the library */
WEFT_API const char* weft_version(void);   /* of the library: "0.1.0" */

/* --- models ------------------------------------------------------------------------------------- */

typedef struct weft_model weft_model;

typedef int32_t weft_notice_kind;
enum {
  WEFT_NOTICE_WARNING = 1, /* one line */
  WEFT_NOTICE_ERROR = 2,   /* one line: another mistake than the one returned */
  WEFT_NOTICE_TEXT = 3     /* lines, such as a program that shows why a rule is refuted */
};
typedef void (*weft_notice_fn)(void* user_data, weft_notice_kind kind, const char* text);

typedef struct weft_load_options {
  size_t size;
  int32_t fold_default_inputs; /* inputs that may be left out become constants */
  int32_t allow_hard_links;    /* external data in files that have other names, too */
  weft_notice_fn notice;
  void* user_data; /* of notice */
} weft_load_options;

/* Of .onnx (opsets 1 to 27) or .ir, Weft's text. Large weights stay in the file, which must not be changed in
 * place while the model or anything made of it lives. */
WEFT_API weft_code weft_model_load(const char* path, const weft_load_options* options,
                                   weft_model** model);
/* Of ONNX in memory; external data is refused. */
WEFT_API weft_code weft_model_from_bytes(const void* bytes, size_t num_bytes,
                                         const weft_load_options* options, weft_model** model);
/* Of Weft's text. */
WEFT_API weft_code weft_model_from_text(const char* text, const weft_load_options* options,
                                        weft_model** model);
/* Another model with the same weights, which are shared. */
WEFT_API weft_code weft_model_clone(const weft_model* model, weft_model** clone);
WEFT_API void weft_model_free(weft_model* model);
WEFT_API weft_code weft_model_num_operations(const weft_model* model, size_t* num_operations);

typedef struct weft_save_options {
  size_t size;
  int32_t full_weights;     /* .ir: weights in the text, and in no side file */
  int32_t inline_functions; /* ONNX: fused operations as plain ONNX, without functions */
  int64_t target_opset;     /* ONNX, 13 to 27; 0: that of the model that was read */
} weft_save_options;

typedef struct weft_bytes weft_bytes;
WEFT_API const char* weft_bytes_data(const weft_bytes* bytes); /* followed by a zero */
WEFT_API size_t weft_bytes_size(const weft_bytes* bytes);
WEFT_API void weft_bytes_free(weft_bytes* bytes);

/* By the suffix of the path, .onnx or .ir. The file is complete or untouched. */
WEFT_API weft_code weft_model_save(const weft_model* model, const char* path,
                                   const weft_save_options* options);
/* ONNX of less than 2 GiB. */
WEFT_API weft_code weft_model_to_bytes(const weft_model* model, const weft_save_options* options,
                                       weft_bytes** bytes);
/* An object: inputs and outputs [{name, type}]; operators [{name, count}], of operations. Fields may be added. */
WEFT_API weft_code weft_model_summary(const weft_model* model, weft_bytes** json);
/* Weft's text, without the contents of long constants. */
WEFT_API weft_code weft_model_to_text(const weft_model* model, weft_bytes** text);

/* --- optimising --------------------------------------------------------------------------------- */

/* These two have no size and never change. */
typedef struct weft_dim {
  const char* name; /* of a symbolic dimension */
  int64_t value;
} weft_dim;
typedef struct weft_input_shape {
  const char* input;
  const int64_t* dims;
  size_t rank;
} weft_input_shape;

typedef struct weft_progress {
  size_t size;
  const char* pass;     /* that begins */
  size_t number, count; /* from 1; of passes */
  size_t operations;    /* of the program before it */
} weft_progress;

typedef struct weft_rule_text weft_rule_text; /* of weft/c_rules.h, as all that is about rules */
typedef struct weft_report weft_report;

typedef struct weft_optimize_options {
  size_t size;
  /* simplify (ONNX to ONNX), fuse (for Weft's kernels), ort (for ONNX Runtime), ...; `ir-opt --list-passes`
   * tells of all. NULL: simplify. */
  const char* pipeline;
  const char* const* passes; /* instead of the pipeline */
  size_t num_passes;
  const char* const* rules_files; /* of rules that run before all passes, once judged */
  size_t num_rules_files;
  const char* const* enabled_rules;
  size_t num_enabled_rules;
  const char* const* disabled_rules;
  size_t num_disabled_rules;
  /* What rules may do to numbers: exact, reassociates, approximate or changes-meaning. NULL: reassociates. */
  const char* numerics;
  const weft_dim* dims; /* sizes of symbolic dimensions */
  size_t num_dims;
  const weft_input_shape* input_shapes; /* of inputs, where the model leaves sizes open */
  size_t num_input_shapes;
  const double* check_tolerance; /* of the largest element; NULL: what `numerics` allows */
  int64_t target_opset; /* of the ONNX model to be written; 0: that of the model that was read */
  int32_t check; /* sets of random inputs on which outputs before and after are compared, to 1000 */
  int32_t trust_rules;     /* those of files and texts are not judged */
  int32_t record_rewrites; /* every single one, in the report */
  weft_notice_fn notice;
  void (*progress)(void* user_data, const weft_progress* progress); /* before every pass */
  /* Asked around passes and runs of the check, and while rules are judged; not 0 ends in WEFT_CANCELLED. */
  int (*stop)(void* user_data);
  void* user_data;             /* of these three */
  const weft_rule_text* rules; /* behind those of files */
  size_t num_rules;
  int32_t picture; /* for weft_report_html */
} weft_optimize_options;

/* After an error, the refutation of a rule or a failed check among them, the model is what it was. `report`
 * may be NULL. */
WEFT_API weft_code weft_model_optimize(weft_model* model, const weft_optimize_options* options,
                                       weft_report** report);

typedef struct weft_report_counts {
  size_t size;
  size_t ops_before, ops_after, num_passes;
  size_t num_rules_applied;  /* different rules that were applied, */
  uint64_t num_applications; /* and how often all of them together */
  size_t num_rewrites;       /* with record_rewrites */
  size_t num_outputs;        /* that were compared, */
  double largest_difference; /* and by how much they differ, relative to their largest element */
  size_t num_warnings;
  double seconds; /* of all passes */
} weft_report_counts;

/* Fills as much of `counts` as its size says. */
WEFT_API weft_code weft_report_get_counts(const weft_report* report, weft_report_counts* counts);
/* A line per rule that was applied, one of the whole, those of the check; NULL without enough memory, as the next. */
WEFT_API const char* weft_report_text(const weft_report* report);
/* An object: ops_before, ops_after; before, after {operations, parameters, parameter_bytes, flops,
 * uncounted_operations, arena_bytes or null}; operators [{name, before, after}]; passes [{pass, ops_before, ops_after,
 * seconds}]; rules [{pass, rule, matched, applied, ops_erased, ops_created, declines [{because, count}]}]; rewrites
 * [{number, pass, rule, site, removed [name], added [name]}]; outputs [{name, difference, verdict}], difference null
 * where it is no number; check, lines of text; warnings [line]. Fields may be added. */
WEFT_API const char* weft_report_json(const weft_report* report);
/* With picture: a page for a browser that needs nothing else: both graphs, and what became what. Else NULL. */
WEFT_API const char* weft_report_html(const weft_report* report);
WEFT_API void weft_report_free(weft_report* report);

/* --- values ------------------------------------------------------------------------------------- */

/* Types of elements, with the numbers of ONNX's TensorProto.DataType. An element takes as many whole bytes as its
 * type needs, I4 and its like one each; BOOL is a byte, 0 or 1; STRING a weft_string. */
typedef int32_t weft_dtype;
enum {
  WEFT_F32 = 1,
  WEFT_U8 = 2,
  WEFT_I8 = 3,
  WEFT_U16 = 4,
  WEFT_I16 = 5,
  WEFT_I32 = 6,
  WEFT_I64 = 7,
  WEFT_STRING = 8,
  WEFT_BOOL = 9,
  WEFT_F16 = 10,
  WEFT_F64 = 11,
  WEFT_U32 = 12,
  WEFT_U64 = 13,
  WEFT_C64 = 14,
  WEFT_C128 = 15,
  WEFT_BF16 = 16,
  WEFT_F8E4M3FN = 17,
  WEFT_F8E4M3FNUZ = 18,
  WEFT_F8E5M2 = 19,
  WEFT_F8E5M2FNUZ = 20,
  WEFT_U4 = 21,
  WEFT_I4 = 22,
  WEFT_F4E2M1 = 23,
  WEFT_F8E8M0 = 24,
  WEFT_U2 = 25,
  WEFT_I2 = 26
};

/* "f32", ..., and the bytes of an element; NULL and 0 for a number that is none. */
WEFT_API const char* weft_dtype_name(weft_dtype dtype);
WEFT_API size_t weft_dtype_size(weft_dtype dtype);

/* An element of a tensor of strings. It has no size field and never changes. */
typedef struct weft_string {
  const char* data; /* num_bytes of them; those of outputs are followed by a zero */
  size_t num_bytes;
} weft_string;

/* Dense and row-major: num_bytes is the product of the dims times the size of an element. */
typedef struct weft_tensor { /* that is read: an input, or an output owned by the library */
  size_t size;
  const char* name;
  const int64_t* dims; /* outermost first */
  size_t rank;
  const void* data; /* of an input not copied, but for strings; of an output, may be written to */
  size_t num_bytes;
  weft_dtype dtype;
} weft_tensor;
typedef struct weft_buffer { /* that is written: an output in memory of the caller's */
  size_t size;
  const char* name;
  const int64_t* dims;
  size_t rank;
  void* data;
  size_t num_bytes;
  weft_dtype dtype;
} weft_buffer;

#ifdef __cplusplus
}
#endif

#include "weft/c_rules.h"   /* IWYU pragma: export */
#include "weft/c_session.h" /* IWYU pragma: export */
#include "weft/c_values.h"  /* IWYU pragma: export */

#endif /* WEFT_C_API_H_ */
