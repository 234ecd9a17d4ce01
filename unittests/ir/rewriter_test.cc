// What a rewriter announces when blocks and what they hold are erased.
#include "ir/rewriter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/analysis/verifier.h"

namespace weft::ir {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

class ErasedOps : public RewriteListener {
 public:
  void OnErased(Operation op) override {
    EXPECT_TRUE(op.IsAlive());  // it is announced before it goes
    ids.push_back(op.id());
  }
  std::vector<uint32_t> ids;
};

// A holder whose block holds a leaf and another holder, and so on, `depth` deep. Every leaf reads
// the one outside of it.
class Nested : public testing::Test {
 protected:
  Nested() : program(&context), b(&program) {
    type = context.TensorType(DataType::kF32, {2, 3});
    x = b.AddInput("x", type);
    b.Return({{"y", x}});
    outermost = Holder();
    Value outside = x;
    Operation holder = outermost;
    for (int i = 0; i < kDepth; ++i) {
      b.SetInsertionPointToEnd(b.AppendBlock(holder.region(0)));
      const Operation leaf = b.Builder::Create({.opcode = Opcode::FindOrAdd("test.leaf"),
                                                .operands = {outside},
                                                .result_types = {type}});
      holder = Holder();
      outside = leaf.result();
      below.insert(below.end(), {leaf.id(), holder.id()});
    }
    b.set_listener(&erased);
  }
  Operation Holder() {
    return b.Builder::Create({.opcode = Opcode::FindOrAdd("test.holder"), .num_regions = 1});
  }

  static constexpr int kDepth = 3;
  IrContext context;
  Program program;
  Rewriter b;
  Type type;
  Value x;
  Operation outermost;
  std::vector<uint32_t> below;  // all that the outermost holder holds
  ErasedOps erased;
};

TEST_F(Nested, ErasingAHolderAnnouncesAllThatItHolds) {
  below.push_back(outermost.id());
  b.Erase(outermost);
  EXPECT_THAT(erased.ids, UnorderedElementsAreArray(below));
  EXPECT_EQ(Verify(program).message(), "");
}

TEST_F(Nested, ErasingABlockAnnouncesAllThatItHolds) {
  b.EraseBlock(outermost.region(0).blocks()[0]);
  EXPECT_THAT(erased.ids, UnorderedElementsAreArray(below));
  EXPECT_TRUE(outermost.IsAlive());
  EXPECT_THAT(outermost.region(0).blocks(), IsEmpty());
  EXPECT_EQ(x.use_count(), 1u);
  EXPECT_EQ(Verify(program).message(), "");
}

}  // namespace
}  // namespace weft::ir
