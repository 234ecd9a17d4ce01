// convert-floats: a program in another floating point type; see passes/precision/convert_floats.h.
// Numbers of constants beyond the range of the new type become its largest of their sign, and those
// that would become 0 its smallest: a mask of -3.4e38 still masks, where minus infinity would make NaN
// of a row of masks alone, and an epsilon of 1e-12 still keeps a quotient finite.
#include "passes/precision/convert_floats.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ir/analysis/constant.h"
#include "ir/base/contains.h"
#include "ir/base/suggest.h"
#include "ir/builder.h"
#include "ir/dialects/onnx.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

using ir::DataType;

bool IsConvertible(DataType type) {
  return type == DataType::kF32 || type == DataType::kF16 || type == DataType::kBF16;
}

// Numbers from `overflow` on round to infinity, those up to half of `smallest` to 0.
struct Range {
  double smallest, largest, overflow;
};
Range RangeOf(DataType type) {
  if (type == DataType::kF16) return {0x1p-24, 65504, 65520};
  if (type == DataType::kBF16) return {0x1p-133, 0x1.fep127, 0x1.ffp127};
  return {0, 0x1.fffffep127, INFINITY};
}

std::string_view Unqualified(std::string_view name) { return name.substr(name.rfind('.') + 1); }

class ConvertFloats : public Pass {
 public:
  ConvertFloats()
      : Pass("convert-floats", "f16, bf16 or f32 in place of each other; see ir-opt --convert",
             {.numerics = drr::NumericClass::kApproximate, .honours_numerics = true}) {}

  absl::Status Initialize(ir::IrContext& context, const PassContext& run) override {
    ir::LoadOnnxDialect(context);
    if (const auto* given = run.options.Get<ConvertFloatsOptions>()) options_ = *given;
    if (!IsConvertible(options_.to))
      return ir::InvalidArgument("convert-floats: " + std::string(ir::DataTypeName(options_.to)) +
                                 " is no type to convert to; expected f16, bf16 or f32");
    evaluator_ = run.evaluator;
    return absl::OkStatus();
  }

  absl::Status Run(ir::Program& program) override {
    WEFT_RETURN_IF_ERROR(CheckNames(program));
    size_t kept = 0;
    const size_t converted = ir::ConvertFloats(
        program,
        {.target = [&](DataType type) { return IsConvertible(type) ? options_.to : type; },
         .choose =
             [&](ir::Operation op) {
               const bool is_kept = IsKept(op);
               kept += is_kept;
               return is_kept || op.name().starts_with("fused.") ? ir::FloatChoice::kKeep
                                                                 : ir::FloatChoice::kConvert;
             },
         .keeps = [&](const ir::FloatSlot& s) { return options_.takes && !options_.takes(s); },
         .inputs_and_outputs = !options_.keep_io,
         .constant = [&](ir::Attribute dense, ir::Type type) { return Convert(dense, type); }});
    Count(kConvertedOps, converted);
    Count(kKeptOps, kept);
    if (converted > 0) MarkChanged();
    return absl::OkStatus();
  }

 private:
  bool IsKept(ir::Operation op) const {
    return ir::Contains(options_.keep, op.name()) ||
           ir::Contains(options_.keep, Unqualified(op.name())) ||
           (!op.location().empty() && ir::Contains(options_.keep, op.location().str()));
  }

  absl::Status CheckNames(ir::Program& program) const {
    if (options_.keep.empty()) return absl::OkStatus();
    std::set<std::string> names;
    ir::Walk(program, [&](ir::Operation op) {
      names.emplace(op.name());
      names.emplace(Unqualified(op.name()));
      if (!op.location().empty()) names.emplace(op.location().str());
    });
    const std::vector<std::string> known(names.begin(), names.end());
    for (const std::string& name : options_.keep)
      if (!names.contains(name)) return ir::UnknownName("operator or node", name, known);
    return absl::OkStatus();
  }

  // The same numbers within the range of `to`, as f32; null when all are.
  ir::Attribute Clamped(ir::Attribute dense, DataType to) {
    const ir::Type type = dense.dense_type();
    const Range range = RangeOf(to);
    std::vector<std::pair<size_t, double>> clamped;
    uint64_t too_large = 0;
    for (int64_t i = 0, n = type.NumElements(); i < n; ++i) {
      const double value = ir::DenseElement(dense, i), size = std::fabs(value);
      const bool is_large = size >= range.overflow && !std::isinf(value);
      if (!is_large && !(size > 0 && size <= range.smallest / 2)) continue;
      too_large += is_large;
      clamped.emplace_back(i, std::copysign(is_large ? range.largest : range.smallest, value));
    }
    if (clamped.empty()) return {};
    if (too_large > 0) Count(kClampedWeights, too_large);
    if (too_large < clamped.size()) Count(kLostWeights, clamped.size() - too_large);
    std::vector<float> values;
    for (int64_t i = 0, n = type.NumElements(); i < n; ++i)
      values.push_back(static_cast<float>(ir::DenseElement(dense, i)));
    for (const auto& [i, value] : clamped) values[i] = static_cast<float>(value);
    return type.context()->DenseAttrOf(type.context()->TensorType(DataType::kF32, type.dims()),
                                       std::span<const float>(values));
  }

  // Null, so that the constant gets a Cast, without an evaluator and for what it refuses.
  ir::Attribute Convert(ir::Attribute dense, ir::Type type) {
    if (evaluator_ == nullptr || dense.IsElided() || !type.IsStatic()) return {};
    if (const ir::Attribute clamped = Clamped(dense, type.dtype())) dense = clamped;
    if (dense.dense_type() == type) return dense;
    ir::Program scratch(type.context());
    ir::Builder builder(&scratch);
    const ir::Value cast =
        builder.Make<ir::ops::Cast>({builder.Constant(dense)}, {.to = type.dtype()});
    const auto results = evaluator_->Evaluate(cast.DefiningOp(), {&dense, 1});
    return results.ok() ? results->front() : ir::Attribute();
  }

  ConvertFloatsOptions options_;
  ir::Evaluator* evaluator_ = nullptr;
};
WEFT_REGISTER_PASS(ConvertFloats);

}  // namespace
}  // namespace weft::passes
