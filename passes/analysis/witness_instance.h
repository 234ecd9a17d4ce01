// One attempt at a program on which a rule applies: builds what the source pattern says, with types,
// attributes and constants drawn from the stock.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "drr/rule/pattern_graph.h"
#include "ir/builder.h"
#include "ir/program.h"
#include "passes/analysis/witness_stock.h"

namespace weft::passes {

class WitnessInstance {
 public:
  WitnessInstance(ir::IrContext& context, const drr::PatternGraph& graph, Genes& genes);
  // False when something does not fit: error() may say what.
  bool Build();
  size_t ops_built() const { return ops_built_; }
  ir::Value root() const { return values_[graph_.Resolve(graph_.root_value())]; }
  const std::string& error() const { return error_; }
  std::unique_ptr<ir::Program> TakeProgram() { return std::move(program_); }
  ir::Program& program() { return *program_; }

 private:
  using Done = drr::IdVector<drr::SourceValue, bool>;
  static constexpr int kMaxDepth = 200;  // of a rule: guards the recursion
  bool MakeValue(drr::ValueId id, int depth);
  bool MakeOp(drr::OpId id, int depth);
  bool PickAlternative(const drr::SourceOp& op, drr::Alternative* alternative);
  // One op for every element of the list it reads.
  bool MakeEach(drr::OpId id, const drr::Alternative& alternative);
  // `first`, if given, in place of the first operand.
  bool TryOp(const drr::SourceOp& op, const drr::Alternative& alternative, ir::Value first,
             ir::Operation* made);
  // New leaves in place of those which the op's complaint names; if it names none, of any one. Of
  // those alone that were made for this op.
  void Redraw(const drr::SourceOp& op, const ir::OpDef& def, const Done& done_before);
  ir::AttrDict MakeAttrs(const drr::Alternative& alternative);
  ir::Attribute MakeAttr(const drr::Alternative& alternative, const ir::FieldDef& field);
  ir::Value MakeLeaf();
  // Leaves that were drawn anew.
  void EraseUnused();

  const drr::PatternGraph& graph_;
  Genes& genes_;
  Stock stock_;
  std::unique_ptr<ir::Program> program_;
  ir::Builder b_;
  drr::IdVector<drr::SourceValue, ir::Value> values_;
  drr::IdVector<drr::SourceValue, std::vector<ir::Value>> lists_;
  Done done_;
  drr::IdVector<drr::SourceOp, ir::Operation> ops_;
  drr::IdVector<drr::AttrVariable, ir::Attribute> attrs_;
  size_t ops_built_ = 0;
  int num_inputs_ = 0;
  std::string error_;
};

}  // namespace weft::passes
