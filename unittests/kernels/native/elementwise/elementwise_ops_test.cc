// Which ops and bodies the kernel of fused.elementwise takes.
#include "ir/dialects/builtin.h"
#include "ir/rewriter.h"
#include "unittests/kernels/native/elementwise/fused_group.h"

namespace weft::kernels {
namespace {

bool TakesOperands(const ir::OpInfo& info, uint32_t count) {
  if (info.operands[0].arity == ir::Arity::kVariadic) return count == 2;  // others: not fused
  uint32_t required = 0;
  for (const ir::OperandDef& operand : info.operands) required += operand.arity == ir::Arity::kOne;
  return count >= required && count <= info.operands.size();
}

// Programs of one op on operands of every combination of f32 and bool that its inference takes.
std::vector<std::unique_ptr<Group>> ProgramsOf(const std::string& name) {
  std::vector<std::unique_ptr<Group>> programs;
  for (uint32_t count = 1; count <= 3; ++count) {
    for (uint32_t bools = 0; bools < 1u << count; ++bools) {
      auto g = std::make_unique<Group>();
      const ir::OpDef& def = *g->context->FindOp(name);
      if (!TakesOperands(*def.info, count)) continue;
      ir::OperationState state{.opcode = def.opcode};
      for (uint32_t i = 0; i < count; ++i) {
        const ir::Shape dims = i == 0 ? ir::Shape{5} : ir::Shape{};
        state.operands.push_back((bools >> i & 1) != 0 ? g->Bools(dims) : g->Floats(dims));
      }
      if (name == "onnx.Cast")
        state.attrs =
            ir::MakeAttrs<ops::Cast>(*g->context, {.to = bools ? DataType::kF32 : DataType::kBool});
      ir::Operation op;
      std::string error;
      if (!g->builder.TryCreate(state, 1, &op, &error)) continue;
      const ir::Value x = g->Make<ops::Equal>({op.result(), op.result()});
      g->Return(x);
      programs.push_back(std::move(g));
    }
  }
  return programs;
}

TEST(FusedElementwise, HasARowForEveryElementwiseOp) {
  ir::IrContext context;
  ir::LoadFusedDialect(context);
  size_t ops = 0;
  for (const ir::OpDef* def : context.Ops()) {
    const std::string name(def->name());
    if (!name.starts_with("onnx.") || !def->Has(ir::kElementwise)) continue;
    if (def->Has(ir::kOwnLoop)) continue;  // the pass leaves them alone
    SCOPED_TRACE(name);
    ++ops;
    const auto programs = ProgramsOf(name);
    EXPECT_FALSE(programs.empty());
    for (const auto& g : programs) {
      if (!g->Run(g->program, {}).ok()) continue;  // a Clip of bools has no kernel at all
      EXPECT_EQ(g->ProviderOfFused(*g->Fused()), "native");
    }
  }
  EXPECT_GE(ops, 30u);
}

// --- bodies that the loop does not take -------------------------------------------------------

// outer: an op around `inner`, of the operands x [2, 3] and v [3].
template <class O>
void ExpectReference(const typename O::template Attrs<ir::BuilderSlot>& attrs, bool on_vector) {
  SCOPED_TRACE(O::kInfo.name);
  Group g;
  const ir::Value x = g.Floats({2, 3}), v = g.Floats({3});
  std::unique_ptr<ir::Program> fused = g.program.Clone();
  g.Return(g.Make<ops::Add>({x, g.Make<O>({on_vector ? v : x}, attrs)}));
  ir::Rewriter b(fused.get());
  const ir::Block inputs = fused->body();
  const ir::Operation op = b.Builder::Create({.opcode = ir::kOpcodeOf<fused::Elementwise>,
                                              .operands = {inputs.argument(0), inputs.argument(1)},
                                              .result_types = {x.type()},
                                              .num_regions = 1});
  b.Return({{"y", op.result()}});
  const ir::Block body = b.AppendBlock(op.region(0));
  const ir::Value a = b.AddArgument(body, x.type()), c = b.AddArgument(body, v.type());
  b.SetInsertionPointToEnd(body);
  const ir::Value y = b.Make<ops::Add>({a, b.Make<O>({on_vector ? c : a}, attrs)});
  b.Builder::Create({.opcode = ir::kOpcodeOf<ir::ReturnOp>, .operands = {y}});
  EXPECT_EQ(g.ProviderOfFused(*fused), "reference");
  const auto expected = g.Run(g.program, {.provider = "reference"});
  const auto actual = g.Run(*fused, {.provider = "auto"});
  ASSERT_TRUE(expected.ok() && actual.ok()) << actual.status();
  ExpectSame((*actual)[0], (*expected)[0]);
}

TEST(FusedElementwise, LeavesOtherBodiesToTheReference) {
  ExpectReference<ops::Elu>({.alpha = 0.5f}, false);
  ExpectReference<ops::Tanh>({}, true);  // a value of a smaller shape
}

}  // namespace
}  // namespace weft::kernels
