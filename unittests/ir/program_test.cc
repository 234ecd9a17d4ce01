#include "ir/program.h"

#include <gtest/gtest.h>

#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/dialects/builtin.h"
#include "ir/rewriter.h"
#include "ir/walk.h"

namespace weft::ir {
namespace {

// t.add(x, y) -> out of x's type; t.neg(x); t.two(x) -> a, b
struct TestAdd {
  static constexpr OpInfo kInfo = {
      .name = "t.add", .operands = {"x", "y"}, .traits = kPure | kCommutative | kElementwise};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c) { return c.SetResult(0, c.operand_type(0)); }
};
struct TestTwo {
  static constexpr OpInfo kInfo = {.name = "t.two", .operands = {"x"}, .results = {"a", "b"}};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<Ints> perm{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis, int64_t{-1}}, Field{"perm", &Attrs::perm});
    }
  };
  static bool Infer(InferContext& c) {
    c.SetResult(0, c.operand_type(0));
    return c.SetResult(1, c.operand_type(0));
  }
};

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    AddOps<TestAdd, TestTwo>(context);
    type = context.TensorType(DataType::kF32, {2, 3});
  }
  IrContext context;
  Type type;
};

TEST_F(ProgramTest, BuildsAndVerifies) {
  Program program(&context);
  Builder b(&program);
  const Value x = b.AddInput("x", type);
  const Operation two = b.Create<TestTwo>({x}, {.perm = {1, 0}});
  EXPECT_EQ(two.attrs_of<TestTwo>().axis, -1);
  EXPECT_EQ(two.attrs_of<TestTwo>().perm, (Ints{1, 0}));
  const Value sum = b.Make<TestAdd>({two.result(1), two.result(0)});
  b.Return({{"y", sum}});
  EXPECT_EQ(Verify(program).message(), "");
  EXPECT_EQ(x.use_count(), 1u);
  EXPECT_EQ(two.result(1).index(), 1u);
  EXPECT_EQ(two.result(1).DefiningOp(), two);
  EXPECT_TRUE(two.IsBefore(sum.DefiningOp()));
  EXPECT_EQ(program.num_operations(), 4u);
  EXPECT_EQ(Verify(*program.Clone()).message(), "");
}

// So many that sorting them must not take quadratic time.
TEST_F(ProgramTest, ADictSortsItsNamesAndKeepsTheLastOfEqualOnes) {
  for (const int count : {3, 100, 100'000}) {
    std::vector<NamedAttribute> entries;
    for (const int pass : {0, 1})
      for (int i = count; i-- > 0;)
        entries.push_back({Name(std::to_string(1'000'000 + i)), context.IntAttr(pass * count + i)});
    const AttrDict dict = context.Dict(std::move(entries));
    ASSERT_EQ(dict.size(), static_cast<size_t>(count));
    int i = 0;
    for (const NamedAttribute& entry : dict) {
      ASSERT_EQ(entry.name.str(), std::to_string(1'000'000 + i));
      ASSERT_EQ(entry.value.AsInt(), count + i);
      ++i;
    }
  }
}

TEST_F(ProgramTest, ReplaceMovesUsersAndErases) {
  Program program(&context);
  Builder b(&program);
  const Value x = b.AddInput("x", type);
  const Operation two = b.Create<TestTwo>({x}, {.perm = {1, 0}});
  const Value sum = b.Make<TestAdd>({two.result(0), two.result(1)});
  b.Return({{"y", sum}});
  Rewriter r(&program);
  r.Replace(two, {x, x});
  EXPECT_FALSE(two.IsAlive());
  EXPECT_EQ(x.use_count(), 2u);
  EXPECT_EQ(sum.DefiningOp().operand(1), x);
  EXPECT_EQ(Verify(program).message(), "");
}

TEST_F(ProgramTest, ReportsAMissingAttributeByName) {
  Program program(&context);
  Builder b(&program);
  b.Create<TestTwo>({b.AddInput("x", type)});
  EXPECT_EQ(Verify(program).message(), "t.two: attribute perm is required but not given");
}

TEST_F(ProgramTest, CountsMoreThan65535Uses) {
  Program program(&context);
  Builder b(&program);
  const Value x = b.AddInput("x", type);
  const Value v = b.Make<TestAdd>({x, x});
  std::vector<Value> many(100000, v);
  const Operation end = b.Create<ReturnOp>(many);
  EXPECT_EQ(v.use_count(), 100000u);
  EXPECT_EQ(end.num_operands(), 100000u);
  Rewriter r(&program);
  r.Replace(v.DefiningOp(), {x});
  EXPECT_EQ(x.use_count(), 100000u);
  EXPECT_EQ(Verify(program).message(), "");
}

TEST_F(ProgramTest, OrderNumbersSurviveManyInsertionsAtOnePlace) {
  Program program(&context);
  Builder b(&program);
  const Value x = b.AddInput("x", type);
  const Operation first = b.Make<TestAdd>({x, x}).DefiningOp();
  const Operation last = b.Make<TestAdd>({x, x}).DefiningOp();
  EXPECT_TRUE(first.IsBefore(last));
  for (int i = 0; i < 5000; ++i) {
    b.SetInsertionPoint(last);
    b.Make<TestAdd>({x, x});
    b.SetInsertionPointAfter(first);
    b.Make<TestAdd>({x, x});
  }
  for (Operation op = first; op.next(); op = op.next()) ASSERT_TRUE(op.IsBefore(op.next()));
}

TEST(HandleDeathTest, AHandleOfAnErasedOpAborts) {
  IrContext context;
  AddOps<TestAdd>(context);
  Program program(&context);
  Builder b(&program);
  const Value x = b.AddInput("x", context.TensorType(DataType::kF32, {2}));
  const Operation op = b.Make<TestAdd>({x, x}).DefiningOp();
  Rewriter(&program).Erase(op);
  EXPECT_DEATH(op.num_operands(), "use of an erased operation");
}

TEST(HandleDeathTest, MutationsTakeNothingErasedAndNothingOfAnotherProgram) {
  IrContext context;
  AddOps<TestAdd>(context);
  const Type type = context.TensorType(DataType::kF32, {2});
  Program program(&context), other(&context);
  Builder b(&program), elsewhere(&other);
  const Value x = b.AddInput("x", type), foreign = elsewhere.AddInput("x", type);
  const Operation gone = b.Make<TestAdd>({x, x}).DefiningOp();
  const Value gone_value = gone.result();
  Rewriter rewriter(&program);
  rewriter.Erase(gone);
  const Operation op = b.Make<TestAdd>({x, x}).DefiningOp();  // takes its place
  const Operation foreign_op = elsewhere.Make<TestAdd>({foreign, foreign}).DefiningOp();
  EXPECT_DEATH(rewriter.SetOperands(op, {x, gone_value}), "a value that is erased");
  EXPECT_DEATH(rewriter.SetOperand(op, 0, gone_value), "a value that is erased");
  EXPECT_DEATH(rewriter.SetOperands(op, {x, foreign}), "operand of another program");
  EXPECT_DEATH(rewriter.SetOperand(op, 0, foreign), "operand of another program");
  EXPECT_DEATH(rewriter.SetOperand(foreign_op, 0, foreign), "operation of another program");
  EXPECT_DEATH(rewriter.ReplaceAllUses(x, foreign), "operand of another program");
  EXPECT_DEATH(program.SetName(gone_value, "y"), "use of an erased value");
  EXPECT_DEATH(rewriter.MoveBefore(foreign_op, op), "operation of another program");
  rewriter.SetInsertionPoint(op);
  rewriter.Erase(op);
  EXPECT_DEATH(rewriter.Make<TestAdd>({x, x}), "an operation that is erased");
}

TEST_F(ProgramTest, ResultsThatWereErasedServeAgain) {
  Program program(&context);
  Builder b(&program);
  const Value x = b.AddInput("x", type);
  const auto split = [&] {
    return b.Create({.opcode = Opcode::FindOrAdd("test.split"),
                     .operands = {x},
                     .result_types = {type, type, type}});
  };
  const uint32_t first = split().result(1).id();
  Rewriter(&program).Erase(program.body().front());
  EXPECT_EQ(split().result(1).id(), first);
}

}  // namespace
}  // namespace weft::ir
