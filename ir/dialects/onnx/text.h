// Operators on sequences of words, which are numbers here.
#pragma once

#include <array>

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

void LoadTextOps(IrContext& context);

}  // namespace weft::ir::ops
