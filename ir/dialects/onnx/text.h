// Operators on text: tensors of strings, and sequences of words, which may be numbers.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <tuple>

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

enum class TextWeight : uint8_t { kTf, kIdf, kTfIdf };
constexpr std::array<std::string_view, 3> EnumNames(TextWeight) { return {"TF", "IDF", "TFIDF"}; }

// Counts how often each n-gram of a pool occurs in x, which is [C] or [N, C]: n words at equal
// distances, of 1 to max_skip_count + 1. The pool holds all of min_gram_length words after each other,
// and so on; ngram_counts says where those of 1, 2... words begin. The count of n-gram i is entry
// ngram_indexes[i] of the result, which has [the largest of these + 1] columns; IDF puts the weight of
// the n-gram where it occurs at all, TFIDF multiplies by it.
struct TfIdfVectorizer {
  static constexpr OpInfo kInfo = {.name = "onnx.TfIdfVectorizer",
                                   .operands = {"x"},
                                   .onnx = "TfIdfVectorizer",
                                   .since = 9,
                                   .doc = "counts n-grams"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> max_gram_length{};
    Slot<int64_t> max_skip_count{};
    Slot<int64_t> min_gram_length{};
    Slot<TextWeight> mode{};
    Slot<Ints> ngram_counts{};
    Slot<Ints> ngram_indexes{};
    Slot<std::optional<Ints>> pool_int64s{};
    Slot<std::optional<Strings>> pool_strings{};
    Slot<std::optional<Floats>> weights{};
    static constexpr auto Fields() {
      return std::tuple(
          Field{"max_gram_length", &Attrs::max_gram_length},
          Field{"max_skip_count", &Attrs::max_skip_count},
          Field{"min_gram_length", &Attrs::min_gram_length}, Field{"mode", &Attrs::mode},
          Field{"ngram_counts", &Attrs::ngram_counts},
          Field{"ngram_indexes", &Attrs::ngram_indexes}, Field{"pool_int64s", &Attrs::pool_int64s},
          Field{"pool_strings", &Attrs::pool_strings}, Field{"weights", &Attrs::weights});
    }
  };
  static bool Infer(InferContext& c);
};

// x and y are broadcast.
struct StringConcat : PlainOp {
  static constexpr OpInfo kInfo = {.name = "onnx.StringConcat",
                                   .operands = {"x", "y"},
                                   .onnx = "StringConcat",
                                   .since = 20,
                                   .doc = "each string of x, followed by that of y"};
  static bool Infer(InferContext& c);
};

// The parts of a string are a row of the result, as long as the longest and filled up with empty
// strings; `lengths` says how many are parts. Without a delimiter, or with an empty one, white space
// separates parts, and no part is empty. After maxsplit parts the rest is one more.
struct StringSplit {
  static constexpr OpInfo kInfo = {.name = "onnx.StringSplit",
                                   .operands = {"x"},
                                   .results = {"parts", "lengths"},
                                   .onnx = "StringSplit",
                                   .since = 20,
                                   .doc = "strings, cut into parts"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<std::string>> delimiter{};
    Slot<std::optional<int64_t>> maxsplit{};  // no limit
    static constexpr auto Fields() {
      return std::tuple(Field{"delimiter", &Attrs::delimiter}, Field{"maxsplit", &Attrs::maxsplit});
    }
  };
  static bool Infer(InferContext& c);
};

enum class CaseChange : uint8_t { kNone, kLower, kUpper };
constexpr std::array<std::string_view, 3> EnumNames(CaseChange) {
  return {"NONE", "LOWER", "UPPER"};
}

// x is [C] or [1, C]. Where every string is a stopword the result is one empty string.
struct StringNormalizer {
  static constexpr OpInfo kInfo = {.name = "onnx.StringNormalizer",
                                   .operands = {"x"},
                                   .onnx = "StringNormalizer",
                                   .since = 10,
                                   .doc = "strings without stopwords, in lower or upper case"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<CaseChange> case_change_action{};
    Slot<int64_t> is_case_sensitive{};  // of the stopwords
    Slot<std::optional<std::string>> locale{};
    Slot<std::optional<Strings>> stopwords{};
    static constexpr auto Fields() {
      return std::tuple(Field{"case_change_action", &Attrs::case_change_action, CaseChange::kNone},
                        Field{"is_case_sensitive", &Attrs::is_case_sensitive, int64_t{0}},
                        Field{"locale", &Attrs::locale}, Field{"stopwords", &Attrs::stopwords});
    }
  };
  static bool Infer(InferContext& c);
};

void LoadTextOps(IrContext& context);

}  // namespace weft::ir::ops
