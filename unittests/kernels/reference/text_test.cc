#include "ir/dialects/onnx/text.h"

#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using ops::TextWeight;
using ops::TfIdfVectorizer;

// The pool: 2, 3, 5, 4 and the pairs 5 6, 7 8, 6 7.
std::vector<float> Count(Tensor x, ir::Shape result, int64_t min, int64_t max, int64_t skip,
                         TextWeight mode = TextWeight::kTf) {
  return ValuesOf<float>(
      RunOp<TfIdfVectorizer>({std::move(x)},
                             {.max_gram_length = max,
                              .max_skip_count = skip,
                              .min_gram_length = min,
                              .mode = mode,
                              .ngram_counts = {0, 4},
                              .ngram_indexes = {0, 1, 2, 3, 4, 5, 6},
                              .pool_int64s = ir::Ints{2, 3, 5, 4, 5, 6, 7, 8, 6, 7},
                              .weights = ir::Floats{1, 1, 1, 1, 2, 3, 4}},
                             {DataType::kF32, std::move(result)}));
}
using Floats = std::vector<float>;

TEST(ReferenceTfIdfVectorizer, CountsNgrams) {
  const auto words = [] { return I32({12}, {1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8}); };
  EXPECT_EQ(Count(words(), {7}, 2, 2, 0), (Floats{0, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(Count(words(), {7}, 1, 2, 0), (Floats{0, 3, 1, 0, 1, 1, 1}));
  // 7 . 8 does not occur, 7 5 6 8: 7 . 6 neither; at a distance of 3 there is 7 5 6 8.
  EXPECT_EQ(Count(words(), {7}, 2, 2, 5), (Floats{0, 0, 0, 0, 1, 3, 1}));
  EXPECT_EQ(Count(words(), {7}, 2, 2, 0, TextWeight::kTfIdf), (Floats{0, 0, 0, 0, 2, 3, 4}));
  EXPECT_EQ(Count(words(), {7}, 2, 2, 5, TextWeight::kIdf), (Floats{0, 0, 0, 0, 2, 3, 4}));
}

TEST(ReferenceTfIdfVectorizer, CountsInEachRow) {
  EXPECT_EQ(Count(I64({2, 3}, {2, 2, 4, 5, 6, 7}), {2, 7}, 1, 2, 0),
            (Floats{2, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1}));
}

}  // namespace
}  // namespace weft::kernels
