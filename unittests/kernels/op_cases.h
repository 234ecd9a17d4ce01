// Cases of an op made of its definition: lists of operands that its inference accepts, and
// attributes that differ from the defaults in one or two places.
//
//   for (OpCase& c : CasesOf(ir::kOpcodeOf<ops::Conv>)) {
//     c.special = {.operand = 1, .value = NAN};
//     const auto results = c.Run({"native"});
//   }
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/dialects/ascend.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/litert.h"
#include "ir/dialects/microsoft.h"
#include "ir/dialects/pd.h"
#include "ir/text/printer.h"
#include "kernels/runtime/plan.h"
#include "kernels/runtime/random_inputs.h"
#include "unittests/kernels/operand_lists.h"

namespace weft::kernels {

struct SpecialValue {
  size_t operand = 0;
  float value = 0;
  bool everywhere = false;  // else in the first, the last, and an element between
};

// One op on operands of fixed shapes, the floats random and distinct but for the special value.
struct OpCase {
  std::shared_ptr<ir::IrContext> context;
  const ir::OpDef* def = nullptr;
  std::vector<OperandSpec> operands = {};
  ir::AttrDict attrs = {};
  SpecialValue special = {};

  // Whether inference accepts it and says all about its results.
  bool Fits() const { return MakeProgram(nullptr) != nullptr; }
  // On kernels of these providers. Unimplemented where they have none.
  absl::StatusOr<std::vector<Tensor>> Run(const std::vector<std::string>& providers) const;
  // The one of these that runs the op; empty when none does, or when the result is a view of an
  // operand and nothing needs to run.
  std::string ProviderOf(const std::vector<std::string>& providers) const;
  // Whether a plan for it can be made with kernels of this provider alone.
  bool RunsOn(const std::string& provider) const;
  std::string ToString() const;

 private:
  Tensor MakeOperand(size_t i) const;
  // Null when it does not fit. `inputs` receives what is given at run time.
  std::unique_ptr<ir::Program> MakeProgram(std::vector<Tensor>* inputs) const;
};

// A context that knows every op that kernels are registered for.
inline std::shared_ptr<ir::IrContext> LoadAllDialects() {
  auto context = std::make_shared<ir::IrContext>();
  ir::LoadFusedDialect(*context);
  ir::LoadLitertDialect(*context);
  ir::LoadAscendDialect(*context);
  ir::LoadMicrosoftDialect(*context);
  ir::LoadPdDialect(*context);
  return context;
}

// --- running a case -----------------------------------------------------------------

inline Tensor OpCase::MakeOperand(size_t i) const {
  const OperandSpec& spec = operands[i];
  Tensor tensor = *RandomTensor(spec.dtype, spec.dims, i + 1, 0);
  if (!spec.contents.empty() && spec.dtype == ir::DataType::kI32)
    std::copy(spec.contents.begin(), spec.contents.end(), tensor.values<int32_t>().begin());
  else if (!spec.contents.empty() && !spec.IsFloat())
    std::copy(spec.contents.begin(), spec.contents.end(), tensor.values<int64_t>().begin());
  if (!spec.IsFloat()) return tensor;
  const std::span<float> values = tensor.values<float>();
  if (!spec.contents.empty()) {
    for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(spec.contents[k]);
    return tensor;
  }
  for (float& value : values) value = spec.positive ? std::fabs(value) : value;
  if (i != special.operand) return tensor;
  if (special.everywhere) std::fill(values.begin(), values.end(), special.value);
  for (const size_t at : {size_t{0}, values.size() / 3, values.size() - 1})
    values[at] = special.value;
  return tensor;
}

inline std::unique_ptr<ir::Program> OpCase::MakeProgram(std::vector<Tensor>* inputs) const {
  auto program = std::make_unique<ir::Program>(context.get());
  ir::Builder builder(program.get());
  ir::OperationState state{.opcode = def->opcode, .attrs = attrs};
  for (size_t i = 0; i < operands.size(); ++i) {
    const ir::Type type = context->TensorType(operands[i].dtype, operands[i].dims);
    const bool constant = operands[i].constant || !operands[i].contents.empty();
    if (constant) {
      const Tensor tensor = MakeOperand(i);
      const TensorView view = tensor.view();
      state.operands.push_back(
          builder.Constant(context->DenseAttr(type, {view.data, view.NumBytes()})));
    } else {
      if (inputs != nullptr) inputs->push_back(MakeOperand(i));
      state.operands.push_back(builder.AddInput("x" + std::to_string(i), type));
    }
  }
  size_t num_results = 0;  // optional ones are left out, unless there are no others
  for (const ir::OperandDef& result : def->info->results)
    num_results += result.arity == ir::Arity::kOne        ? 1
                   : result.arity == ir::Arity::kVariadic ? 2
                                                          : 0;
  num_results = std::max<size_t>(num_results, 1);
  ir::Operation op;
  std::string error;
  if (!builder.TryCreate(std::move(state), num_results, &op, &error)) return nullptr;
  std::vector<std::pair<std::string, ir::Value>> outputs;
  for (const ir::Value result : op.results()) {
    if (!result.type() || !result.type().IsStatic()) return nullptr;
    outputs.emplace_back("y" + std::to_string(outputs.size()), result);
  }
  builder.Return(std::move(outputs));
  return program;
}

inline absl::StatusOr<std::vector<Tensor>> OpCase::Run(
    const std::vector<std::string>& providers) const {
  std::vector<Tensor> inputs;
  std::unique_ptr<ir::Program> program = MakeProgram(&inputs);
  WEFT_CHECK(program != nullptr, "a case that does not fit is run");
  ThreadPool pool(1);
  PackedWeights packed;
  WEFT_ASSIGN_OR_RETURN(
      const auto plan,
      Plan::Create(std::move(program), {.providers = providers, .pool = &pool, .packed = &packed}));
  std::vector<TensorView> in, out;
  for (const Tensor& input : inputs) in.push_back(input.view());
  std::vector<Tensor> results;
  for (const ir::Type type : plan->output_types())
    results.push_back(*Tensor::Create(type.dtype(), type.shape()));
  for (const Tensor& result : results) out.push_back(result.view());
  WEFT_RETURN_IF_ERROR(plan->Run(in, out));
  return results;
}

inline std::string OpCase::ProviderOf(const std::vector<std::string>& providers) const {
  ThreadPool pool(1);
  PackedWeights packed;
  const auto plan = Plan::Create(MakeProgram(nullptr),
                                 {.providers = providers, .pool = &pool, .packed = &packed});
  return !plan.ok() || (*plan)->steps().empty() ? "" : (*plan)->steps()[0].provider;
}

inline bool OpCase::RunsOn(const std::string& provider) const {
  ThreadPool pool(1);
  PackedWeights packed;
  return Plan::Create(MakeProgram(nullptr),
                      {.providers = {provider}, .pool = &pool, .packed = &packed})
      .ok();
}

inline std::string OpCase::ToString() const {
  std::string text = std::string(def->name()) + "(";
  for (const OperandSpec& spec : operands)
    text += ir::ToString(spec.dims) + (spec.constant ? " constant, " : ", ");
  for (const ir::NamedAttribute& attr : attrs)
    text += std::string(attr.name.str()) + "=" + ir::PrintAttribute(attr.value) + " ";
  return text + "), operand " + std::to_string(special.operand) + " has " +
         std::to_string(special.value) + (special.everywhere ? " everywhere" : " in places");
}

// --- making cases -------------------------------------------------------------------

// Values to try for an attribute beside its default.
inline std::vector<ir::Attribute> Alternatives(ir::IrContext& c, const ir::FieldDef& field) {
  std::vector<ir::Attribute> values;
  for (const std::string_view name : field.enumerators) values.push_back(c.StringAttr(name));
  switch (field.kind) {
    case ir::AttrKind::kBool:
      return {c.BoolAttr(false), c.BoolAttr(true)};
    case ir::AttrKind::kInt:
      if (field.name.str() == "block_size") return {c.IntAttr(16)};
      return {c.IntAttr(1), c.IntAttr(0), c.IntAttr(2), c.IntAttr(20)};
    case ir::AttrKind::kInts:
      return {c.IntsAttr(ir::Ints{3, 3}), c.IntsAttr(ir::Ints{2, 2}),
              c.IntsAttr(ir::Ints{1, 1, 1, 1}), c.IntsAttr(ir::Ints{0}), c.IntsAttr(ir::Ints{1})};
    case ir::AttrKind::kFloat:
      return {c.FloatAttr(0.25f)};
    case ir::AttrKind::kDataType:
      return {c.DataTypeAttr(ir::DataType::kF64), c.DataTypeAttr(ir::DataType::kF16)};
    case ir::AttrKind::kString:
      if (field.name.str() == "equation") return {c.StringAttr("ij,jk->ik")};
      return values;
    default:
      return values;
  }
}

// Defaults; the first alternative for what has none.
inline ir::AttrDict BaseAttributes(ir::IrContext& c, const ir::OpDef& def) {
  ir::AttrDict attrs;
  for (const ir::FieldDef& field : def.fields) {
    const std::vector<ir::Attribute> values = Alternatives(c, field);
    if (field.make_default != nullptr) {
      attrs = c.With(attrs, field.name, field.make_default(c));
    } else if (!field.optional && !values.empty()) {
      attrs = c.With(attrs, field.name, values[0]);
    }
  }
  return attrs;
}

// `base` with one attribute changed, and for an activation that takes parameters with those.
inline std::vector<ir::AttrDict> Variations(ir::IrContext& c, const ir::OpDef& def,
                                            ir::AttrDict base) {
  std::vector<ir::AttrDict> all;
  for (const ir::FieldDef& field : def.fields) {
    const ir::FieldDef* params = def.FindField(ir::Name(std::string(field.name.str()) + "_params"));
    for (const ir::Attribute value : Alternatives(c, field)) {
      if (value == base.Get(field.name)) continue;
      all.push_back(c.With(base, field.name, value));
      if (params != nullptr)
        all.push_back(c.With(all.back(), params->name, c.FloatsAttr(ir::Floats{-0.5f, 1.5f})));
    }
  }
  return all;
}

inline bool IsLarge(const OpCase& c) {
  constexpr int64_t kMost = 4096;  // elements
  return std::any_of(c.operands.begin(), c.operands.end(),
                     [](const OperandSpec& spec) { return CountElements(spec.dims) > kMost; });
}

// The attributes under which these operands fit: the defaults and what differs from them in one
// place, or where the defaults do not fit, in one or two. Of large operands the defaults do: attributes
// do not ask for size.
inline void AddCases(OpCase c, std::vector<OpCase>* cases) {
  const auto add = [&](ir::AttrDict attrs) {
    c.attrs = attrs;
    if (!c.Fits()) return false;
    cases->push_back(c);
    return true;
  };
  const ir::AttrDict base = BaseAttributes(*c.context, *c.def);
  const bool base_fits = add(base);
  if (base_fits && IsLarge(c)) return;
  for (const ir::AttrDict attrs : Variations(*c.context, *c.def, base)) {
    if (!add(attrs) || base_fits) continue;
    for (const ir::AttrDict more : Variations(*c.context, *c.def, attrs)) add(more);
  }
}

inline std::vector<OpCase> CasesOf(ir::Opcode opcode) {
  std::vector<OpCase> cases;
  OpCase c{.context = LoadAllDialects()};
  c.def = c.context->FindOp(opcode);
  size_t fewest = 0, most = 0;
  for (const ir::OperandDef& operand : c.def->info->operands) {
    fewest += operand.arity != ir::Arity::kOptional;
    most += operand.arity == ir::Arity::kVariadic ? 3 : 1;
  }
  for (const std::vector<OperandSpec>& list : OperandLists()) {
    for (size_t count = fewest; count <= std::min(most, list.size()); ++count) {
      c.operands.assign(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count));
      AddCases(c, &cases);
      if (count < 2 || !list[1].IsFloat()) continue;
      for (size_t i = 1; i < count; ++i) c.operands[i].constant = true;
      AddCases(c, &cases);
      if (count < 4) continue;
      c.operands[3].constant = false;  // a residual, beside weights
      AddCases(c, &cases);
    }
  }
  return cases;
}

}  // namespace weft::kernels
