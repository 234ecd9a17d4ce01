#include "weft/check/inputs.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "ir/dim/dim_sizes.h"
#include "kernels/runtime/dense_tensor.h"
#include "kernels/runtime/value_type.h"

namespace weft {
namespace {

using kernels::RuntimeValue;
using kernels::Tensor;
using kernels::TensorInfo;
using kernels::ValueRange;

// Whether a tensor fits the declared type; learns the sizes of symbols. A session looks at other values.
absl::Status Fit(const TensorInfo& info, const RuntimeValue& value, ir::DimSizes* sizes) {
  if (!info.type.IsTensor() || !value.IsTensor()) return absl::OkStatus();
  const kernels::TensorView& tensor = value.view;
  bool fits = tensor.dtype == info.type.dtype();
  std::string why;
  if (info.type.HasRank()) {
    const std::span<const int64_t> declared = info.type.dims();
    fits = fits && declared.size() == tensor.dims.size();
    for (size_t i = 0; fits && i < declared.size(); ++i)
      fits = sizes->Add(declared[i], tensor.dims[i], &why);
  }
  if (fits) return absl::OkStatus();
  return ir::InvalidArgument(fmt::format("input '{}' has type {}, expected {}{}{}", info.name,
                                         kernels::Describe(value), info.type.ToString(),
                                         why.empty() ? "" : ": ", why));
}

// An element of a sequence or an optional: nothing says how large it is.
absl::StatusOr<Tensor> RandomElement(const TensorInfo& info, ir::Type element, uint64_t seed,
                                     uint64_t stream) {
  ir::Shape dims = element.HasRank() ? element.shape() : ir::Shape{2, 3};
  for (size_t i = 0; i < dims.size(); ++i)
    if (!ir::IsStaticDim(dims[i])) dims[i] = i % 2 == 0 ? 2 : 3;
  auto tensor = kernels::RandomTensor(element.dtype(), std::move(dims), seed, stream);
  if (!tensor.ok()) return ir::Annotate(tensor.status(), "input '" + info.name + "'");
  return tensor;
}

absl::StatusOr<RuntimeValue> RandomOther(const TensorInfo& info, uint64_t seed, uint64_t stream) {
  const ir::Type type = info.type.IsOptional() ? info.type.element() : info.type;
  if (!type.IsTensor() && !(type.IsSequence() && type.element().IsTensor()))
    return ir::Unsupported(
        fmt::format("input '{}': no random values of type {}", info.name, info.type.ToString()));
  kernels::Sequence::Elements elements;
  for (uint64_t i = 0; i < (type.IsSequence() ? 2 : 1); ++i) {
    WEFT_ASSIGN_OR_RETURN(
        Tensor tensor,
        RandomElement(info, type.IsSequence() ? type.element() : type, seed, stream + (i << 32)));
    elements.push_back(std::make_shared<Tensor>(std::move(tensor)));
  }
  return type.IsSequence() ? RuntimeValue::Of(kernels::Sequence(std::move(elements)))
                           : RuntimeValue::Of(elements[0]);
}

absl::StatusOr<RuntimeValue> RandomInput(const TensorInfo& info, uint64_t seed, uint64_t stream,
                                         const ir::DimSizes& sizes,
                                         std::optional<ValueRange> range) {
  if (info.type.HasElement()) return RandomOther(info, seed, stream);
  if (!info.type.HasRank())
    return ir::InvalidArgument(
        fmt::format("input '{}' has no known rank; give --input {}=FILE or --input-shape {}=SHAPE",
                    info.name, info.name, info.name));
  ir::Shape dims = info.type.shape();
  for (int64_t& dim : dims) {
    const int64_t declared = dim;
    dim = sizes.SizeOf(dim);
    if (ir::IsStaticDim(dim)) continue;
    if (!ir::IsSymbolicDim(declared))
      return ir::InvalidArgument(
          fmt::format("input '{}' has a dimension that is not known; give --input {}=FILE or "
                      "--input-shape {}=SHAPE",
                      info.name, info.name, info.name));
    std::vector<int64_t> open;
    ir::DimExpr::OfDim(ir::IsSymbolicDim(dim) ? dim : declared).CollectSymbols(&open);
    const std::string_view name = ir::SymbolName(open.empty() ? declared : open[0]);
    return ir::InvalidArgument(
        fmt::format("input '{}': the size of dimension '{}' is not known; give --dim {}=SIZE",
                    info.name, ir::SymbolName(declared), name));
  }
  if (!range && info.range) range = info.range->For(sizes.bindings());
  auto tensor = kernels::RandomTensor(info.type.dtype(), std::move(dims), seed, stream, range);
  if (!tensor.ok()) return ir::Annotate(tensor.status(), "input '" + info.name + "'");
  return RuntimeValue::Of(*std::move(tensor));
}

}  // namespace

absl::StatusOr<std::vector<RuntimeValue>> CompleteInputs(
    std::span<const TensorInfo> inputs, std::vector<std::optional<RuntimeValue>> given,
    const RandomInputs& random) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (given[i] || !inputs[i].default_value) continue;
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, kernels::TensorOf(inputs[i].default_value));
    given[i] = RuntimeValue::Of(std::move(tensor));
  }
  ir::DimSizes sizes;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (given[i]) WEFT_RETURN_IF_ERROR(Fit(inputs[i], *given[i], &sizes));
  for (const ir::DimBinding& binding : random.sizes)
    if (std::string why; !ir::IsStaticDim(sizes.SizeOf(binding.symbol)) &&
                         !sizes.Add(binding.symbol, binding.size, &why))
      return ir::InvalidArgument(why);
  std::vector<RuntimeValue> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (given[i]) {
      values.push_back(*std::move(given[i]));
      continue;
    }
    if (!random.seed)
      return ir::InvalidArgument(
          fmt::format("input '{}' ({}) is not given; use --input {}=FILE or --random-inputs SEED",
                      inputs[i].name, inputs[i].type.ToString(), inputs[i].name));
    const auto range = i < random.ranges.size() ? random.ranges[i] : std::nullopt;
    WEFT_ASSIGN_OR_RETURN(RuntimeValue value,
                          RandomInput(inputs[i], *random.seed, i, sizes, range));
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace weft
