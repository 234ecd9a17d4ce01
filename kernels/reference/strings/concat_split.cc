// Joining strings and cutting them.
#include <algorithm>
#include <string>
#include <string_view>

#include "ir/dialects/onnx/text.h"
#include "kernels/reference/strings_kernel.h"
#include "kernels/strings_result.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// What two shapes broadcast to.
absl::StatusOr<ir::Shape> BroadcastDims(std::span<const int64_t> a, std::span<const int64_t> b) {
  ir::Shape dims(std::max(a.size(), b.size()));
  for (size_t i = 1; i <= dims.size(); ++i) {
    const int64_t x = i <= a.size() ? a[a.size() - i] : 1, y = i <= b.size() ? b[b.size() - i] : 1;
    if (x != y && x != 1 && y != 1)
      return ir::InvalidArgument("shapes " + ir::ToString(a) + " and " + ir::ToString(b) +
                                 " do not broadcast");
    dims[dims.size() - i] = x == 1 ? y : x;
  }
  if (dims.size() > static_cast<size_t>(kMaxRank))
    return ir::Unsupported("operands of more than " + std::to_string(kMaxRank) + " dimensions");
  return dims;
}

absl::StatusOr<std::vector<RuntimeValue>> StringConcat(const AttrsOf<ops::StringConcat>&,
                                                       const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.inputs[1];
  WEFT_ASSIGN_OR_RETURN(const ir::Shape dims, BroadcastDims(x.dims, y.dims));
  WEFT_ASSIGN_OR_RETURN(StringsResult result, StringsResult::Create(dims));
  const std::span<std::string> first = x.values<std::string>(), second = y.values<std::string>();
  for (Odometer<2> at(dims, {BroadcastStrides(x.dims, dims), BroadcastStrides(y.dims, dims)});
       !at.done(); at.Next())
    WEFT_RETURN_IF_ERROR(result.Add(first[static_cast<size_t>(at.offset[0])] +
                                    second[static_cast<size_t>(at.offset[1])]));
  WEFT_ASSIGN_OR_RETURN(Tensor joined, std::move(result).Finish());
  return std::vector<RuntimeValue>{RuntimeValue::Of(std::move(joined))};
}
const RegisterStrings<ops::StringConcat> kStringConcat(&StringConcat);

using Parts = std::vector<std::string_view>;

Parts SplitAt(std::string_view text, std::string_view delimiter, size_t max_cuts) {
  Parts parts;
  while (parts.size() < max_cuts) {
    const size_t at = text.find(delimiter);
    if (at == std::string_view::npos) break;
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + delimiter.size());
  }
  parts.push_back(text);
  return parts;
}

// What white space separates; what is left behind the last cut keeps the white space at its end.
Parts SplitAtWhiteSpace(std::string_view text, size_t max_cuts) {
  constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";
  Parts parts;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kWhiteSpace), text.size()));
    if (text.empty()) return parts;
    const size_t end = std::min(text.find_first_of(kWhiteSpace), text.size());
    const bool is_rest = parts.size() == max_cuts;
    parts.push_back(is_rest ? text : text.substr(0, end));
    if (is_rest) return parts;
    text.remove_prefix(end);
  }
}

absl::StatusOr<std::vector<RuntimeValue>> StringSplit(const AttrsOf<ops::StringSplit>& attrs,
                                                      const KernelArgs& args) {
  const TensorView& x = args.inputs[0];
  const std::string delimiter = attrs.delimiter.value_or("");
  const size_t max_cuts =
      attrs.maxsplit ? static_cast<size_t>(*attrs.maxsplit) : std::string_view::npos;
  ir::Shape dims(x.dims.begin(), x.dims.end());
  WEFT_ASSIGN_OR_RETURN(Tensor lengths, Tensor::Create(ir::DataType::kI64, dims));
  std::vector<Parts> rows;
  size_t longest = 0;
  for (const std::string& text : x.values<std::string>()) {
    rows.push_back(delimiter.empty() ? SplitAtWhiteSpace(text, max_cuts)
                                     : SplitAt(text, delimiter, max_cuts));
    lengths.values<int64_t>()[rows.size() - 1] = static_cast<int64_t>(rows.back().size());
    longest = std::max(longest, rows.back().size());
  }
  dims.push_back(static_cast<int64_t>(longest));
  WEFT_ASSIGN_OR_RETURN(StringsResult result, StringsResult::Create(std::move(dims)));
  for (const Parts& row : rows)
    for (size_t i = 0; i < longest; ++i)
      WEFT_RETURN_IF_ERROR(result.Add(i < row.size() ? std::string(row[i]) : std::string()));
  WEFT_ASSIGN_OR_RETURN(Tensor parts, std::move(result).Finish());
  return std::vector<RuntimeValue>{RuntimeValue::Of(std::move(parts)),
                                   RuntimeValue::Of(std::move(lengths))};
}
const RegisterStrings<ops::StringSplit> kStringSplit(&StringSplit);

}  // namespace
}  // namespace weft::kernels::reference
