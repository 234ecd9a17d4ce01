// What became of every operation of a program, from the rewrites of a run.
//
//   RewriteRecorder recorder(program);         // before passes run on it
//   ... a run with trace.on_rewrite = [&](auto& r) { recorder.Record(r); }, hook = recorder.hook()
//   const Lineage lineage = recorder.Finish(before_graph, after_graph);
//
// The same as ir/origin/origin.h says of names, for operations: what a rule makes comes from those of
// its name that the rule erases, or from all that it erases where none has its name; constants are
// nobody's source. What is merged into another operation becomes that. What a pass does as a whole goes by
// locations.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "drr/rule/rule.h"
#include "passes/pass_manager.h"
#include "passes/rewrite_trace.h"
#include "weft/picture/graph.h"

namespace weft::picture {

// One rewrite.
struct LineageStep {
  std::string pass, site;
  int label = 0;
  std::vector<std::string> removed, added;  // names of operations, constants among them
  uint32_t operations_removed = 0, operations_added = 0;  // constants apart
  // Nodes of the graph before that what was removed comes from, and of the graph after that come of what
  // was added.
  std::vector<uint32_t> before, after;
};

// Of a node that is an operation.
struct NodeLineage {
  int label = -1;        // of what changed it; -1: it is as it was
  uint32_t gone_by = 0;  // before: the number of the step that removed it; 0: none did
  std::vector<uint32_t>
      relatives;                // nodes of the other graph that it became, or that it comes from
  std::vector<uint32_t> steps;  // after: numbers of those that led to it, ascending
};

struct Lineage {
  std::vector<std::string> labels;  // names of rules, or of passes that rewrite by themselves
  std::vector<LineageStep> steps;   // step n is steps[n - 1]
  std::vector<NodeLineage> before, after;  // by node
};

class RewriteRecorder {
 public:
  // The program must outlive the recorder.
  explicit RewriteRecorder(ir::Program& program);

  void Record(const passes::TracedRewrite& rewrite);
  // Must be called around every pass.
  passes::PassManager::Hook hook();
  // The rules of the passes that ran, each once, in their order.
  const std::vector<std::shared_ptr<drr::Rule>>& rules() const { return rules_; }

  // `before` is of a copy of the program as it was when the recorder was made, `after` of the program.
  Lineage Finish(const Graph& before, const Graph& after);

 private:
  // An operation, from its making to its end.
  struct Life {
    ir::Operation op;
    std::string name, place;
    bool is_constant = false;
    uint32_t made_by = 0, gone_by = 0;  // numbers of steps
    uint32_t ended = 0;                 // counts the moments at which lives end; 0: it lasts
    int made_label = -1, gone_label = -1;
    std::vector<uint32_t> parents, children;
    std::vector<uint32_t> originals, finals;  // lives
  };

  uint32_t AddLife(ir::Operation op);
  void Merge(const std::vector<uint32_t>& gone, const std::vector<uint32_t>& stayed_ids);
  void AddParents(const std::vector<uint32_t>& gone, const std::vector<uint32_t>& made,
                  bool by_place);
  void Sync(const std::string& pass);
  int LabelOf(const passes::TracedRewrite& rewrite);
  int LabelOf(const std::string& name);
  void FindFinals();
  int StrongestLabel(uint32_t life, std::vector<uint32_t>* steps) const;
  void DescribeAfter(const Graph& after, Lineage* lineage) const;
  void DescribeBefore(const Graph& before, Lineage* lineage) const;
  void DescribeSteps(const Graph& after, Lineage* lineage) const;

  ir::Program& program_;
  std::vector<Life> lives_;  // first those of the program as it was, in its order
  size_t num_originals_ = 0;
  uint32_t moments_ = 0;
  std::unordered_map<uint32_t, uint32_t> life_of_op_;  // by operation id
  std::vector<LineageStep> steps_;
  struct Moved {
    std::vector<uint32_t> gone, made;
  };
  std::vector<Moved> moved_;  // by step
  std::vector<std::string> labels_;
  std::map<std::string, int> label_of_name_;
  std::vector<std::shared_ptr<drr::Rule>> rules_;
  std::map<std::string, size_t> rule_of_name_;
  std::vector<int> before_node_;  // by life, of the originals
};

}  // namespace weft::picture
