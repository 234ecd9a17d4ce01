// What passes made of a program, region by region: operations that came for operations that went.
//
//   RewrittenRegions regions(*before, *after);           // equal programs
//   ...                                                  // passes rewrite `after`
//   regions.Settle(cannot_run_before, cannot_run_after);
//   for (RewrittenRegion& region : regions.Find()) {
//     const auto [a, b] = regions.Cut(region);           // the same inputs, the same outputs?
//     ...                                 // if not, perhaps after regions.Grow(&region, 1)
//   }
//
// An operation that is still there, as it was, stays: of equal operands it makes equal results. Where
// an operand has become another value, the two have to be equal. The operations between that value and
// the nearest results of others that stay are a region. If every region computes what it did, for all
// inputs, the whole does.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"

namespace weft {

struct RewrittenRegion {
  // Of the program before and of that after: what others read.
  std::vector<std::pair<ir::Value, ir::Value>> outputs;
  // Operations (of the program before) that stay and belong to it nevertheless.
  std::set<uint32_t> grown_by = {};
};

class RewrittenRegions {
 public:
  struct Part {
    std::unique_ptr<ir::Program> before, after;
  };
  struct Operations {  // of a region, without constants
    std::vector<ir::Operation> before, after;
  };

  // Both must outlive this; `after` is the one that passes rewrite, not in place (a run with a
  // RewriteTrace never does), and `before` remains as it is.
  RewrittenRegions(ir::Program& before, ir::Program& after);

  // After the passes. Given are operations of both that no kernel runs: one that holds such a one stays
  // if what it holds does, so that regions may be inside of it. Unsupported when the two programs do not
  // have as many inputs and outputs.
  absl::Status Settle(std::span<const ir::Operation> cannot_run_before,
                      std::span<const ir::Operation> cannot_run_after);

  // In the order of the program; no two share an operation.
  std::vector<RewrittenRegion> Find() const;

  // Programs of their own, with inputs and outputs in the same order.
  Part Cut(const RewrittenRegion& region) const;
  Operations OperationsOf(const RewrittenRegion& region) const;

  // What made its inputs belongs to it, too, and what made the inputs of that, `levels` times: rules may
  // rely on operations that they leave where they are. False when there is nothing more.
  bool Grow(RewrittenRegion* region, int levels) const;

 private:
  struct Pair {
    ir::Operation before, after;
  };
  struct Slice {
    std::vector<ir::Operation> ops;  // in the order of the program
    std::vector<ir::Value> inputs;
  };
  class Grouping;

  bool Stays(const Pair& pair) const;
  bool StaysInside(const Pair& holder) const;
  bool SameBlocks(ir::Block before, ir::Block after,
                  std::unordered_map<uint32_t, ir::Value>* inner) const;
  bool OpensBlocks(const Pair& holder);
  void PairValues(ir::Value before, ir::Value after);
  bool ArePaired(ir::Value before, ir::Value after) const;
  bool IsPaired(ir::Value value) const;
  ir::Operation MakerBefore(ir::Value value) const;
  // Whether a region ends at the value, which is then one of its inputs.
  bool Ends(ir::Value value, const RewrittenRegion& region) const;
  Slice SliceOf(ir::Program& program, const RewrittenRegion& region) const;
  std::vector<std::pair<ir::Value, ir::Value>> InputsOf(const Slice& before,
                                                        const Slice& after) const;

  ir::Program& before_;
  ir::Program& after_;
  std::vector<Pair> pairs_;                                       // all operations, in order
  std::vector<Pair> staying_;                                     // and ends of blocks
  std::unordered_map<uint32_t, ir::Value> to_after_, to_before_;  // by value id
  std::unordered_map<uint32_t, ir::Block> blocks_;                // of `after_`, by id of the other
  std::unordered_set<uint32_t> holders_before_, holders_after_;   // of what no kernel runs
  std::unordered_set<uint32_t> closed_;  // operations of `before_` that no region may grow by
  std::unordered_map<uint32_t, size_t> order_before_, order_after_;  // by operation id
};

}  // namespace weft
