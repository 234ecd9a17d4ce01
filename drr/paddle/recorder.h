// What records a rule in the string spelling. Names stand for values and may be used before they
// are defined, so the source graph is recorded at once and the result graph when all is known.
#pragma once

#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drr/paddle/string_spelling.h"
#include "drr/rule/convert_attr.h"
#include "ir/base/suggest.h"

namespace weft::drr::string_spelling {

// Runs a function of the rule; what it throws or asks for in vain becomes an explanation.
template <class F>
bool Guarded(const drr::MatchContext& match, F&& run) {
  const MatchContext m(match);
  try {
    run(m);
  } catch (const std::exception& e) {
    match.Explain(m.problem().empty() ? std::string("its function throws ") + e.what()
                                      : m.problem());
    return false;
  }
  if (m.problem().empty()) return true;
  match.Explain(m.problem());
  return false;
}

class Recorder {
 public:
  Recorder(std::string_view rule, ir::IrContext* context)
      : graph_(std::make_unique<PatternGraph>(rule, context)) {
    graph_->lenient = true;
  }

  Tensor& Named(bool is_result, std::string_view name, SourceLoc loc) {
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (!name.empty() && nodes_[i].is_result == is_result && nodes_[i].name == name)
        return tensors_[i];
    Node node;
    node.is_result = is_result;
    node.name = name;
    node.loc = loc;
    if (!is_result) node.value = graph_->NewValue(name, loc);
    return New(std::move(node));
  }
  Tensor& None(bool is_result) {
    Node node;
    node.is_result = is_result;
    node.is_none = true;
    return New(std::move(node));
  }

  const Op& SourceOp(std::string_view name, Attributes attrs, SourceLoc loc);
  const Op& ResultOp(std::string_view name, Attributes attrs, SourceLoc loc);
  // The first result, or with `outputs` null.
  Tensor* Call(int op, std::initializer_list<const Tensor*> inputs,
               const std::initializer_list<const Tensor*>* outputs);
  void Assign(int to, int from);
  void Require(std::string_view why, std::function<bool(const MatchContext&)> holds, SourceLoc loc);
  std::unique_ptr<PatternGraph> Finish();

 private:
  struct Node {
    bool is_result = false;
    bool is_none = false;
    std::string name;
    SourceLoc loc;
    int value = -1;            // of a source tensor
    int op = -1, result = -1;  // the defining op of a result tensor,
    int alias = -1;            // or the node it is another name for
  };
  struct OpNode {
    bool is_result = false;
    const ir::OpDef* def = nullptr;
    int graph_id = -1;
    SourceLoc loc;
    std::vector<int> inputs;  // of a result op
    std::vector<std::pair<std::string, Attribute>> attrs;
  };

  Tensor& New(Node node) {
    nodes_.push_back(std::move(node));
    return tensors_.emplace_back(this, static_cast<int>(nodes_.size()) - 1);
  }
  bool IsDefined(const Node& node) const { return node.op >= 0 || node.alias >= 0; }
  const ir::OpDef* FindOp(std::string_view name, SourceLoc loc);
  void NoAttribute(const ir::OpDef& def, std::string_view attr, SourceLoc loc);
  bool CheckArity(const OpNode& op, size_t inputs, size_t outputs);
  void AliasSource(const Node& to, int value);
  int SourceValueNamed(std::string_view name) const;
  int AttrVariable(std::string_view name) const;
  ResultOperand Resolve(int node);
  void LowerOp(OpNode& op);
  void LowerAttr(const OpNode& op, const std::string& name, const Attribute& attr);
  void Feed(const OpNode& op, size_t operand, const Attribute& attr);
  ComputeAttr Computed(const Attribute& attr, ir::AttrKind kind,
                       bool (*accepts)(ir::Attribute)) const;
  ir::AttrKind KindOf(const Attribute& attr) const;
  void CheckCycles();

  std::unique_ptr<PatternGraph> graph_;
  std::vector<Node> nodes_;
  std::deque<Tensor> tensors_;  // of the nodes; rules hold references
  std::vector<OpNode> ops_;
  std::deque<Op> op_handles_;
  std::vector<int> definitions_;  // named result nodes, in the order they were defined
};

}  // namespace weft::drr::string_spelling
