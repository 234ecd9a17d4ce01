#include "kernels/runtime/region_program.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ir/clone.h"
#include "ir/dialects/builtin.h"
#include "ir/infer.h"
#include "ir/rewriter.h"
#include "kernels/runtime/evaluator.h"
#include "kernels/runtime/isolate.h"
#include "kernels/runtime/specialize.h"
#include "kernels/runtime/value_type.h"

namespace weft::kernels {
namespace {

bool HasType(const TensorView& view, ir::Type type) {
  return view.dtype == type.dtype() &&
         std::equal(view.dims.begin(), view.dims.end(), type.dims().begin(), type.dims().end());
}

absl::Status MakeRoom(ir::Type type, RuntimeValue* value) {
  if (value->owner != nullptr && value->owner.use_count() == 1 && HasType(value->view, type))
    return absl::OkStatus();
  *value = {};
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Uninitialized(type.dtype(), type.shape()));
  value->owner = std::make_shared<Tensor>(std::move(tensor));
  value->view = value->owner->view();
  return absl::OkStatus();
}

}  // namespace

RegionProgram::~RegionProgram() = default;

absl::StatusOr<std::unique_ptr<RegionProgram>> RegionProgram::Create(const KernelContext& context,
                                                                     uint32_t number) {
  const ir::Operation op = context.op();
  if (number >= op.num_regions() || !op.attr(kCaptured))
    return context.Unsupported("its regions are not isolated");
  std::unique_ptr<RegionProgram> made(new RegionProgram());
  made->resources_ = {
      .providers = context.providers(), .pool = &context.pool(), .packed = &context.packed()};
  made->op_name_ = std::string(op.name());
  const ir::Region region = op.region(number);
  const uint32_t captured = NumCaptured(op), arguments = region.front().num_arguments();
  std::vector<ir::Attribute> known(arguments);
  for (uint32_t i = 0; i < captured; ++i)
    known[arguments - captured + i] = context.constant(context.num_inputs() - captured + i);
  made->program_ = std::make_unique<ir::Program>(op.context());
  for (const std::string& name : op.program()->ParameterNames())
    made->program_->SetParameter(name, op.program()->parameter(name));
  std::vector<std::pair<std::string, ir::Value>> results = made->CopyRegion(region, known);
  ir::Builder(made->program_.get()).Return(std::move(results));
  WEFT_RETURN_IF_ERROR(IsolateRegions(*made->program_));
  return made;
}

// Returns what the program is to return: values that are not arguments.
std::vector<std::pair<std::string, ir::Value>> RegionProgram::CopyRegion(
    ir::Region region, std::span<const ir::Attribute> known) {
  ir::Rewriter builder(program_.get());
  ir::ValueMap map;
  ir::Strings names;
  const ir::Block block = region.front();
  for (uint32_t i = 0; i < block.num_arguments(); ++i) {
    const ir::Value argument = block.argument(i);
    argument_types_.push_back(argument.type());
    if (known[i]) {
      map.Set(argument, builder.Constant(known[i]));
    } else {
      const ir::Value input = builder.AddArgument(program_->body(), argument.type());
      names.push_back("x" + std::to_string(i));
      program_->SetName(input, names.back());
      map.Set(argument, input);
      inputs_.push_back(i);
    }
  }
  builder.SetAttr(program_->module(), "input_names", builder.context()->StringsAttr(names));
  std::vector<std::pair<std::string, ir::Value>> results;
  for (const ir::Operation op : block) {
    if (!op.Is<ir::ReturnOp>()) {
      ir::CloneOperation(builder, op, map);
      continue;
    }
    for (const ir::Value v : op.operands()) {
      const ir::Value copy = map.Get(v);
      Output& output = outputs_.emplace_back();
      if (copy.IsBlockArgument()) {
        for (uint32_t i = 0; i < block.num_arguments(); ++i)
          if (block.argument(i) == v) output.argument = static_cast<int>(i);
      } else {
        output.result = results.size();
        results.emplace_back("y" + std::to_string(results.size()), copy);
      }
    }
  }
  return results;
}

absl::StatusOr<std::unique_ptr<ir::Program>> RegionProgram::Specialized(
    std::span<const ir::Type> inputs, PackedWeights& own) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Type declared = argument_types_[inputs_[i]];
    if (!ir::Compatible(inputs[i], declared))
      return ir::InvalidArgument(op_name_ + ": argument " + std::to_string(inputs_[i]) +
                                 " of a region is " + inputs[i].ToString() + ", expected " +
                                 declared.ToString());
  }
  std::unique_ptr<ir::Program> program = program_->Clone();
  KernelEvaluator evaluator(resources_.providers, resources_.pool, &own);
  WEFT_RETURN_IF_ERROR(Specialize(*program, inputs, evaluator));
  return program;
}

absl::StatusOr<PreparedProgram*> RegionProgram::Prepare(std::span<const RuntimeValue> inputs) {
  const auto same = [&](size_t i, ir::Type type) {
    if (type.IsTensor()) return HasType(inputs[i].view, type);
    return type.IsOptional() || inputs[i].IsSequence();
  };
  if (PreparedProgram* const found = prepared_.Find(inputs.size(), same)) return found;
  std::vector<ir::Type> types;
  for (size_t i = 0; i < inputs.size(); ++i)
    types.push_back(TypeOf(inputs[i], argument_types_[inputs_[i]], *program_->context()));
  auto own = std::make_unique<PackedWeights>(resources_.packed);
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<ir::Program> program, Specialized(types, *own));
  return prepared_.Add(std::move(program), resources_, std::move(own));
}

absl::Status RegionProgram::RunPlan(Plan& plan, std::vector<RuntimeValue>* outputs) {
  input_views_.clear();
  for (const RuntimeValue& value : input_values_) input_views_.push_back(value.view);
  std::vector<TensorView> views(plan.output_types().size());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].argument >= 0) continue;
    RuntimeValue& output = (*outputs)[i];
    WEFT_RETURN_IF_ERROR(MakeRoom(plan.output_types()[outputs_[i].result], &output));
    views[outputs_[i].result] = output.view;
  }
  return plan.Run(input_views_, views);
}

absl::Status RegionProgram::RunSegments(Segment& first, std::vector<RuntimeValue>* outputs) const {
  WEFT_ASSIGN_OR_RETURN(std::vector<RuntimeValue> results, first.Run(input_values_));
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].argument >= 0) continue;
    RuntimeValue& result = results[outputs_[i].result];
    if (result.IsTensor() && result.owner == nullptr) {
      WEFT_ASSIGN_OR_RETURN(std::shared_ptr<Tensor> kept, KeepTensor(result));
      result = RuntimeValue::Of(std::move(kept));
    }
    (*outputs)[i] = std::move(result);
  }
  return absl::OkStatus();
}

absl::Status RegionProgram::Run(std::span<const RuntimeValue> inputs,
                                std::vector<RuntimeValue>* outputs) {
  // The memory of an input may be written again after the run: sequences must not keep it.
  input_values_.clear();
  for (const size_t i : inputs_)
    input_values_.push_back({.view = inputs[i].view, .sequence = inputs[i].sequence});
  WEFT_ASSIGN_OR_RETURN(PreparedProgram* const prepared, Prepare(input_values_));
  outputs->resize(outputs_.size());
  WEFT_RETURN_IF_ERROR(prepared->plan != nullptr ? RunPlan(*prepared->plan, outputs)
                                                 : RunSegments(*prepared->first, outputs));
  for (size_t i = 0; i < outputs_.size(); ++i)
    if (outputs_[i].argument >= 0)
      (*outputs)[i] = inputs[static_cast<size_t>(outputs_[i].argument)];
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ir::Type>> RegionProgram::OutputTypes(
    std::span<const RuntimeValue> inputs) const {
  const auto type_of = [&](size_t i) {
    return TypeOf(inputs[i], argument_types_[i], *program_->context());
  };
  std::vector<ir::Type> program_inputs, types;
  for (const size_t i : inputs_) program_inputs.push_back(type_of(i));
  PackedWeights own(resources_.packed);
  WEFT_ASSIGN_OR_RETURN(const std::unique_ptr<ir::Program> program,
                        Specialized(program_inputs, own));
  const ir::Operation end = program->body().Terminator();
  for (const Output& output : outputs_)
    types.push_back(output.argument >= 0
                        ? type_of(static_cast<size_t>(output.argument))
                        : end.operand(static_cast<uint32_t>(output.result)).type());
  return types;
}

}  // namespace weft::kernels
