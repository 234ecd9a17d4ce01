#include "tools/ir_run/tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>

#include "ir/base/suggest.h"
#include "ir/dim/dim_expr.h"
#include "kernels/reference/compare.h"
#include "kernels/reference/reference.h"
#include "kernels/runtime/random_inputs.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/program_main.h"
#include "tools/onnx/tensor_file.h"

namespace weft::tools {
namespace {

using kernels::Tensor;
using kernels::TensorInfo;
using kernels::ValueRange;

std::vector<std::string> NamesOf(std::span<const TensorInfo> infos) {
  std::vector<std::string> names;
  for (const TensorInfo& info : infos) names.push_back(info.name);
  return names;
}

absl::StatusOr<Tensor> TensorOf(ir::Attribute dense) {
  const ir::Type type = dense.dense_type();
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(type.dtype(), type.shape()));
  if (!dense.bytes().empty())
    std::memcpy(tensor.view().data, dense.bytes().data(), dense.bytes().size());
  return tensor;
}

absl::StatusOr<Tensor> ReadTensor(ir::IrContext& context, const std::string& path) {
  WEFT_ASSIGN_OR_RETURN(const ir::Attribute dense, onnx::ReadTensorFile(context, path));
  const ir::Type type = dense.dense_type();
  if (type.NumBytes() < 0) return ir::Unsupported(path + ": tensors of type " + type.ToString());
  return TensorOf(dense);
}

// By index in `infos`: the tensors of NAME=FILE flags.
absl::StatusOr<std::vector<std::optional<Tensor>>> ReadAssignments(
    ir::IrContext& context, const std::string& option, const std::string& kind,
    std::span<const TensorInfo> infos, const std::vector<std::string>& assignments) {
  const std::vector<std::string> names = NamesOf(infos);
  std::vector<std::optional<Tensor>> tensors(infos.size());
  for (const std::string& text : assignments) {
    WEFT_ASSIGN_OR_RETURN(const auto assignment, SplitAssignment(option, text));
    const auto& [name, path] = assignment;
    WEFT_RETURN_IF_ERROR(ir::CheckName(kind, name, names));
    auto& tensor = tensors[std::find(names.begin(), names.end(), name) - names.begin()];
    if (tensor) return ir::InvalidArgument(fmt::format("{} '{}' is given twice", kind, name));
    WEFT_ASSIGN_OR_RETURN(tensor, ReadTensor(context, path));
  }
  return tensors;
}

// Whether the tensor fits the declared type; binds its symbolic dims.
absl::Status Fit(const TensorInfo& info, const Tensor& tensor,
                 std::map<int64_t, int64_t>* symbols) {
  bool fits = tensor.dtype() == info.type.dtype();
  if (info.type.HasRank()) {
    const std::span<const int64_t> declared = info.type.dims();
    fits = fits && declared.size() == tensor.dims().size();
    for (size_t i = 0; fits && i < declared.size(); ++i) {
      const int64_t dim = tensor.dims()[i];
      if (ir::IsStaticDim(declared[i])) {
        fits = dim == declared[i];
      } else if (ir::IsSymbolicDim(declared[i])) {
        fits = symbols->emplace(declared[i], dim).first->second == dim;
      }
    }
  }
  if (fits) return absl::OkStatus();
  std::string bound;
  for (const auto& [symbol, size] : *symbols)
    bound +=
        fmt::format("{}{} is {}", bound.empty() ? ", where " : ", ", ir::SymbolName(symbol), size);
  return ir::InvalidArgument(fmt::format("input '{}' has type {}, expected {}{}", info.name,
                                         TypeText(tensor), info.type.ToString(), bound));
}

absl::StatusOr<int64_t> ParseBound(const std::string& flag, std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && !text.empty()) return value;
  return ir::InvalidArgument(fmt::format("--input-range {}: '{}' is no integer", flag, text));
}

// By index in `infos`: the ranges of --input-range flags.
absl::StatusOr<std::vector<std::optional<ValueRange>>> ReadRanges(
    std::span<const TensorInfo> infos, const std::vector<std::string>& flags) {
  const std::vector<std::string> names = NamesOf(infos);
  std::vector<std::optional<ValueRange>> ranges(infos.size());
  for (const std::string& flag : flags) {
    WEFT_ASSIGN_OR_RETURN(const auto assignment, SplitNamed("--input-range", flag));
    const auto& [name, text] = assignment;
    WEFT_RETURN_IF_ERROR(ir::CheckName("input", name, names));
    const size_t comma = text.find(',');
    if (comma == std::string::npos)
      return ir::InvalidArgument(fmt::format("--input-range {}: expected NAME=LOW,HIGH", flag));
    auto& range = ranges[std::find(names.begin(), names.end(), name) - names.begin()].emplace();
    WEFT_ASSIGN_OR_RETURN(range.low, ParseBound(flag, std::string_view(text).substr(0, comma)));
    WEFT_ASSIGN_OR_RETURN(range.high, ParseBound(flag, std::string_view(text).substr(comma + 1)));
  }
  return ranges;
}

// The sizes of plain symbols, as bindings.
std::vector<ir::DimBinding> BindingsOf(const std::map<int64_t, int64_t>& symbols) {
  std::vector<ir::DimBinding> bindings;
  for (const auto& [symbol, size] : symbols) bindings.push_back({symbol, size});
  return bindings;
}

absl::StatusOr<Tensor> RandomInput(const TensorInfo& info, uint64_t seed, uint64_t stream,
                                   const std::map<int64_t, int64_t>& symbols,
                                   std::optional<ValueRange> range) {
  if (!info.type.HasRank())
    return ir::InvalidArgument(
        fmt::format("input '{}' has no known rank; give --input {}=FILE or --input-shape {}=SHAPE",
                    info.name, info.name, info.name));
  const std::vector<ir::DimBinding> bindings = BindingsOf(symbols);
  ir::Shape dims = info.type.shape();
  for (int64_t& dim : dims) {
    const int64_t declared = dim;
    dim = ir::SubstituteDim(dim, bindings);
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
  if (!range && info.range) range = info.range->For(bindings);
  auto tensor = kernels::RandomTensor(info.type.dtype(), std::move(dims), seed, stream, range);
  if (!tensor.ok()) return ir::Annotate(tensor.status(), "input '" + info.name + "'");
  return tensor;
}

ir::Attribute DenseOf(ir::IrContext& context, const Tensor& tensor) {
  const kernels::TensorView view = tensor.view();
  return context.DenseAttr(context.TensorType(view.dtype, view.dims), {view.data, view.NumBytes()});
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> GatherInputs(ir::IrContext& context,
                                                 std::span<const TensorInfo> inputs,
                                                 const InputFlags& flags) {
  WEFT_ASSIGN_OR_RETURN(auto given,
                        ReadAssignments(context, "--input", "input", inputs, flags.files));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (given[i] || !inputs[i].default_value) continue;
    WEFT_ASSIGN_OR_RETURN(given[i], TensorOf(inputs[i].default_value));
  }
  WEFT_ASSIGN_OR_RETURN(const auto ranges, ReadRanges(inputs, flags.ranges));
  std::map<int64_t, int64_t> symbols;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (given[i]) WEFT_RETURN_IF_ERROR(Fit(inputs[i], *given[i], &symbols));
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (given[i]) {
      tensors.push_back(*std::move(given[i]));
      continue;
    }
    if (!flags.seed)
      return ir::InvalidArgument(
          fmt::format("input '{}' ({}) is not given; use --input {}=FILE or --random-inputs SEED",
                      inputs[i].name, inputs[i].type.ToString(), inputs[i].name));
    WEFT_ASSIGN_OR_RETURN(Tensor tensor,
                          RandomInput(inputs[i], *flags.seed, i, symbols, ranges[i]));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

absl::StatusOr<std::vector<std::optional<Tensor>>> ReadExpected(
    ir::IrContext& context, std::span<const TensorInfo> outputs,
    const std::vector<std::string>& files) {
  return ReadAssignments(context, "--expect", "output", outputs, files);
}

absl::Status WriteOutputs(ir::IrContext& context, const std::string& folder,
                          std::span<const TensorInfo> outputs, const std::vector<Tensor>& tensors) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return ir::InvalidArgument(folder + ": cannot be made: " + error.message());
  for (size_t i = 0; i < tensors.size(); ++i)
    WEFT_RETURN_IF_ERROR(onnx::WriteTensorFile(fmt::format("{}/output_{}.pb", folder, i),
                                               DenseOf(context, tensors[i]), outputs[i].name));
  return absl::OkStatus();
}

absl::StatusOr<double> Difference(const std::string& name, const Tensor& actual,
                                  const Tensor& expected) {
  if (actual.dtype() != expected.dtype() || actual.dims() != expected.dims())
    return CheckFailed(
        fmt::format("output '{}' is {}, expected {}", name, TypeText(actual), TypeText(expected)));
  const std::vector<double> values = kernels::reference::ReadDoubles(expected.view());
  const bool any_finite =
      std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  if (!any_finite && !values.empty())
    return CheckFailed(
        fmt::format("output '{}': no expected element is finite, so nothing is compared", name));
  return kernels::RelativeDifference(actual.view(), expected.view());
}

std::vector<kernels::TensorView> ViewsOf(const std::vector<Tensor>& tensors) {
  std::vector<kernels::TensorView> views;
  views.reserve(tensors.size());
  for (const Tensor& tensor : tensors) views.push_back(tensor.view());
  return views;
}

std::vector<std::span<const int64_t>> DimsOf(const std::vector<Tensor>& tensors) {
  std::vector<std::span<const int64_t>> dims;
  dims.reserve(tensors.size());
  for (const Tensor& tensor : tensors) dims.emplace_back(tensor.dims());
  return dims;
}

std::string TypeText(const Tensor& tensor) {
  return fmt::format("{}{}", ir::DataTypeName(tensor.dtype()), ir::ToString(tensor.dims()));
}

std::string Summary(const Tensor& tensor) {
  const std::vector<double> values = kernels::reference::ReadDoubles(tensor.view());
  if (values.empty()) return TypeText(tensor);
  double least = INFINITY, most = -INFINITY, sum = 0;
  for (const double value : values) {
    least = std::min(least, value);
    most = std::max(most, value);
    sum += value;
  }
  return fmt::format("{} min {:.6g} mean {:.6g} max {:.6g}", TypeText(tensor), least,
                     sum / static_cast<double>(values.size()), most);
}

}  // namespace weft::tools
