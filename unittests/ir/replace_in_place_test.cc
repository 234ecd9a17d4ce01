#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/graph_view.h"
#include "ir/rewriter.h"
#include "ir/text/printer.h"

namespace weft::ir {
namespace {

class Recorder : public RewriteListener {
 public:
  void OnModified(Operation op) override { modified.push_back(op.id()); }
  void OnReplacedInPlace(Operation op, std::span<const uint32_t> gone,
                         std::span<const uint32_t> values) override {
    erased.assign(gone.begin(), gone.end());
    released.insert(values.begin(), values.end());
    RewriteListener::OnReplacedInPlace(op, gone, values);
  }
  std::vector<uint32_t> modified, erased;
  std::set<uint32_t> released;
};

// Ops "t.any" of up to four operands each, some of them absent.
class RandomProgram {
 public:
  RandomProgram(IrContext* context, uint32_t seed) : random_(seed), program(context) {
    type = context->TensorType(DataType::kF32, {2});
    Builder b(&program);
    values.push_back(b.AddInput("x", type));
    values.push_back(b.AddInput("y", type));
    for (int i = 0; i < 30; ++i) {
      OperationState state{.opcode = Opcode::FindOrAdd("t.any"), .result_types = {type}};
      for (uint32_t n = Below(5); n > 0; --n)
        state.operands.push_back(Below(8) == 0 ? Value() : values[values.size() - 1 - Near()]);
      ops.push_back(b.Create(std::move(state)));
      values.push_back(ops.back().result());
    }
    b.Return({{"z", values.back()}});
  }
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  size_t Near() { return std::min<size_t>(values.size() - 1, Below(4)); }

 private:
  std::mt19937 random_;

 public:
  Program program;
  Type type;
  std::vector<Value> values;
  std::vector<Operation> ops;
};

struct Change {
  Operation root;
  std::vector<uint32_t> erased, operands;
};

// A root, some of what only it reads, and operands from what stays before it.
Change Draw(RandomProgram& p) {
  Change change;
  const size_t at = 5 + p.Below(25);
  change.root = p.ops[at];
  std::set<uint32_t> going{change.root.id()};
  for (size_t i = at; i-- > 0;) {
    const auto users = p.ops[i].result().users();
    const bool only_ours = std::all_of(users.begin(), users.end(),
                                       [&](Operation user) { return going.contains(user.id()); });
    if (users.empty() || !only_ours || p.Below(5) == 0) continue;
    going.insert(p.ops[i].id());
    change.erased.push_back(p.ops[i].id());
  }
  for (uint32_t n = p.Below(5); n > 0; --n) {
    const Value value = p.values[p.Below(static_cast<uint32_t>(at) + 2)];
    const bool stays = value.IsBlockArgument() || !going.contains(value.DefiningOp().id());
    change.operands.push_back(stays && p.Below(6) ? value.id() : kNoId);
  }
  return change;
}

// What the old root and the operations that go with it read of what stays.
std::set<uint32_t> ReadByOld(const RandomProgram& p, const Change& change) {
  std::set<uint32_t> gone(change.erased.begin(), change.erased.end()), read;
  gone.insert(change.root.id());
  for (const Operation op : p.ops)
    if (gone.contains(op.id()))
      for (const Value v : op.operands())
        if (v && (v.IsBlockArgument() || !gone.contains(v.DefiningOp().id()))) read.insert(v.id());
  return read;
}

// The readers of each value that is left, in order: which operation of the block reads it where.
std::string UseLists(RandomProgram& p) {
  std::map<uint32_t, size_t> numbers;
  for (const Operation op : p.program.body()) numbers.emplace(op.id(), numbers.size());
  std::string text;
  for (const Value v : p.values) {
    if (!v.IsAlive() || (!v.IsBlockArgument() && v.DefiningOp().opcode().name() != "t.any"))
      continue;
    for (const OpOperand use : v.uses())
      text +=
          std::to_string(numbers.at(use.owner().id())) + "." + std::to_string(use.index()) + " ";
    text += "\n";
  }
  return text;
}

TEST(ReplaceInPlace, DoesWhatCreatingReplacingAndErasingDo) {
  IrContext context;
  const Opcode opcode = Opcode::FindOrAdd("t.new");
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    RandomProgram p(&context, seed), q(&context, seed);
    const Change change = Draw(p), same = Draw(q);
    const std::set<uint32_t> read = ReadByOld(p, change);

    Recorder recorder;
    Rewriter in_place(&p.program, &recorder);
    in_place.ReplaceInPlace(
        change.root, change.erased,
        {.opcode = opcode, .operands = change.operands, .attrs = {}, .type = p.type});

    Rewriter step_by_step(&q.program);
    const Operation made = step_by_step.CreateBefore(
        same.root, {.opcode = opcode, .operands = same.operands, .attrs = {}, .type = q.type});
    step_by_step.Replace(same.root, {made.result()});
    for (const uint32_t op : same.erased) step_by_step.Erase(GraphView(&q.program).OperationAt(op));

    ASSERT_EQ(Verify(p.program).message(), "") << "seed " << seed;
    ASSERT_EQ(PrintProgram(p.program), PrintProgram(q.program)) << "seed " << seed;
    EXPECT_EQ(p.program.num_operations(), q.program.num_operations());
    EXPECT_EQ(recorder.erased, change.erased);
    EXPECT_EQ(recorder.modified, std::vector<uint32_t>{change.root.id()});
    EXPECT_EQ(recorder.released, read) << "seed " << seed;
    ASSERT_EQ(UseLists(p), UseLists(q)) << "seed " << seed;
  }
}

TEST(ReplaceInPlace, HandlesOfWhatWentAreStale) {
  IrContext context;
  RandomProgram p(&context, 1);
  Change change;
  do change = Draw(p);
  while (change.erased.empty());
  const Operation gone = GraphView(&p.program).OperationAt(change.erased[0]);
  Rewriter(&p.program)
      .ReplaceInPlace(change.root, change.erased,
                      {.opcode = Opcode::FindOrAdd("t.new"), .type = p.type});
  EXPECT_FALSE(gone.IsAlive());
  EXPECT_TRUE(change.root.IsAlive());
  EXPECT_EQ(change.root.name(), "t.new");
}

TEST(ReplaceInPlaceDeathTest, RefusesToEraseWhatOthersRead) {
  IrContext context;
  Program program(&context);
  Builder b(&program);
  const Type type = context.TensorType(DataType::kF32, {2});
  const auto any = [&](Value operand) {
    return b.Create(OperationState{
        .opcode = Opcode::FindOrAdd("t.any"), .operands = {operand}, .result_types = {type}});
  };
  const Operation below = any(b.AddInput("x", type)), root = any(below.result());
  b.Return({{"y", root.result()}, {"z", below.result()}});
  const std::vector<uint32_t> erased{below.id()};
  EXPECT_DEATH(Rewriter(&program).ReplaceInPlace(
                   root, erased, {.opcode = Opcode::FindOrAdd("t.new"), .type = type}),
               "erasing an operation whose result is used");
}

}  // namespace
}  // namespace weft::ir
