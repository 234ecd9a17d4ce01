// A mapping as rules, one for each choice of types: its source is lowered by mapping_source.cc, its
// result by mapping_result.cc, and mapping_lowering.cc chooses the types.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drr/neural_engine/mapping.h"
#include "drr/text/diagnostics.h"

namespace weft::drr::text {

// The op that a type of a mapping means, by its name or one of the Neural Engine; null if there is none.
const ir::OpDef* FindOpNamed(const ir::IrContext& context, std::string_view name);
// The message when there is none.
std::string UnknownOp(const ir::IrContext& context, const std::string& type);

// One rule of a mapping: which types each node may have.
class MappingLowering {
 public:
  using Types = std::vector<std::vector<const ir::OpDef*>>;  // by in-node

  MappingLowering(const Mapping& mapping, const std::string& name, ir::IrContext* context,
                  ir::Program* program, Diagnostics* mistakes)
      : m_(mapping),
        program_(program),
        mistakes_(*mistakes),
        file_(ir::Name(mistakes->file()).str().data()),
        errors_before_(mistakes->num_errors()),
        graph_(std::make_unique<PatternGraph>(name, context)),
        nodes_(mapping.in.size()) {
    graph_->loc = Loc(mapping.at);
    graph_->spelling = Spelling::kMappingDict;
  }

  void RunOnTypes(const Types& types, std::vector<std::unique_ptr<Rule>>* rules);
  // The nodes of a program that the mapping names.
  void RunOnNodes(const std::vector<ir::Operation>& ops, std::vector<std::unique_ptr<Rule>>* rules);

 private:
  struct Node {
    std::vector<ValueId> results;
    std::map<int, ValueId> inputs;                                    // by operand, fixed
    std::vector<std::pair<std::vector<int>, ValueId>> either_inputs;  // by operands {j0, j1}
    bool commutative = false;
    size_t num_operands = 0;
  };

  bool Error(Position at, const std::string& what) { return mistakes_.Error(at, what); }
  SourceLoc Loc(Position at) const { return {file_, at.line}; }
  ValueId NewValue(Position at) { return graph_->NewValue("", Loc(at)); }
  const Mapping::InNode& In(int node) const { return m_.in[static_cast<size_t>(node)]; }
  Node& NodeAt(int node) { return nodes_[static_cast<size_t>(node)]; }

  void FindOut();

  // Source.
  // Which operands of in-nodes somebody asks for: they come from outside.
  void Inputs();
  void Ask(int node, const std::vector<int>& indices, Position at);
  static const ValueId* FindEither(const Node& n, const std::vector<int>& indices);
  std::vector<int> TopologicalOrder() const;
  // Every way to put the producers at operands: [producer] -> operand.
  bool Placements(int node, const std::vector<int>& producers,
                  std::vector<std::vector<int>>* placements);
  // The value at each operand of `node`, for one placement of its producers.
  bool Operands(int node, const ir::OpDef& def, const std::vector<int>& producers,
                const std::vector<int>& placement, std::vector<ValueId>* rest,
                std::vector<ValueId>* operands);
  bool Shape(int node, const ir::OpDef& def);
  bool AttrPatterns(int node, const ir::OpDef& def, std::vector<AttrPattern>* attrs);
  const ir::FieldDef* FieldNamed(const ir::OpDef& def, const Mapping::AttrValue& a);
  size_t NumResults(int node) const;
  bool LowerNode(int node, const std::vector<const ir::OpDef*>& defs);
  void WarnAboutRest(int node, const std::vector<ValueId>& rest);
  // search_mode node_name: the pattern is what the program has there.
  bool LowerNamedNodes(const std::vector<ir::Operation>& ops);

  // Result.
  // The pattern value that a tensor of input_tensors stands for; none after an error.
  ValueId InputValue(const Mapping::Tensor& t);
  // A result of the node of that name, wherever it is in the program.
  bool Outside(const Mapping::Tensor& t, ResultOperand* operand);
  bool ResultOperands(size_t i, ResultOp* op);
  bool ResultAttrs(size_t i, ResultOp* op);
  bool ResultAttrOf(const Mapping::AttrValue& a, const ir::FieldDef& field, size_t i, ResultOp* op);
  bool LowerOut(size_t i);
  bool IsTailReplaced();
  void InputChecks();
  std::string Algebra() const;
  void Finish(std::vector<std::unique_ptr<Rule>>* rules);

  const Mapping& m_;
  ir::Program* program_;
  Diagnostics& mistakes_;
  const char* file_;  // interned: names outlive every rule
  const size_t errors_before_;
  std::unique_ptr<PatternGraph> graph_;
  std::vector<Node> nodes_;
  std::vector<const ir::OpDef*> out_defs_;
  Types types_;  // of the variant; empty when nodes are named
  bool has_body_ = false;
  size_t ways_ = 1;
};

}  // namespace weft::drr::text
