#include "ir/analysis/default_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dialects/builtin.h"
#include "ir/infer.h"
#include "ir/rewriter.h"
#include "ir/walk.h"

namespace weft::ir {
namespace {

Strings NamesOf(Program& program) {
  return program.module().attrs_of<ModuleOp>().default_inputs.value_or(Strings());
}

bool Contains(const Strings& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void SetNames(Rewriter& rewriter, std::string_view attribute, const Strings& names) {
  rewriter.SetAttr(rewriter.program()->module(), attribute, rewriter.context()->StringsAttr(names));
}

}  // namespace

Attribute DefaultOfInput(Program& program, std::string_view name) {
  return Contains(NamesOf(program), name) ? program.parameter(name) : Attribute();
}

void SetDefaultOfInput(Program& program, std::string_view name, Attribute dense) {
  program.SetParameter(name, dense);
  Strings names = NamesOf(program);
  if (Contains(names, name)) return;
  names.emplace_back(name);
  Rewriter rewriter(&program);
  SetNames(rewriter, kDefaultInputs, names);
}

size_t FoldDefaultInputs(Program& program) {
  const Strings defaults = NamesOf(program);
  if (defaults.empty()) return 0;
  const Strings inputs = program.module().attrs_of<ModuleOp>().input_names.value_or(Strings());
  Rewriter rewriter(&program);
  rewriter.SetInsertionPoint(program.body().front());
  Strings left;
  for (const std::string& name : inputs) {
    const auto i = static_cast<uint32_t>(left.size());  // of the argument, those before it gone
    if (!Contains(defaults, name)) {
      left.push_back(name);
      continue;
    }
    const Value input = program.body().argument(i),
                constant = rewriter.Constant(program.parameter(name));
    program.SetName(constant, name);
    rewriter.ReplaceAllUses(input, constant);
    rewriter.EraseArgument(program.body(), i);
  }
  SetNames(rewriter, "input_names", left);
  const Operation module = program.module();
  rewriter.SetAttrs(module, program.context()->Without(module.attrs(), Name(kDefaultInputs)));
  Strings read;
  Walk(program, [&](Operation op) {
    if (op.Is<GetParameterOp>()) read.push_back(op.attrs_of<GetParameterOp>().parameter_name);
  });
  for (const std::string& name : defaults)
    if (!Contains(read, name)) program.EraseParameter(name);
  return inputs.size() - left.size();
}

absl::Status CheckDefaultInputs(Program& program) {
  const Strings names = NamesOf(program);
  const Strings inputs = program.module().attrs_of<ModuleOp>().input_names.value_or(Strings());
  for (const std::string& name : names) {
    const auto place = std::find(inputs.begin(), inputs.end(), name);
    if (place == inputs.end())
      return InvalidArgument(fmt::format("default_inputs names {}, which is no input", name));
    const Attribute dense = program.parameter(name);
    if (!dense)
      return InvalidArgument(fmt::format("input {} has no parameter for its default", name));
    const Type type = program.body().argument(static_cast<uint32_t>(place - inputs.begin())).type();
    const Type known = type.IsTensor() ? program.context()->UnrankedTensorType(type.dtype()) : type;
    if (!Compatible(dense.dense_type(), known))
      return InvalidArgument(fmt::format("input {} is {} but its default is {}", name,
                                         type.ToString(), dense.dense_type().ToString()));
  }
  return absl::OkStatus();
}

}  // namespace weft::ir
