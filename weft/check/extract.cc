#include "weft/check/extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "ir/clone.h"
#include "ir/dialects/builtin.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "weft/io/shapes.h"

namespace weft {
namespace {

using ir::Operation;
using ir::Program;
using ir::Value;

// `name` if it is one that no other has, else "<otherwise>_<i>".
std::string UnusedName(std::string_view name, const char* otherwise, std::set<std::string>* names) {
  std::string unused(name);
  for (size_t i = names->size(); unused.empty() || names->contains(unused); ++i)
    unused = fmt::format("{}_{}", otherwise, i);
  names->insert(unused);
  return unused;
}

bool IsMadeInside(Operation op, Value value) {
  for (Operation holder = value.ParentBlock().ParentOp(); holder; holder = holder.ParentOp())
    if (holder == op) return true;
  return false;
}

class Extractor {
 public:
  Extractor(Program& program, const Extraction& extraction)
      : program_(program), extraction_(extraction), part_(new Program(program.context())) {}

  std::unique_ptr<Program> Run() {
    CopyModule();
    for (const Value input : extraction_.inputs) AddInput(input);
    ir::Builder builder(part_.get());
    builder.SetInsertionPointToEnd(part_->body());
    for (const Operation op : extraction_.ops) {
      for (const Value value : ValuesReadBy(op)) AddInput(value);
      CopyOperation(builder, op);
      CopyParameters(op);
    }
    std::vector<std::pair<std::string, Value>> outputs;
    for (const auto& [name, value] : extraction_.outputs) {
      AddInput(value);
      outputs.emplace_back(name, map_.Get(value));
    }
    builder.Return(std::move(outputs));
    return std::move(part_);
  }

 private:
  // A result that is an input stays the input, whatever else of the operation is read.
  void CopyOperation(ir::Builder& builder, Operation op) {
    std::vector<std::pair<Value, Value>> inputs;
    for (const Value result : op.results())
      if (!known_.insert(result.id()).second) inputs.emplace_back(result, map_.Get(result));
    const Operation copy = ir::CloneOperation(builder, op, map_);
    for (const auto& [result, input] : inputs) {
      part_->SetName(copy.result(result.index()), "");
      map_.Set(result, input);
    }
  }

  void CopyModule() {
    const Operation from = program_.module();
    ir::AttrDict attrs = from.attrs();
    for (const char* name : {"input_names", "output_names", "default_inputs"})
      attrs = program_.context()->Without(attrs, ir::Name(name));
    ir::Rewriter(part_.get()).SetAttrs(part_->module(), attrs);
  }

  void CopyParameters(Operation op) {
    const auto copy = [&](Operation reader) {
      if (!reader.Is<ir::GetParameterOp>()) return;
      const std::string name = reader.attrs_of<ir::GetParameterOp>().parameter_name;
      if (const ir::Attribute dense = program_.parameter(name)) part_->SetParameter(name, dense);
    };
    copy(op);
    for (uint32_t i = 0; i < op.num_regions(); ++i) ir::Walk(op.region(i), copy);
  }

  // Unless it is there, or made by what is.
  void AddInput(Value value) {
    if (!known_.insert(value.id()).second) return;
    const bool is_input = value.IsBlockArgument() && value.ParentBlock() == program_.body();
    const std::string name =
        is_input ? InputsOf(program_)[value.index()].name : std::string(value.name());
    map_.Set(value,
             ir::Builder(part_.get()).AddInput(UnusedName(name, "value", &names_), value.type()));
  }

  Program& program_;
  const Extraction& extraction_;
  std::unique_ptr<Program> part_;
  ir::ValueMap map_;
  std::unordered_set<uint32_t> known_;  // values that `map_` has
  std::set<std::string> names_;         // of inputs
};

}  // namespace

std::vector<Value> ValuesReadBy(Operation op) {
  std::vector<Value> values;
  for (const Value operand : op.operands())
    if (operand) values.push_back(operand);
  for (uint32_t i = 0; i < op.num_regions(); ++i)
    ir::Walk(op.region(i), [&](Operation inner) {
      for (const Value operand : inner.operands())
        if (operand && !IsMadeInside(op, operand)) values.push_back(operand);
    });
  return values;
}

Operation HolderInBody(Operation op) {
  const ir::Block body = op.program()->body();
  while (!(op.block() == body)) op = op.ParentOp();
  return op;
}

std::unique_ptr<Program> Extract(Program& program, const Extraction& extraction) {
  return Extractor(program, extraction).Run();
}

std::unique_ptr<Program> ExtractOps(Program& program, std::vector<Operation> ops) {
  std::unordered_set<uint32_t> kept;
  for (const Operation op : ops) kept.insert(op.id());
  const size_t given = ops.size();
  for (size_t i = 0; i < given; ++i)
    for (const Value value : ValuesReadBy(ops[i]))
      if (const Operation maker = value.DefiningOp();
          maker && maker.HasTrait(ir::kConstantLike) && kept.insert(maker.id()).second)
        ops.push_back(maker);
  std::sort(ops.begin(), ops.end(), [](Operation a, Operation b) { return a.IsBefore(b); });
  Extraction extraction{.ops = std::move(ops), .outputs = {}};
  std::set<std::string> names;
  for (const Operation op : extraction.ops) {
    if (op.HasTrait(ir::kConstantLike)) continue;
    for (const Value result : op.results()) {
      const auto users = result.users();
      if (result.IsUnused() || std::any_of(users.begin(), users.end(), [&](Operation user) {
            return !kept.contains(HolderInBody(user).id());
          }))
        extraction.outputs.emplace_back(UnusedName(result.name(), "output", &names), result);
    }
  }
  return Extract(program, extraction);
}

}  // namespace weft
