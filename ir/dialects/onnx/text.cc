#include "ir/dialects/onnx/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir::ops {
namespace {

constexpr int64_t kMaxLength = 1 << 16;  // of an n-gram, and of a distance

// The pool is n-grams of the lengths that ngram_counts says, as many as ngram_indexes has.
bool CheckPool(InferContext& c, const TfIdfVectorizer::Attrs<Plain>& attrs) {
  const size_t words = attrs.pool_int64s    ? attrs.pool_int64s->size()
                       : attrs.pool_strings ? attrs.pool_strings->size()
                                            : 0;
  size_t ngrams = 0;
  for (size_t i = 0; i < attrs.ngram_counts.size(); ++i) {
    const int64_t begin = attrs.ngram_counts[i];
    const int64_t end =
        i + 1 < attrs.ngram_counts.size() ? attrs.ngram_counts[i + 1] : static_cast<int64_t>(words);
    const auto length = static_cast<int64_t>(i) + 1;
    if (begin < 0 || end < begin || end > static_cast<int64_t>(words) ||
        (end - begin) % length != 0)
      return c.Fail(fmt::format("ngram_counts {} do not divide a pool of {}",
                                IntsText(attrs.ngram_counts), words));
    ngrams += static_cast<size_t>((end - begin) / length);
  }
  if (ngrams != attrs.ngram_indexes.size())
    return c.Fail(fmt::format("the pool has {} n-grams but there are {} ngram_indexes", ngrams,
                              attrs.ngram_indexes.size()));
  if (attrs.weights && attrs.weights->size() != ngrams)
    return c.Fail(fmt::format("has {} weights for {} n-grams", attrs.weights->size(), ngrams));
  return true;
}

}  // namespace

bool TfIdfVectorizer::Infer(InferContext& c) {
  for (std::string_view name : {"max_gram_length", "max_skip_count", "min_gram_length", "mode",
                                "ngram_counts", "ngram_indexes"})
    if (!c.attrs().Get(name)) return c.Unknown();
  const auto attrs = c.attrs_of<TfIdfVectorizer>();
  const DataType dtype = DtypeOf(c, 0);
  if (!CheckTensors(c) || !CheckRank(c, 0, 1, 2)) return false;
  if (dtype != DataType::kNull && dtype != DataType::kI32 && dtype != DataType::kI64 &&
      dtype != DataType::kString)
    return c.Fail(fmt::format("x is {} but must be i32, i64 or str", DataTypeName(dtype)));
  if (attrs.min_gram_length < 1 || attrs.max_gram_length < attrs.min_gram_length ||
      attrs.max_gram_length > kMaxLength)
    return c.Fail(
        fmt::format("n-grams of {} to {} words", attrs.min_gram_length, attrs.max_gram_length));
  if (attrs.max_skip_count < 0 || attrs.max_skip_count > kMaxLength)
    return c.Fail(fmt::format("max_skip_count is {}", attrs.max_skip_count));
  if (!CheckPool(c, attrs)) return false;
  int64_t columns = 0;
  for (const int64_t index : attrs.ngram_indexes) {
    if (index < 0 || index >= INT32_MAX) return c.Fail(fmt::format("an index is {}", index));
    columns = std::max(columns, index + 1);
  }
  Dims dims = DimsOf(c, 0);
  if (dims) dims->back() = columns;
  return SetTensor(c, 0, DataType::kF32, dims);
}

bool StringConcat::Infer(InferContext& c) {
  Dims dims;
  if (!CheckTensors(c) || !CheckDtype(c, 0, DataType::kString) ||
      !CheckDtype(c, 1, DataType::kString) || !Broadcast(c, {0, 1}, &dims))
    return false;
  return SetTensor(c, 0, DataType::kString, dims);
}

bool StringSplit::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckDtype(c, 0, DataType::kString)) return false;
  const auto attrs = c.attrs_of<StringSplit>();
  if (attrs.maxsplit && *attrs.maxsplit < 0)
    return c.Fail(fmt::format("maxsplit is {}", *attrs.maxsplit));
  Dims dims = DimsOf(c, 0);
  if (!SetTensor(c, 1, DataType::kI64, dims)) return false;
  if (dims) dims->push_back(kUnknownDim);
  return SetTensor(c, 0, DataType::kString, dims);
}

bool StringNormalizer::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckDtype(c, 0, DataType::kString) || !CheckRank(c, 0, 1, 2))
    return false;
  Dims dims = DimsOf(c, 0);
  if (dims && dims->size() == 2 && IsStaticDim(dims->front()) && dims->front() != 1)
    return c.Fail(fmt::format("x has {} rows, expected 1", dims->front()));
  const auto attrs = c.attrs_of<StringNormalizer>();
  if (dims && attrs.stopwords && !attrs.stopwords->empty()) dims->back() = kUnknownDim;
  return SetTensor(c, 0, DataType::kString, dims);
}

void LoadTextOps(IrContext& context) {
  AddOps<TfIdfVectorizer, StringConcat, StringSplit, StringNormalizer>(context);
}

}  // namespace weft::ir::ops
