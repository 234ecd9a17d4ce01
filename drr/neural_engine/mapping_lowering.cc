// From a mapping to rules. An edge of a chain says only that a node reads another: at which operand
// is left open, so where order matters every place is an alternative (Either). Types of another
// arity, or with other traits, make rules of their own.
#include "drr/neural_engine/mapping_lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "drr/rule/arity.h"
#include "ir/base/suggest.h"
#include "ir/walk.h"

namespace weft::drr::text {

namespace {

constexpr size_t kMaxRules = 64;

// "" or why a node of 'in' cannot be of this type.
std::string WhyNotAnInNode(const ir::IrContext& context, const std::string& type) {
  const ir::OpDef* def = FindOpNamed(context, type);
  if (!def) return UnknownOp(context, type);
  if (IsVariadic(def->info->operands))
    return fmt::format("{} takes any number of operands, which chains cannot say", def->name());
  return def->info->results.size() == 0 ? fmt::format("{} has no output", def->name()) : "";
}

// The types of a node, grouped by how many operands they take and whether these may be swapped.
void GroupTypes(const Mapping::InNode& node, const ir::IrContext& context,
                std::vector<std::vector<const ir::OpDef*>>* groups) {
  for (const std::string& type : node.types) {
    const ir::OpDef* def = FindOpNamed(context, type);
    const auto same = [&](const ir::OpDef* other) {
      if (other->info->operands.size() != def->info->operands.size()) return false;
      for (size_t i = 0; i < def->info->operands.size(); ++i)
        if (other->info->operands[i].arity != def->info->operands[i].arity) return false;
      return other->Has(ir::kCommutative) == def->Has(ir::kCommutative);
    };
    const auto group =
        std::find_if(groups->begin(), groups->end(), [&](const auto& g) { return same(g[0]); });
    if (group == groups->end()) {
      groups->push_back({def});
    } else if (std::find(group->begin(), group->end(), def) == group->end()) {
      group->push_back(def);
    }
  }
}

// The ops of these names. Empty when one is not there: the rule then has no match.
bool FindNamedNodes(const Mapping& mapping, ir::Program& program, Diagnostics* mistakes,
                    std::vector<ir::Operation>* ops) {
  ops->resize(mapping.in.size());
  bool ok = true;
  ir::Walk(program, [&](ir::Operation op) {
    for (size_t i = 0; i < mapping.in.size(); ++i) {
      if (op.location().str() != mapping.in[i].types[0] || op.HasTrait(ir::kConstantLike)) continue;
      if ((*ops)[i])
        ok = mistakes->Error(mapping.in[i].at, fmt::format("several nodes of the program are "
                                                           "called '{}'",
                                                           mapping.in[i].types[0]));
      (*ops)[i] = op;
    }
  });
  for (size_t i = 0; ok && i < ops->size(); ++i)
    if (!(*ops)[i]) {
      mistakes->Warning(mapping.in[i].at,
                        fmt::format("the program has no node '{}'", mapping.in[i].types[0]));
      ops->clear();
    }
  return ok;
}

}  // namespace

// Names of the Neural Engine that are not those of an op here.
const ir::OpDef* FindOpNamed(const ir::IrContext& context, std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
      {"AddV2", "onnx.Add"},
      {"BatchMatMul", "onnx.MatMul"},
      {"BatchMatMulV2", "onnx.MatMul"},
      {"BiasAdd", "onnx.Add"},
      {"Convolution", "onnx.Conv"},
      {"InnerProduct", "fused.linear"},
      {"Matmul", "onnx.MatMul"},
      {"MatMulWithBias", "fused.linear"},
      {"MultiHeadAttention", "fused.attention"},
      {"Mean", "onnx.ReduceMean"},
      {"RealDiv", "onnx.Div"},
      {"TransposeBatchMatmul", "fused.batch_matmul"},
  };
  if (name.find('.') != std::string_view::npos) return context.FindOp(name);
  for (const auto& [alias, meaning] : kAliases)
    if (alias == name) return context.FindOp(meaning);
  // The Neural Engine's Gelu and Attention are ours, not those of later opsets.
  std::string snake = KebabCase(name);
  std::replace(snake.begin(), snake.end(), '-', '_');
  if (const ir::OpDef* def = context.FindOp("fused." + snake)) return def;
  return context.FindOp("onnx." + std::string(name));
}

std::string UnknownOp(const ir::IrContext& context, const std::string& type) {
  std::vector<std::string_view> names;
  for (const ir::OpDef* def : context.Ops()) {
    names.push_back(def->name());
    names.push_back(def->name().substr(def->name().find('.') + 1));
  }
  return fmt::format("no op is called '{}'{}", type, ir::DidYouMean(type, names));
}

void MappingLowering::RunOnTypes(const Types& types, std::vector<std::unique_ptr<Rule>>* rules) {
  types_ = types;
  FindOut();
  Inputs();
  for (int node : TopologicalOrder()) {
    if (LowerNode(node, types[static_cast<size_t>(node)])) continue;
    std::vector<ValueId>& results = NodeAt(node).results;  // so that the others can be looked at
    results.clear();
    while (results.size() < NumResults(node)) results.push_back(NewValue(In(node).at));
  }
  Finish(rules);
}

void MappingLowering::RunOnNodes(const std::vector<ir::Operation>& ops,
                                 std::vector<std::unique_ptr<Rule>>* rules) {
  FindOut();
  if (LowerNamedNodes(ops)) Finish(rules);
}

void MappingLowering::FindOut() {
  for (const Mapping::OutNode& out : m_.out) {
    out_defs_.push_back(FindOpNamed(*graph_->context(), out.type));
    has_body_ |= out_defs_.back()->IsComposite();
  }
}

void CheckOps(const Mapping& mapping, const ir::IrContext& context, Diagnostics* mistakes) {
  for (const Mapping::InNode& node : mapping.in)
    if (!mapping.by_name)
      for (const std::string& type : node.types)
        if (const std::string why = WhyNotAnInNode(context, type); !why.empty())
          mistakes->Error(node.at, why);
  for (const Mapping::OutNode& out : mapping.out)
    if (!FindOpNamed(context, out.type)) mistakes->Error(out.at, UnknownOp(context, out.type));
}

void LowerMapping(const Mapping& mapping, ir::IrContext* context, ir::Program* program,
                  Diagnostics* mistakes, std::vector<std::unique_ptr<Rule>>* rules) {
  if (mapping.by_name) {
    if (!program) {
      mistakes->Error(mapping.at, "search_mode 'node_name' needs a program, and there is none");
      return;
    }
    std::vector<ir::Operation> ops;
    if (FindNamedNodes(mapping, *program, mistakes, &ops) && !ops.empty())
      MappingLowering(mapping, mapping.name, context, program, mistakes).RunOnNodes(ops, rules);
    return;
  }
  std::vector<std::vector<std::vector<const ir::OpDef*>>> groups(mapping.in.size());
  size_t count = 1;
  for (size_t i = 0; i < mapping.in.size(); ++i) {
    GroupTypes(mapping.in[i], *context, &groups[i]);
    count = std::min(kMaxRules + 1, count * std::max<size_t>(1, groups[i].size()));
  }
  bool ok = count <= kMaxRules ||
            mistakes->Error(mapping.at, fmt::format("types of different arity make more than {} "
                                                    "rules",
                                                    kMaxRules));
  for (size_t which = 0; ok && which < count; ++which) {
    MappingLowering::Types types;
    size_t rest = which;
    for (const auto& node : groups) {
      types.push_back(node[rest % node.size()]);
      rest /= node.size();
    }
    const std::string name =
        which == 0 ? mapping.name : fmt::format("{}.{}", mapping.name, which + 1);
    const size_t errors = mistakes->num_errors();
    MappingLowering(mapping, name, context, program, mistakes).RunOnTypes(types, rules);
    ok = mistakes->num_errors() == errors;
  }
}

}  // namespace weft::drr::text
