#include "ir/analysis/default_inputs.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "ir/dialects/builtin.h"
#include "ir/infer.h"
#include "ir/rewriter.h"
#include "ir/walk.h"

namespace weft::ir {
namespace {

Strings NamesOf(Program& program) {
  return program.module().attrs_of<ModuleOp>().default_inputs.value_or(Strings());
}

void SetNames(Rewriter& rewriter, std::string_view attribute, const Strings& names) {
  rewriter.SetAttr(rewriter.program()->module(), attribute, rewriter.context()->StringsAttr(names));
}

}  // namespace

InputDefaults DefaultsOfInputs(Program& program) {
  InputDefaults defaults;
  for (const std::string& name : NamesOf(program))
    if (const Attribute dense = program.parameter(name)) defaults.emplace_back(name, dense);
  return defaults;
}

void SetDefaultsOfInputs(Program& program, const InputDefaults& defaults) {
  if (defaults.empty()) return;
  Strings names = NamesOf(program);
  const std::set<std::string> before(names.begin(), names.end());
  for (const auto& [name, dense] : defaults) {
    program.SetParameter(name, dense);
    if (!before.contains(name)) names.push_back(name);
  }
  Rewriter rewriter(&program);
  SetNames(rewriter, kDefaultInputs, names);
}

size_t FoldDefaultInputs(Program& program) {
  const InputDefaults list = DefaultsOfInputs(program);
  if (list.empty()) return 0;
  const std::map<std::string, Attribute> defaults(list.begin(), list.end());
  const Strings inputs = program.module().attrs_of<ModuleOp>().input_names.value_or(Strings());
  Rewriter rewriter(&program);
  rewriter.SetInsertionPoint(program.body().front());
  Strings left;
  for (const std::string& name : inputs) {
    const auto i = static_cast<uint32_t>(left.size());  // of the argument, those before it gone
    const auto it = defaults.find(name);
    if (it == defaults.end()) {
      left.push_back(name);
      continue;
    }
    const Value input = program.body().argument(i), constant = rewriter.Constant(it->second);
    program.SetName(constant, name);
    rewriter.ReplaceAllUses(input, constant);
    rewriter.EraseArgument(program.body(), i);
  }
  SetNames(rewriter, "input_names", left);
  const Operation module = program.module();
  rewriter.SetAttrs(module, program.context()->Without(module.attrs(), Name(kDefaultInputs)));
  std::set<std::string> read;
  Walk(program, [&](Operation op) {
    if (op.Is<GetParameterOp>()) read.insert(op.attrs_of<GetParameterOp>().parameter_name);
  });
  for (const auto& [name, dense] : defaults)
    if (!read.contains(name)) program.EraseParameter(name);
  return inputs.size() - left.size();
}

absl::Status CheckDefaultInputs(Program& program) {
  const Strings names = NamesOf(program);
  if (names.empty()) return absl::OkStatus();
  const Strings inputs = program.module().attrs_of<ModuleOp>().input_names.value_or(Strings());
  std::map<std::string, uint32_t> places;
  for (const std::string& name : inputs) places.emplace(name, static_cast<uint32_t>(places.size()));
  for (const std::string& name : names) {
    const auto place = places.find(name);
    if (place == places.end())
      return InvalidArgument(fmt::format("default_inputs names {}, which is no input", name));
    const Attribute dense = program.parameter(name);
    if (!dense)
      return InvalidArgument(fmt::format("input {} has no parameter for its default", name));
    const Type type = program.body().argument(place->second).type();
    const Type known = type.IsTensor() ? program.context()->UnrankedTensorType(type.dtype()) : type;
    if (!Compatible(dense.dense_type(), known))
      return InvalidArgument(fmt::format("input {} is {} but its default is {}", name,
                                         type.ToString(), dense.dense_type().ToString()));
  }
  return absl::OkStatus();
}

}  // namespace weft::ir
