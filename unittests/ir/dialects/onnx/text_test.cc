#include "ir/dialects/onnx/text.h"

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

class TextOps : public InferTest {
 protected:
  std::string Count(Value x, Ints counts, Ints indexes, int64_t min = 1, int64_t max = 2) {
    return Run<ops::TfIdfVectorizer>({x}, {.max_gram_length = max,
                                           .max_skip_count = 0,
                                           .min_gram_length = min,
                                           .mode = ops::TextWeight::kTf,
                                           .ngram_counts = counts,
                                           .ngram_indexes = indexes,
                                           .pool_int64s = Ints{2, 3, 5, 4}});
  }
};

TEST_F(TextOps, HasAColumnPerIndex) {
  EXPECT_EQ(Count(X({7}, DataType::kI64), {0, 2}, {0, 4, 1}), "tensor<5xf32>");
  EXPECT_EQ(Count(X({n, 7}, DataType::kI32), {0}, {0, 1, 2, 3}), "tensor<Nx4xf32>");
}

TEST_F(TextOps, NamesWhatDoesNotFit) {
  const Value x = X({7}, DataType::kI64);
  EXPECT_EQ(Count(X({7}), {0}, {0, 1, 2, 3}),
            "onnx.TfIdfVectorizer: x is f32 but must be i32, i64 or str");
  EXPECT_EQ(Count(x, {0, 3}, {0, 1, 2, 3}),
            "onnx.TfIdfVectorizer: ngram_counts [0,3] do not divide a pool of 4");
  EXPECT_EQ(Count(x, {0, 2}, {0, 1}),
            "onnx.TfIdfVectorizer: the pool has 3 n-grams but there are 2 ngram_indexes");
  EXPECT_EQ(Count(x, {0}, {0, 1, -2, 3}), "onnx.TfIdfVectorizer: an index is -2");
  EXPECT_EQ(Count(x, {0}, {0, 1, 2, 3}, 2, 1), "onnx.TfIdfVectorizer: n-grams of 2 to 1 words");
}

constexpr DataType kStr = DataType::kString;

TEST_F(TextOps, JoinStringsThatAreBroadcast) {
  EXPECT_EQ(Run<ops::StringConcat>({X({n, 1}, kStr), X({3}, kStr)}), "tensor<Nx3xstr>");
  EXPECT_EQ(Run<ops::StringConcat>({X({2}, kStr), X({3}, kStr)}),
            "onnx.StringConcat: x [2] and y [3] do not broadcast");
  EXPECT_EQ(Run<ops::StringConcat>({X({2}, kStr), X({2})}),
            "onnx.StringConcat: y is f32 but must be str");
}

TEST_F(TextOps, CutStringsIntoAsManyPartsAsThereAre) {
  EXPECT_EQ(Run<ops::StringSplit>({X({n, 2}, kStr)}, {}, 2), "tensor<Nx2x-1xstr>, tensor<Nx2xi64>");
  EXPECT_EQ(Run<ops::StringSplit>({X({2})}, {}, 2), "onnx.StringSplit: x is f32 but must be str");
  EXPECT_EQ(Run<ops::StringSplit>({X({2}, kStr)}, {.maxsplit = -1}, 2),
            "onnx.StringSplit: maxsplit is -1");
}

TEST_F(TextOps, LoseStopwords) {
  EXPECT_EQ(Run<ops::StringNormalizer>({X({n}, kStr)}), "tensor<Nxstr>");
  EXPECT_EQ(Run<ops::StringNormalizer>({X({1, 4}, kStr)}, {.stopwords = Strings{"a"}}),
            "tensor<1x-1xstr>");
  EXPECT_EQ(Run<ops::StringNormalizer>({X({2, 4}, kStr)}),
            "onnx.StringNormalizer: x has 2 rows, expected 1");
  EXPECT_EQ(Run<ops::StringNormalizer>({X({4})}),
            "onnx.StringNormalizer: x is f32 but must be str");
}

}  // namespace
}  // namespace weft::ir
