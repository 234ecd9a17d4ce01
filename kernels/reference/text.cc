// Counting n-grams.
#include "ir/dialects/onnx/text.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "kernels/reference/inferred.h"
#include "kernels/reference/reference.h"
#include "kernels/reference/strings_kernel.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;
using Attrs = AttrsOf<ops::TfIdfVectorizer>;
// Their numbers in the pool, by the words of n-grams.
using Pool = std::map<std::vector<int64_t>, std::vector<size_t>>;

Pool ReadPool(const Attrs& attrs, const ir::Ints& words) {
  Pool pool;
  size_t number = 0;
  for (size_t i = 0; i < attrs.ngram_counts.size(); ++i) {
    const size_t length = i + 1;
    const size_t end = length < attrs.ngram_counts.size()
                           ? static_cast<size_t>(attrs.ngram_counts[length])
                           : words.size();
    for (auto at = static_cast<size_t>(attrs.ngram_counts[i]); at < end; at += length)
      pool[{words.begin() + static_cast<std::ptrdiff_t>(at),
            words.begin() + static_cast<std::ptrdiff_t>(at + length)}]
          .push_back(number++);
  }
  return pool;
}

// How often each n-gram of the pool occurs in a row; single words have no distance.
std::vector<double> Count(const Attrs& attrs, const Pool& pool, std::span<const int64_t> row) {
  std::vector<double> counts(attrs.ngram_indexes.size());
  const auto size = static_cast<int64_t>(row.size());
  // Longer ones the pool does not have.
  const int64_t longest =
      std::min(attrs.max_gram_length, static_cast<int64_t>(attrs.ngram_counts.size()));
  for (int64_t length = attrs.min_gram_length; length <= longest; ++length) {
    const int64_t distances = length == 1 ? 1 : attrs.max_skip_count + 1;
    for (int64_t distance = 1; distance <= distances; ++distance) {
      const int64_t extent = (length - 1) * distance;
      for (int64_t at = 0; at + extent < size; ++at) {
        std::vector<int64_t> words;
        for (int64_t i = 0; i < length; ++i) words.push_back(row[at + i * distance]);
        const auto found = pool.find(words);
        if (found == pool.end()) continue;
        for (const size_t number : found->second) ++counts[number];
      }
      if (extent >= size) break;
    }
  }
  return counts;
}

// `words` are those of x.
void CountInRows(const Attrs& attrs, const Pool& pool, const std::vector<int64_t>& words,
                 const TensorView& x, const TensorView& y) {
  const auto rows = static_cast<size_t>(x.dims.size() == 2 ? x.dims[0] : 1);
  const auto length = static_cast<size_t>(x.dims.back());
  const auto columns = static_cast<size_t>(y.dims.back());
  std::vector<double> out(rows * columns);
  for (size_t r = 0; r < rows; ++r) {
    const std::vector<double> counts =
        Count(attrs, pool, std::span(words).subspan(r * length, length));
    for (size_t i = 0; i < counts.size(); ++i) {
      const double weight = attrs.weights ? double{(*attrs.weights)[i]} : 1;
      double value = counts[i];
      if (attrs.mode == ops::TextWeight::kIdf) value = counts[i] > 0 ? weight : 0;
      if (attrs.mode == ops::TextWeight::kTfIdf) value = counts[i] * weight;
      out[r * columns + static_cast<size_t>(attrs.ngram_indexes[i])] = value;
    }
  }
  WriteDoubles(out, y);
}

absl::Status TfIdfVectorizer(const Attrs& attrs, const KernelArgs& args) {
  const TensorView& x = args.inputs[0];
  CountInRows(attrs, ReadPool(attrs, *attrs.pool_int64s), ReadInts(x), x, args.outputs[0]);
  return absl::OkStatus();
}
absl::Status CheckTfIdfVectorizer(const KernelContext& context) {
  const ir::DataType dtype = context.input_type(0).dtype();
  if (dtype != ir::DataType::kI32 && dtype != ir::DataType::kI64)
    return context.Unsupported("words that are no numbers");
  if (!context.attrs_of<ops::TfIdfVectorizer>().pool_int64s)
    return context.InvalidArgument("needs pool_int64s for numbers");
  return CheckInferred(context);
}
const RegisterReference<ops::TfIdfVectorizer> kTfIdfVectorizer(&TfIdfVectorizer,
                                                               &CheckTfIdfVectorizer);

// A word that is a string has the number of its first place in the pool; those that are not there -1.
absl::StatusOr<std::vector<RuntimeValue>> TfIdfOfStrings(const Attrs& attrs,
                                                         const KernelArgs& args) {
  const TensorView& x = args.inputs[0];
  if (x.dims.empty() || x.dims.size() > 2)
    return ir::InvalidArgument("x has shape " + ir::ToString(x.dims) + ", expected [C] or [N,C]");
  std::map<std::string_view, int64_t> numbers;
  ir::Ints pool, words;
  for (const std::string& word : *attrs.pool_strings)
    pool.push_back(numbers.emplace(word, static_cast<int64_t>(numbers.size())).first->second);
  for (const std::string& word : x.values<std::string>()) {
    const auto found = numbers.find(word);
    words.push_back(found == numbers.end() ? -1 : found->second);
  }
  ir::Shape dims(x.dims.begin(), x.dims.end());
  dims.back() = 0;
  for (const int64_t index : attrs.ngram_indexes) dims.back() = std::max(dims.back(), index + 1);
  WEFT_ASSIGN_OR_RETURN(Tensor y, CreateDynamic(ir::DataType::kF32, std::move(dims)));
  CountInRows(attrs, ReadPool(attrs, pool), words, x, y.view());
  return std::vector<RuntimeValue>{RuntimeValue::Of(std::move(y))};
}
absl::Status CheckTfIdfOfStrings(const KernelContext& context) {
  if (context.attrs_of<ops::TfIdfVectorizer>().pool_strings) return absl::OkStatus();
  return context.InvalidArgument("needs pool_strings for strings");
}
const RegisterStrings<ops::TfIdfVectorizer> kTfIdfOfStrings(&TfIdfOfStrings, &CheckTfIdfOfStrings);

}  // namespace
}  // namespace weft::kernels::reference
