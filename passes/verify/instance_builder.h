// One attempt at a program on which a rule applies: what the source pattern says, by the decisions of
// an assignment, with the rest drawn.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "drr/rule/pattern_graph.h"
#include "ir/builder.h"
#include "ir/program.h"
#include "passes/verify/assignment.h"

namespace weft::passes {

// What the types of inputs leave open.
enum class Open : uint8_t {
  kNothing,
  kEqualSizes,  // sizes from 2 on are symbols, the same for the same size: s2, s3, ...
  kAllSizes,  // every size is a symbol of its own, of what an Identity makes of an input, as a type
              // that an op computes can be narrowed and that of an input can not
  kRanks,     // likewise the rank and with it the sizes
};

class InstanceBuilder {
 public:
  // Completes `assignment`, or where something is left open takes it as it is.
  InstanceBuilder(const drr::PatternGraph& graph, Draw& draw, Assignment& assignment,
                  Open open = Open::kNothing);
  // False when something does not fit: error() may say what.
  bool Build();
  size_t ops_built() const { return ops_built_; }
  // The op where the rule should match.
  ir::Operation site() const;
  const std::string& error() const { return error_; }
  // Whether the assignment has other decisions now, which may lead further.
  bool reconsidered() const { return reconsidered_; }
  std::unique_ptr<ir::Program> TakeProgram() { return std::move(program_); }
  ir::Program& program() { return *program_; }
  // Of each input of the program, with the sizes that the assignment has.
  const std::vector<ir::Type>& input_types() const { return input_types_; }

 private:
  using Done = drr::IdVector<drr::SourceValue, bool>;
  static constexpr int kMaxDepth = 200;  // of a rule: guards the recursion
  bool MakeValue(drr::ValueId id, int depth);
  bool MakeSkipped(drr::ValueId id, int depth);
  bool MakeOp(drr::OpId id, int depth);
  bool MakeOperands(const drr::SourceOp& op, int depth);
  bool PickAlternative(drr::OpId id, drr::Alternative* alternative);
  // One op for every element of the list it reads.
  bool MakeEach(drr::OpId id, const drr::Alternative& alternative);
  // `first`, if given, in place of the first operand.
  bool TryOp(drr::OpId id, const drr::Alternative& alternative, ir::Value first,
             ir::Operation* made);
  // Other decisions, of those that were made for this op alone: what its complaint names, as the
  // complaint says it must be where it does, or anything. False when there are none.
  bool Reconsider(drr::OpId id, const drr::Alternative& alternative, const Done& done_before);
  // The same for what its operands are computed from, for another attempt.
  void ReconsiderBelow(drr::OpId id, const drr::Alternative& alternative);
  bool FollowComplaint(drr::ValueId id, std::string_view name);
  ir::AttrDict MakeAttrs(drr::OpId id, const drr::Alternative& alternative);
  ir::Attribute MakeAttr(drr::OpId id, const drr::Alternative& alternative,
                         const ir::FieldDef& field);
  uint32_t Choose(drr::ValueId id, size_t n);
  void MakeLeaf(drr::ValueId id);
  ir::Value Materialise(const Leaf& leaf);
  ir::Type Opened(ir::Type type, const std::string& input) const;
  // Values that the op reads and that are there.
  std::vector<ir::Value> Near(const drr::SourceOp& op) const;
  // Leaves that were drawn anew.
  void EraseUnused();

  const drr::PatternGraph& graph_;
  Draw& draw_;
  Assignment& assignment_;
  const Open open_;
  std::unique_ptr<ir::Program> program_;
  ir::Builder b_;
  drr::IdVector<drr::SourceValue, ir::Value> values_;
  drr::IdVector<drr::SourceValue, std::vector<ir::Value>> lists_;
  Done done_;
  drr::IdVector<drr::SourceOp, ir::Operation> ops_;
  drr::IdVector<drr::AttrVariable, bool> bound_;  // by an op that is made
  std::vector<ir::Value> near_;                   // of the op under way
  size_t ops_built_ = 0;
  std::vector<ir::Type> input_types_;
  bool reconsidered_ = false;
  std::string error_;
};

}  // namespace weft::passes
