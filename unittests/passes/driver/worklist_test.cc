#include "passes/worklist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/rewriter.h"
#include "unittests/drr/engine/toy_ops.h"

namespace weft::passes {
namespace {

namespace toy = drr::toy;
using ir::Value;
using testing::ElementsAre;

class WorklistTest : public testing::Test {
 protected:
  WorklistTest() : program(&context), b(&program), view(&program) {
    toy::Load(context);
    x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {2, 3}));
  }
  uint32_t Narrow() { return b.Make<toy::Relu>({x}).DefiningOp().id(); }
  uint32_t Wide() { return b.Make<toy::Join>(std::vector<Value>(33, x)).DefiningOp().id(); }
  Worklist List(uint64_t seed = 0) {
    Worklist list(view, seed);
    list.Resize(program.op_slots());
    return list;
  }
  static std::vector<uint32_t> All(Worklist& list) {
    std::vector<uint32_t> ops;
    while (!list.empty())
      if (const uint32_t op = list.Pop(); op != ir::kNoId) ops.push_back(op);
    return ops;
  }

  ir::IrContext context;
  ir::Program program;
  ir::Builder b;
  const ir::GraphView view;
  Value x;
};

TEST_F(WorklistTest, GivesTheLastFirstAndThoseWithManyOperandsAtTheEnd) {
  const uint32_t a = Narrow(), wide = Wide(), c = Narrow(), other_wide = Wide();
  Worklist list = List();
  for (const uint32_t op : {a, wide, c, other_wide, a}) list.Add(op);
  EXPECT_EQ(list.Next(), c);
  EXPECT_THAT(All(list), ElementsAre(c, a, other_wide, wide));
}

TEST_F(WorklistTest, RemovesAndDropsAndReverses) {
  const uint32_t a = Narrow(), wide = Wide(), c = Narrow(), other_wide = Wide();
  Worklist list = List();
  list.Add(a);
  list.Add(wide);
  const Worklist::Mark mark = list.Now();
  list.Add(c);
  list.Add(other_wide);
  list.DropSince(mark);
  list.Add(c);
  list.Remove(a);
  EXPECT_THAT(All(list), ElementsAre(c, wide));
  for (const uint32_t op : {a, wide, c, other_wide}) list.Add(op);
  list.Reverse();
  EXPECT_THAT(All(list), ElementsAre(a, c, wide, other_wide));
}

TEST_F(WorklistTest, OneWithManyOperandsWaitsInAnySlot) {
  const uint32_t a = Narrow(), c = Narrow();
  Worklist list = List();
  list.Add(c);
  list.Add(a);
  list.Remove(a);
  ir::Rewriter(&program).Erase(view.OperationAt(a));
  const uint32_t wide = Wide();
  ASSERT_EQ(wide, a);
  list.Add(wide);
  EXPECT_THAT(All(list), ElementsAre(c, wide));
}

TEST_F(WorklistTest, GivesEachOnceInARandomOrder) {
  std::vector<uint32_t> ops(50);
  for (size_t i = 0; i < ops.size(); ++i) ops[i] = i % 5 ? Narrow() : Wide();
  Worklist list = List(/*seed=*/7);
  for (const uint32_t op : ops) list.Add(op);
  const std::vector<uint32_t> given = All(list);
  EXPECT_NE(given, ops);
  EXPECT_THAT(given, testing::UnorderedElementsAreArray(ops));
}

}  // namespace
}  // namespace weft::passes
