// The program that MakeRandomGraph is working on: its values with what they hold on tame inputs, and
// adding to it, in its body or in a block of an operator with regions.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/base/status.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/evaluator.h"
#include "ir/program.h"
#include "unittests/fuzz/graphs/random_values.h"

namespace weft::fuzz {

class GraphMaker {
 public:
  GraphMaker(ir::IrContext& context, uint64_t seed);

  Random& random() { return random_; }
  ir::IrContext& context() { return *program_->context(); }
  const std::vector<ir::Value>& values() const { return values_; }
  ir::Attribute ContentsOf(ir::Value value) const { return contents_.at(value.id()); }

  // Null where the element type has no numbers.
  ir::Value AddInput(ir::Type type);
  ir::Value AddConstant(ir::Type type);
  ir::Value AddConstant(ir::Attribute dense);
  // A list, or the first of them.
  ir::Value AddInts(const std::vector<int64_t>& ints, bool scalar = false);
  // An input while there are few, else a constant.
  ir::Value AddLeaf(ir::Type type);
  // A value of this type, one that is there more often than not.
  ir::Value LeafOrValue(ir::Type type);
  // A value, a late one more often than not.
  ir::Value PickValue();
  // One with this element type; null if there is none.
  ir::Value PickOfType(ir::DataType dtype);

  // False, and the program is as before, where the operands do not fit, results would be large or not
  // of static size, or no kernel computes them.
  bool AddOp(ir::OperationState state, size_t num_results, ir::Operation* added);

  // --- operators with regions: BeginControl, for each region BeginBlock, AddOp..., EndBlock, then
  // EndControl ---
  ir::Operation BeginControl(ir::OperationState state, size_t num_results);
  // What is added from now on goes into this block and may read all that is there. What its arguments
  // hold is random: element types must have numbers.
  std::vector<ir::Value> BeginBlock(ir::Operation op, uint32_t region,
                                    const std::vector<ir::Type>& arguments);
  void EndBlock(const std::vector<ir::Value>& returned);
  // Computes it. False, and it is gone, where that fails or results would be large.
  bool EndControl(ir::Operation op);
  // A copy of an operator of another program, whose values `map` has.
  bool AddCopy(ir::Operation op, ir::ValueMap& map);
  size_t depth() const { return scopes_.size(); }  // of blocks that are open
  // Whether graphs of this seed have such operators: every fourth.
  bool has_control() const { return has_control_; }

  // The program with outputs: what was not read yet, and others.
  std::unique_ptr<ir::Program> Finish();

 private:
  struct Scope {  // a block that is being made
    ir::Block block;
    size_t num_values;  // outside of it
  };

  ir::Value Keep(ir::Value value, ir::Attribute contents);
  // What it makes of what its operands, and the values that its regions read, hold.
  absl::StatusOr<std::vector<ir::Attribute>> RunAlone(ir::Operation op) const;

  Random random_;
  bool has_control_;
  std::unique_ptr<ir::Program> program_;
  ir::Builder builder_;
  std::unique_ptr<ir::Evaluator> evaluator_;
  std::vector<ir::Value> values_;
  std::unordered_map<uint32_t, ir::Attribute> contents_;  // by value
  std::vector<Scope> scopes_;
  int num_inputs_ = 0;
};

// A shape of rank 0 to 4 with sizes 0, 1, 2, 3 and 5, zero seldom.
ir::Shape RandomShape(Random& random);

// An operator on values of the graph and on leaves that fit: false where none was found.
bool AddRandomOp(GraphMaker& maker);

// An If, Loop or Scan with `step`s inside of it, which add to the graph. Loops end after few rounds,
// whatever the inputs are.
void AddControlFlow(GraphMaker& maker, const std::function<void()>& step);

// The body of a golden program, on values of the graph where types fit; in some an operation is
// damaged, and what depends on it may be missing.
void SpliceGolden(GraphMaker& maker, const std::string& path);

}  // namespace weft::fuzz
