// Reference bodies of attentions whose types are only partly known: what Infer accepts has a body or
// none, and building it never fails.
#include <random>

#include "ir/analysis/reference_body.h"
#include "ir/walk.h"
#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

namespace ms = microsoft;

class AttentionBodies : public InferTest {
 protected:
  enum class Built { kRefused, kNone, kBody };

  template <class O>
  Built Build(std::vector<Value> operands, const typename O::template Attrs<BuilderSlot>& attrs,
              size_t num_results = 1) {
    while (!operands.empty() && !operands.back()) operands.pop_back();
    Operation op;
    std::string error;
    OperationState state{
        .opcode = kOpcodeOf<O>, .operands = operands, .attrs = MakeAttrs<O>(context, attrs)};
    if (!b.TryCreate(state, num_results, &op, &error)) return Built::kRefused;
    return BuildReferenceBody(b, op, operands).empty() ? Built::kNone : Built::kBody;
  }
  Value I32(const Shape& dims) { return X(dims, DataType::kI32); }

  const int64_t s_ = SymbolicDim("S"), t_ = SymbolicDim("T");
};

TEST_F(AttentionBodies, EmptyHeadsKeepTheirSize) {
  EXPECT_EQ(Build<ops::Attention>({X({n, -1, 0}), X({2, 5, s_}), X({2, 5, 0})},
                                  {.kv_num_heads = 1, .q_num_heads = 1, .softcap = 3.0f}),
            Built::kBody);
}

TEST_F(AttentionBodies, CachesOfUnknownRankHaveNoBody) {
  EXPECT_EQ(
      Build<ops::RotaryEmbedding>(
          {X({2, 1, 16}), Unranked(), X({16, 2}), X({2, 1}, DataType::kI64)}, {.num_heads = 4}),
      Built::kNone);
}

TEST_F(AttentionBodies, KeysAndValuesOfGroupQueryAttentionHaveOneWidth) {
  const Value past = X({1, 1, 3, 4});
  EXPECT_EQ(Run<ms::GroupQueryAttention>(
                {X({1, 1, 4}), X({1, 1, 4}), X({1, 1, 2}), past, past, I32({1}), I32({})},
                {.kv_num_heads = 1, .num_heads = 1}),
            "com.microsoft.GroupQueryAttention: query has 4 columns but value has 2");
}

TEST_F(AttentionBodies, BatchesOfAllOperandsAreOne) {
  const Value past = X({1, 1, 2, 8});
  EXPECT_EQ(
      Run<ms::GroupQueryAttention>({X({n, 1, 24}), Value(), Value(), past, past, I32({3}), I32({})},
                                   {.kv_num_heads = 1, .num_heads = 1}),
      "com.microsoft.GroupQueryAttention: past_key has 1 batches but seqlens_k has 3");
  EXPECT_EQ(Run<ms::Attention>({X({s_, 5, 1}), X({t_, 24}), X({-1}), Value(), X({2, 2, 1, 2, 8}),
                                X({5, -1, 5, 7})},
                               {.num_heads = 1}),
            "com.microsoft.Attention: attention_bias [5,?,5,7] does not broadcast to [2,1,5,7]");
}

TEST_F(AttentionBodies, BiasesNeedKnownColumns) {
  const auto build = [&](Value v, Value bias) {
    return Build<ms::MultiHeadAttention>({X({2, -1, 8}), X({2, 2, 5, 4}), v, bias},
                                         {.num_heads = 2});
  };
  EXPECT_EQ(build(X({2, 2, -1, -1}), X({7})), Built::kNone);
  EXPECT_EQ(build(X({2, 2, -1, 4}), X({7})), Built::kRefused);
  EXPECT_EQ(build(X({2, 2, -1, 4}), X({24})), Built::kBody);
}

TEST_F(AttentionBodies, NoBatchesWithColumnsOfUnknownSize) {
  EXPECT_EQ(Build<ms::MultiHeadAttention>({X({0, 7, t_}), X({-1, 1, 4, 2, 2})},
                                          {.num_heads = 4, .scale = 0.5f}),
            Built::kBody);
}

TEST_F(AttentionBodies, LengthsAndMaskSayOneBatch) {
  const Value q = X({n, 2, 3, 4}), mask = X({5, 1, 3, 3});
  const auto build = [&](int64_t lengths) {
    return Build<ops::Attention>({q, q, q, mask, Value(), Value(), X({lengths}, DataType::kI64)},
                                 {});
  };
  EXPECT_EQ(build(3), Built::kRefused);
  EXPECT_EQ(build(5), Built::kBody);
}

TEST_F(AttentionBodies, HeadsAreRepeatedWithoutAnIndexForEach) {
  const int64_t heads = int64_t{4} * 1000 * 1000 * 1000;
  const Value k = X({1, 1, 5, 4}), q = X({1, heads, 0, 4});
  EXPECT_EQ(Build<fused::Attention>({q, k, k}, {.scale = 0.5f}), Built::kBody);
}

// A size of 0 at its own place says the same either way, and older opsets know one way only.
TEST_F(AttentionBodies, OnlyMovedSizesTakeZeroLiterally) {
  const auto literal = [&] {
    int count = 0;
    Walk(program, [&](Operation op) {
      count += op.Is<ops::Reshape>() && op.attrs_of<ops::Reshape>().allowzero != 0;
    });
    return count;
  };
  const Value merged = X({n, -1, 8}), k = X({n, 2, t_, 8});
  EXPECT_EQ(Build<ops::Attention>({merged, merged, merged}, {.kv_num_heads = 2, .q_num_heads = 2}),
            Built::kBody);
  EXPECT_EQ(literal(), 0);
  EXPECT_EQ(Build<ops::Attention>({X({n, 4, 3, 8}), k, k}, {}), Built::kBody);
  EXPECT_EQ(literal(), 2);  // the repeated heads of k and v
}

// Shapes that nearly fit, where sizes are unknown, symbols, or wrong.
class RandomAttentions : public AttentionBodies {
 protected:
  int64_t Pick(std::initializer_list<int64_t> from) {
    return from.begin()[random_() % from.size()];
  }
  bool Chance(uint32_t percent) { return random_() % 100 < percent; }
  Value Any(Shape dims, DataType dtype = DataType::kF32) {
    if (Chance(3)) return Unranked(dtype);
    for (int64_t& dim : dims) {
      if (Chance(10)) dim = kUnknownDim;
      if (Chance(10)) dim = Pick({n, m, s_, t_});
      if (Chance(6)) dim = Pick({0, 1, 2, 3, 5, 7});
    }
    return X(dims, dtype);
  }
  Value Maybe(uint32_t percent, const Shape& dims, DataType dtype = DataType::kF32) {
    return Chance(percent) ? Any(dims, dtype) : Value();
  }
  void Draw() {
    batch = Pick({1, 2}), queries = Pick({1, 3}), keys = Pick({1, 3, 5}), heads = Pick({1, 2, 4});
    shared = Pick({1, 2}), depth = Pick({0, 1, 2, 4, 8}), past = Pick({0, 2, 4});
  }
  Shape IndexDims() {
    switch (random_() % 5) {
      case 0:
        return {batch};
      case 1:
        return {2 * batch};
      case 2:
        return {batch, keys + past};
      case 3:
        return {batch, queries, keys + past};
      default:
        return {batch, 1, 8, 8};
    }
  }

  Built MultiHead() {
    std::vector<Value> x(3);
    x[0] = Any({batch, queries, heads * depth});
    const auto form = random_() % 4;
    for (size_t i : {1, 2})
      x[i] = form == 0 ? Any({batch, heads, keys, depth}) : Any({batch, keys, heads * depth});
    if (form == 1) x = {Any({batch, queries, heads, 3, depth}), Value(), Value()};
    if (form == 2) x = {x[0], Any({batch, keys, heads, 2, depth}), Value()};
    const uint32_t has_past = Chance(40) ? 100 : 0;
    x.push_back(Maybe(30, {3 * heads * depth}));
    x.push_back(Maybe(40, IndexDims(), DataType::kI32));
    x.push_back(Maybe(30, {batch, Pick({1, heads}), queries, keys + past}));
    for (int i = 0; i < 2; ++i) x.push_back(Maybe(has_past, {batch, heads, past, depth}));
    return Build<ms::MultiHeadAttention>(x,
                                         {.num_heads = heads,
                                          .scale = static_cast<float>(Pick({0, 2})),
                                          .unidirectional = Pick({0, 1})},
                                         Chance(50) ? 1 : 3);
  }
  Built GroupQuery() {
    const int64_t all = heads * shared;
    std::vector<Value> x = {Any({batch, queries, all * depth}),
                            Any({batch, queries, shared * depth}),
                            Any({batch, queries, shared * depth})};
    if (Chance(30)) x = {Any({batch, queries, (all + 2 * shared) * depth}), Value(), Value()};
    const uint32_t has_past = Chance(50) ? 100 : 0, turns = Chance(40) ? 100 : 0;
    for (int i = 0; i < 2; ++i) x.push_back(Maybe(has_past, {batch, shared, past, depth}));
    x.push_back(Any({batch}, DataType::kI32));
    x.push_back(Chance(50) ? Scalar(static_cast<double>(keys), DataType::kI32)
                           : Any({}, DataType::kI32));
    for (int i = 0; i < 2; ++i) x.push_back(Maybe(turns, {16, depth / 2}));
    x.push_back(Maybe(30, {batch, queries}, DataType::kI64));
    x.push_back(Maybe(20, {batch, 1, queries, keys}));
    x.push_back(Maybe(20, {all}));
    return Build<ms::GroupQueryAttention>(x,
                                          {.do_rotary = turns != 0,
                                           .kv_num_heads = shared,
                                           .local_window_size = Pick({-1, 2}),
                                           .num_heads = all,
                                           .smooth_softmax = Pick({0, 1})},
                                          Chance(50) ? 1 : 3);
  }
  Built Projected() {
    return Build<ms::Attention>(
        {Any({batch, queries, 4}), Any({4, 3 * heads * depth}), Maybe(70, {3 * heads * depth}),
         Maybe(50, IndexDims(), DataType::kI32), Maybe(40, {2, batch, heads, past, depth}),
         Maybe(30, {1, heads, queries, queries})},
        {.num_heads = heads, .unidirectional = Pick({0, 1})}, Chance(50) ? 1 : 2);
  }
  Built Standard() {
    const int64_t all = heads * shared;
    std::vector<Value> x = {Any({batch, all, queries, depth}), Any({batch, shared, keys, depth}),
                            Any({batch, shared, keys, depth})};
    const bool merged = Chance(50);
    if (merged)
      x = {Any({batch, queries, all * depth}), Any({batch, keys, shared * depth}),
           Any({batch, keys, shared * depth})};
    const uint32_t has_past = Chance(30) ? 100 : 0;
    x.push_back(Maybe(50, Chance(50) ? Shape{queries, keys} : Shape{batch, 1, queries, keys},
                      Chance(50) ? DataType::kBool : DataType::kF32));
    for (int i = 0; i < 2; ++i) x.push_back(Maybe(has_past, {batch, shared, past, depth}));
    x.push_back(Maybe(has_past != 0 ? 0 : 30, {batch}, DataType::kI64));
    return Build<ops::Attention>(x,
                                 {.is_causal = Pick({0, 1}),
                                  .kv_num_heads = shared,
                                  .q_num_heads = all,
                                  .qk_matmul_output_mode = Pick({0, 1, 2, 3})},
                                 static_cast<size_t>(Pick({1, 3, 4})));
  }
  Value Rotated(bool merged) {
    return merged ? Any({batch, queries, heads * depth}) : Any({batch, heads, queries, depth});
  }
  Built Rotary() {
    const bool merged = Chance(50), placed = Chance(50);
    const Shape cache = placed ? Shape{16, depth / 2} : Shape{batch, queries, depth / 2};
    return Build<ops::RotaryEmbedding>({Rotated(merged), Any(cache), Any(cache),
                                        Maybe(placed ? 100 : 0, {batch, queries}, DataType::kI64)},
                                       {.interleaved = Pick({0, 1}), .num_heads = heads});
  }
  Built RotaryOfPositions() {
    const bool merged = Chance(50);
    const Shape cache = {16, depth / 2};
    return Build<ms::RotaryEmbedding>(
        {Rotated(merged), Any(Chance(50) ? Shape{1} : Shape{batch, queries}, DataType::kI64),
         Any(cache), Any(cache)},
        {.interleaved = Pick({0, 1}), .num_heads = Chance(80) ? heads : 0});
  }

  Built AttentionOf(int op) {
    switch (op) {
      case 0:
        return MultiHead();
      case 1:
        return GroupQuery();
      case 2:
        return Projected();
      case 3:
        return Standard();
      case 4:
        return Rotary();
      default:
        return RotaryOfPositions();
    }
  }

  std::mt19937 random_{11};
  int64_t batch = 1, queries = 1, keys = 1, heads = 1, shared = 1, depth = 1, past = 0;
};

TEST_F(RandomAttentions, AreLoweredOrStay) {
  for (int op = 0; op < 6; ++op) {
    SCOPED_TRACE(op);
    int counts[3] = {};
    for (int i = 0; i < 250; ++i) {
      Draw();
      ++counts[static_cast<size_t>(AttentionOf(op))];
    }
    for (const int count : counts) EXPECT_GT(count, 5);
  }
}

}  // namespace
}  // namespace weft::ir
