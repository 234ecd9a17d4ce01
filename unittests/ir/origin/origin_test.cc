#include "ir/origin/origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "ir/clone.h"
#include "ir/rewriter.h"
#include "ir/text/printer.h"

namespace weft::ir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Texts(const std::vector<Name>& names) {
  std::vector<std::string> texts;
  for (const Name name : names) texts.emplace_back(name.str());
  return texts;
}
std::vector<std::string> Sources(Operation op) { return Texts(OriginOf(op).sources); }
std::vector<std::string> Rules(Operation op) { return Texts(OriginOf(op).rules); }
std::vector<std::string> Docs(Operation op) { return Texts(OriginOf(op).docs); }

// y = c(b(a(x))), where a is a node, b has a named result, and c has neither.
class Origins : public testing::Test {
 protected:
  Origins() : program(&context), r(&program) {
    type = context.TensorType(DataType::kF32, {2});
    x = r.AddInput("x", type);
    a = Make("t.a", {x});
    program.SetLocation(a, Name("node_a"));
    b = Make("t.b", {a.result()});
    program.SetName(b.result(), "bee");
    c = Make("t.c", {b.result()});
    r.Return({{"y", c.result()}});
    r.SetInsertionPoint(a);
  }
  Operation Make(std::string_view name, std::vector<Value> operands, AttrDict attrs = {}) {
    return r.Builder::Create({.opcode = Opcode::FindOrAdd(name),
                              .operands = std::move(operands),
                              .attrs = attrs,
                              .result_types = {type}});
  }
  Operation MakeAt(Operation place, std::string_view name, std::vector<Value> operands) {
    r.SetInsertionPoint(place);
    return Make(name, std::move(operands));
  }

  IrContext context;
  Program program;
  Rewriter r;
  Type type;
  Value x;
  Operation a, b, c;
};

TEST_F(Origins, AreUnknownUntilTheyAreRecorded) {
  EXPECT_FALSE(RecordsOrigins(program));
  const Operation d = MakeAt(c, "t.d", {b.result()});
  r.Replace(c, {d.result()});
  EXPECT_EQ(OriginOf(d), Origin());
  EXPECT_FALSE(IsRewritten(d));
  EXPECT_EQ(DescribeOrigin(a), "node_a");
}

TEST_F(Origins, BeginWithEveryOperationAsItsOwnSource) {
  const Value constant = r.ConstantScalar(DataType::kF32, 1);
  RecordOrigins(program, [&](Operation op) { return op == b ? "of b" : ""; });
  EXPECT_TRUE(RecordsOrigins(program));
  EXPECT_THAT(Sources(a), ElementsAre("node_a"));
  EXPECT_THAT(Sources(b), ElementsAre("%bee"));
  EXPECT_THAT(Sources(c), ElementsAre(ValueName(c.result())));
  EXPECT_EQ(OriginOf(constant.DefiningOp()), Origin());
  EXPECT_THAT(Docs(b), ElementsAre("of b"));
  for (const Operation op : {a, b, c}) {
    EXPECT_THAT(Rules(op), IsEmpty());
    EXPECT_FALSE(IsRewritten(op));
  }
}

TEST_F(Origins, GoToAllThatIsMadeInPlaceOfAnOperation) {
  RecordOrigins(program);
  const OriginScope scope(program, "some-pass");
  r.SetInsertionPoint(b);
  const Value one = r.ConstantScalar(DataType::kF32, 1);
  const Operation inner = Make("t.inner", {a.result(), one});
  const Operation outer = Make("t.outer", {inner.result()});
  r.Replace(b, {outer.result()});
  for (const Operation op : {inner, outer}) {
    EXPECT_THAT(Sources(op), ElementsAre("%bee"));
    EXPECT_THAT(Rules(op), ElementsAre("some-pass"));
    EXPECT_TRUE(IsRewritten(op));
  }
  EXPECT_EQ(OriginOf(one.DefiningOp()), Origin());  // may be anybody's
  EXPECT_THAT(Sources(a), ElementsAre("node_a"));
  EXPECT_FALSE(IsRewritten(a));
}

TEST_F(Origins, AddUpWhereOneOperationReplacesSeveral) {
  RecordOrigins(program);
  const OriginScope scope(program, "join");
  const Operation both = MakeAt(a, "t.both", {x});
  r.Replace(a, {both.result()});
  r.Replace(b, {both.result()});
  EXPECT_THAT(Sources(both), ElementsAre("node_a", "%bee"));
  EXPECT_THAT(Rules(both), ElementsAre("join"));
}

TEST_F(Origins, StayAsTheyAreWhereAnOlderOperationTakesOver) {
  RecordOrigins(program);
  const OriginScope scope(program, "drop");
  r.Replace(b, {a.result()});
  EXPECT_THAT(Sources(a), ElementsAre("node_a"));
  EXPECT_FALSE(IsRewritten(a));
}

TEST_F(Origins, AddUpWhereAnOperationTakesOverForAnEqualOne) {
  const Operation twin = MakeAt(b, "t.a", {x});
  const Operation other =
      Make("t.a", {x}, context.Dict({{Name("n"), context.IntAttr(1)}}));  // other attributes
  for (const Operation op : {twin, other}) program.SetLocation(op, Name("also"));
  RecordOrigins(program);
  const OriginScope scope(program, "merge");
  r.Replace(other, {a.result()});
  EXPECT_FALSE(IsRewritten(a));
  r.Replace(twin, {a.result()});
  EXPECT_THAT(Sources(a), ElementsAre("node_a", "also"));
  EXPECT_THAT(Rules(a), ElementsAre("merge"));
}

TEST_F(Origins, AreNotThoseOfWhatHadTheSlotBefore) {
  RecordOrigins(program);
  const uint32_t slot = c.id();
  r.SetInsertionPoint(c.next());
  r.ReplaceAllUses(c.result(), b.result());
  r.Erase(c);
  const Operation d = Make("t.d", {b.result()});
  ASSERT_EQ(d.id(), slot);
  EXPECT_EQ(OriginOf(d), Origin());
}

TEST_F(Origins, AddUpInPlace) {
  RecordOrigins(program);
  const std::array<uint32_t, 1> operands = {x.id()}, erased = {a.id()};
  r.ReplaceInPlace(b, erased,
                   {.opcode = Opcode::FindOrAdd("t.ab"), .operands = operands, .type = type});
  EXPECT_THAT(Sources(b), ElementsAre("node_a", "%bee"));
}

TEST_F(Origins, NameWhatMadeAnOperationOfNothing) {
  RecordOrigins(program);
  Operation made;
  {
    const OriginScope scope(program, "insert-casts");
    made = MakeAt(a, "t.cast", {x});
    r.SetOperand(a, 0, made.result());
  }
  EXPECT_THAT(Sources(made), IsEmpty());
  EXPECT_THAT(Rules(made), ElementsAre("insert-casts"));
  EXPECT_FALSE(IsRewritten(a));
}

TEST_F(Origins, OfSeveralOperationsAreStated) {
  AddSources(a, std::array{b});  // nothing is recorded yet
  EXPECT_FALSE(IsRewritten(a));
  RecordOrigins(program);
  const OriginScope scope(program, "fuse");
  const Operation fused = MakeAt(c, "t.fused", {x});
  AddSources(fused, std::array{c, a, b});
  r.Replace(c, {fused.result()});
  EXPECT_THAT(Sources(fused), ElementsAre("node_a", "%bee", "%3"));
  EXPECT_THAT(Rules(fused), ElementsAre("fuse"));
  EXPECT_EQ(DescribeOrigin(fused), "node_a+%bee+%3 <- fuse");
}

TEST_F(Origins, ListRulesInTheOrderOfTheirFirstUse) {
  RecordOrigins(program);
  Operation last = c;
  for (const char* rule : {"first", "second", "first", "second"}) {
    const OriginScope scope(program, rule);
    const Operation next = MakeAt(last, "t.next", {b.result()});
    r.Replace(last, {next.result()});
    last = next;
  }
  EXPECT_THAT(Rules(last), ElementsAre("first", "second"));
  EXPECT_THAT(Sources(last), ElementsAre("%3"));
}

TEST_F(Origins, AreKeptByCopies) {
  RecordOrigins(program);
  {
    const OriginScope scope(program, "join");
    const Operation both = MakeAt(a, "t.both", {x});
    r.Replace(a, {both.result()});
    r.Replace(b, {both.result()});
  }
  const std::unique_ptr<Program> copy = program.Clone();
  EXPECT_TRUE(RecordsOrigins(*copy));
  const Operation both = copy->body().front(), last = both.next();
  EXPECT_THAT(Sources(both), ElementsAre("node_a", "%bee"));
  EXPECT_THAT(Rules(both), ElementsAre("join"));
  EXPECT_FALSE(IsRewritten(last));
  EXPECT_THAT(Sources(last), ElementsAre("%3"));
  // Each goes its own way.
  const OriginScope scope(*copy, "of-the-copy");
  Rewriter other(copy.get());
  other.Replace(last, {both.result()});
  EXPECT_THAT(Sources(c), ElementsAre("%3"));
  EXPECT_THAT(Sources(program.body().front()), ElementsAre("node_a", "%bee"));
}

TEST_F(Origins, AreKeptByCopiesOfSingleOperations) {
  RecordOrigins(program, [&](Operation) { return "a doc"; });
  ValueMap map;
  r.SetInsertionPoint(c);
  EXPECT_THAT(Sources(CloneOperation(r, a, map)), ElementsAre("node_a"));
  Program other(&context);
  Builder builder(&other);
  map.Set(x, builder.AddInput("x", type));
  const Operation copy = CloneOperation(builder, a, map);
  EXPECT_TRUE(RecordsOrigins(other));
  EXPECT_THAT(Sources(copy), ElementsAre("node_a"));
  EXPECT_THAT(Docs(copy), ElementsAre("a doc"));
  EXPECT_FALSE(IsRewritten(copy));
}

TEST_F(Origins, ThatAreKnownBeforehandAreKept) {
  SetOrigin(b, {.sources = {Name("p"), Name("q")}, .rules = {Name("old")}, .docs = {}});
  EXPECT_FALSE(RecordsOrigins(program));
  EXPECT_TRUE(IsRewritten(b));
  RecordOrigins(program, [](Operation) { return "doc"; });
  EXPECT_THAT(Sources(b), ElementsAre("p", "q"));
  EXPECT_THAT(Docs(b), ElementsAre("doc"));
  const OriginScope scope(program, "new");
  const Operation all = MakeAt(c, "t.all", {x});
  r.Replace(c, {all.result()});
  r.Replace(b, {all.result()});
  r.Replace(a, {all.result()});
  EXPECT_THAT(Sources(all), ElementsAre("node_a", "p", "q", "%3"));  // in the order of the program
  EXPECT_THAT(Rules(all), ElementsAre("old", "new"));
}

TEST_F(Origins, JoinedAreBoundedInLength) {
  Origin origin;
  EXPECT_EQ(JoinedSources(origin), "");
  for (const char* name : {"conv1", "bn1", "relu1", "add1"}) origin.sources.emplace_back(name);
  EXPECT_EQ(JoinedSources(origin), "conv1+bn1+relu1+add1");
  EXPECT_EQ(JoinedSources(origin, 20), "conv1+bn1+relu1+add1");
  EXPECT_EQ(JoinedSources(origin, 19), "conv1+bn1+2_more");
  EXPECT_EQ(JoinedSources(origin, 1), "conv1+3_more");
}

// --- recorders ----------------------------------------------------------------------

class Recorders : public Origins {
 protected:
  Recorders() : recorder(program, &nobody) {
    RecordOrigins(program);
    r.set_listener(&recorder);
    recorder.Begin();
  }
  RewriteListener nobody;
  OriginRecorder recorder;
};

TEST_F(Recorders, GiveWhatARuleMakesAllThatItErases) {
  const Operation fused = MakeAt(c, "t.fused", {x});
  r.Replace(c, {fused.result()});
  r.Erase(b);
  r.Erase(a);
  recorder.Commit("fuse");
  EXPECT_THAT(Sources(fused), ElementsAre("node_a", "%bee", "%3"));
  EXPECT_THAT(Rules(fused), ElementsAre("fuse"));
}

// c(b(x)) => b(c(x))
TEST_F(Recorders, TellOperationsApartByTheirNames) {
  const Operation new_c = MakeAt(c, "t.c", {a.result()});
  const Operation new_b = Make("t.b", {new_c.result()});
  r.Replace(c, {new_b.result()});
  r.Erase(b);
  recorder.Commit("swap");
  EXPECT_THAT(Sources(new_b), ElementsAre("%bee"));
  EXPECT_THAT(Sources(new_c), ElementsAre("%3"));
}

// c(b(x)) => c(t(x)): what b did is now done by both
TEST_F(Recorders, ShareWhatHasNoSuccessorOfItsName) {
  const Operation helper = MakeAt(c, "t.helper", {a.result()});
  const Operation new_c = Make("t.c", {helper.result()});
  r.Replace(c, {new_c.result()});
  r.Erase(b);
  recorder.Commit("fold");
  EXPECT_THAT(Sources(new_c), ElementsAre("%bee", "%3"));
  EXPECT_THAT(Sources(helper), ElementsAre("%bee", "%3"));
}

TEST_F(Recorders, ForgetARewriteThatCameToNothing) {
  const Operation made = MakeAt(c, "t.d", {b.result()});
  r.Erase(made);
  recorder.Abandon();
  recorder.Begin();
  const Operation fused = MakeAt(c, "t.fused", {b.result()});
  r.Replace(c, {fused.result()});
  recorder.Commit("fuse");
  EXPECT_THAT(Sources(fused), ElementsAre("%3"));
}

TEST_F(Recorders, LeaveWhatStaysAlone) {
  r.Replace(c, {b.result()});
  recorder.Commit("drop");
  for (const Operation op : {a, b}) EXPECT_FALSE(IsRewritten(op));
}

// A chain of ten thousand rewrites, each of which takes one operation more.
TEST(OriginChains, AreFoundInLinearTime) {
  constexpr int kLength = 10000;
  IrContext context;
  Program program(&context);
  Rewriter r(&program);
  const Type type = context.TensorType(DataType::kF32, {2});
  Value v = r.AddInput("x", type);
  std::vector<Operation> ops;
  for (int i = 0; i < kLength; ++i) {
    ops.push_back(r.Builder::Create(
        {.opcode = Opcode::FindOrAdd("t.a"), .operands = {v}, .result_types = {type}}));
    v = ops.back().result();
  }
  r.Return({{"y", v}});
  RecordOrigins(program);
  RewriteListener nobody;
  OriginRecorder recorder(program, &nobody);
  r.set_listener(&recorder);
  Operation last = ops[0];
  for (int i = 1; i < kLength; ++i) {
    recorder.Begin();
    r.SetInsertionPoint(ops[i]);
    const Operation both = r.Builder::Create({.opcode = Opcode::FindOrAdd("t.a"),
                                              .operands = {last.operand(0)},
                                              .result_types = {type}});
    r.Replace(ops[i], {both.result()});
    r.Erase(last);
    recorder.Commit("merge");
    last = both;
  }
  const Origin origin = OriginOf(last);
  ASSERT_EQ(origin.sources.size(), size_t{kLength});
  EXPECT_EQ(origin.sources[0].str(), "%1");
  EXPECT_EQ(origin.sources[kLength - 1].str(), "%" + std::to_string(kLength));
  EXPECT_THAT(Rules(last), ElementsAre("merge"));
}

}  // namespace
}  // namespace weft::ir
