#include "passes/verify/match_assignment.h"

#include <algorithm>
#include <map>
#include <vector>

#include "drr/engine/matcher.h"
#include "ir/walk.h"

namespace weft::passes {
namespace {

using drr::OpId;
using drr::SourceOp;
using drr::SourceValue;
using drr::ValueId;
using ir::Attribute;
using ir::Operation;
using ir::Value;

class Reading {
 public:
  explicit Reading(const drr::MatchContext& match)
      : match_(match), graph_(match.rule().graph), assignment_(graph_) {}

  std::optional<Assignment> Read() {
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const ValueId id(i);
      if (graph_.Resolve(id) == id && match_.bound(id) && !ReadValue(id)) return std::nullopt;
    }
    for (size_t i = 0; i < graph_.ops.size(); ++i) ReadOp(OpId(i));
    for (size_t i = 0; i < graph_.attrs.size(); ++i)
      assignment_.variables[drr::AttrId(i)] = match_.attr(drr::AttrId(i));
    return std::move(assignment_);
  }

 private:
  bool ReadValue(ValueId id) {
    const SourceValue& v = graph_.values[id];
    std::optional<uint32_t>& choice = assignment_.choices[id];
    if (!v.either.empty()) {
      for (uint32_t i = 0; i < v.either.size() && !choice; ++i)
        if (match_.bound(v.either[i]) && match_.value(v.either[i]) == match_.value(id)) choice = i;
      return true;
    }
    if (v.through) choice = 0;
    if (v.through || v.producer) return true;
    if (v.list) {
      const std::vector<Value>& list = match_.list(id);
      choice = static_cast<uint32_t>(list.size());
      return list.empty() || ReadLeaf(id, list[0]);
    }
    if (v.optional) choice = match_.value(id) ? 0 : 1;
    return !match_.value(id) || ReadLeaf(id, match_.value(id));
  }

  bool ReadLeaf(ValueId id, Value value) {
    if (!value.type().IsTensor() || !value.type().HasRank()) return false;
    ir::Shape shape = value.type().shape();
    for (int64_t& size : shape)
      if (size < 0) size = SizeOf(size);
    const ir::Type type = graph_.context()->TensorType(value.type().dtype(), shape);
    if (ir::ElementSize(type.dtype()) == 0 || type.NumElements() > kMaxElements) return false;
    assignment_.leaves[id] = Leaf{type, ir::Contents(value)};
    return true;
  }

  // Of a symbol, the same wherever it is.
  int64_t SizeOf(int64_t symbol) {
    constexpr int64_t kFirst = 2;
    return sizes_.try_emplace(symbol, kFirst + static_cast<int64_t>(sizes_.size())).first->second;
  }

  void ReadOp(OpId id) {
    const Operation op = match_.op(id);
    const SourceOp& source = graph_.ops[id];
    if (!op || op.def() == nullptr) return;
    for (uint32_t i = 0; i < source.alternatives.size(); ++i)
      if (source.alternatives[i].def == op.def()) assignment_.alternatives[id] = i;
    if (op.HasTrait(ir::kCommutative) && op.num_operands() >= 2 && source.operands.size() >= 2 &&
        source.operands[0])
      assignment_.swapped[id] = match_.value(source.operands[0]) != op.operand(0);
    for (const ir::FieldDef& field : op.def()->fields)
      assignment_.fields[{id.index(), field.name.str()}] = op.attr(field.name.str());
  }

  const drr::MatchContext& match_;
  const drr::PatternGraph& graph_;
  Assignment assignment_;
  std::map<int64_t, int64_t> sizes_;
};

}  // namespace

std::optional<Assignment> AssignmentOf(const drr::MatchContext& match) {
  return Reading(match).Read();
}

std::vector<Assignment> AssignmentsOf(const drr::Rule& rule, ir::Program& program) {
  std::vector<Assignment> assignments;
  ir::Walk(program, [&](Operation op) {
    drr::MatchContext match(&rule);
    if (!drr::Matcher(rule).Match(op, &match)) return;
    if (auto assignment = AssignmentOf(match)) assignments.push_back(*std::move(assignment));
  });
  return assignments;
}

}  // namespace weft::passes
