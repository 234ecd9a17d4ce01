// Initializers that are inputs too: defaults, which the caller may override.
#include "ir/analysis/default_inputs.h"

#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "unittests/onnx/model_builder.h"
#include "unittests/onnx/run_program.h"

namespace weft::onnx {
namespace {

using Floats = std::vector<float>;

// y = (x + w) * s, where w = [1, 2, 3] and s = 1 unless they are given.
ModelBuilder WithDefaults() {
  ModelBuilder m;
  m.Input("x", {3});
  m.Input("w", {3});
  m.Input("s", {});
  m.Initializer<float>("w", {3}, {1, 2, 3});
  m.Initializer<float>("s", {}, {1});
  m.Output("y", {3});
  m.Node("Add", {"x", "w"}, {"a"});
  m.Node("Mul", {"a", "s"}, {"y"});
  return m;
}

class DefaultInputs : public testing::Test {
 protected:
  std::unique_ptr<ir::Program> Load(const ModelBuilder& m, const ImportOptions& options = {}) {
    const std::string bytes = m.Bytes();
    auto program = ImportOnnxBytes(context, std::as_bytes(std::span(bytes)), options);
    EXPECT_EQ(program.status().message(), "");
    return program.ok() ? *std::move(program) : nullptr;
  }
  static ir::Strings InputsOf(ir::Program& program) {
    return program.module().attrs_of<ir::ModuleOp>().input_names.value_or(ir::Strings());
  }

  ir::IrContext context;
  const kernels::Tensor x = F32({3}, {10, 20, 30}), w = F32({3}, {5, 5, 5}), s = F32({}, {2});
};

TEST_F(DefaultInputs, StayInputsThatNobodyFolds) {
  const auto program = Load(WithDefaults());
  const std::string before = Describe(*program);
  Optimise(*program, "simplify");
  EXPECT_EQ(Describe(*program), before);
  EXPECT_EQ(InputsOf(*program), (ir::Strings{"x", "w", "s"}));
  Optimise(*program, "fuse");
  EXPECT_EQ(InputsOf(*program), (ir::Strings{"x", "w", "s"}));
  EXPECT_EQ(RunProgram(*program, {x.view(), w.view()}, "auto"), (Floats{15, 25, 35}));
}

TEST_F(DefaultInputs, AreTakenWhereTheCallerGivesNothing) {
  const auto program = Load(WithDefaults());
  const kernels::TensorView none;
  EXPECT_EQ(RunProgram(*program, {x.view()}), (Floats{11, 22, 33}));
  EXPECT_EQ(RunProgram(*program, {x.view(), w.view()}), (Floats{15, 25, 35}));
  EXPECT_EQ(RunProgram(*program, {x.view(), none, s.view()}), (Floats{22, 44, 66}));
  EXPECT_EQ(RunProgram(*program, {x.view(), w.view(), s.view()}), (Floats{30, 50, 70}));
  auto session = kernels::Session::Create(*program, {.provider = "reference"});
  ASSERT_EQ(session.status().message(), "");
  EXPECT_EQ((*session)->Run({}).status().message(), "input 'x' is not given");
  EXPECT_EQ((*session)->Run({none, w.view()}).status().message(), "input 'x' is not given");
}

TEST_F(DefaultInputs, ComeBackFromTextAndFromOnnx) {
  const auto program = Load(WithDefaults());
  const std::string text = ir::PrintProgram(*program, {.full_weights = true});
  auto parsed = ir::ParseProgram(context, text);
  ASSERT_EQ(parsed.status().message(), "");
  EXPECT_EQ(ir::PrintProgram(**parsed, {.full_weights = true}), text);
  EXPECT_EQ(RunProgram(**parsed, {x.view()}), (Floats{11, 22, 33}));

  const pb::ModelProto out = ExportToProto(**parsed);
  ASSERT_EQ(out.graph().input_size(), 3);
  EXPECT_EQ(out.graph().input(1).name(), "w");
  ASSERT_EQ(out.graph().initializer_size(), 2);
  EXPECT_EQ(out.graph().initializer(0).name(), "w");
  EXPECT_EQ(out.graph().initializer(1).name(), "s");
  ModelBuilder again;
  again.model = out;
  EXPECT_EQ(RunProgram(*Load(again), {x.view()}), (Floats{11, 22, 33}));
}

// A constant of the same contents is no default: it is written for itself.
TEST_F(DefaultInputs, ShareNoContentsWithConstants) {
  ModelBuilder m = WithDefaults();
  const Floats many(2000, 1.5f);
  m.Input("v", {2000});
  m.Initializer<float>("v", {2000}, many);
  m.Initializer<float>("c", {2000}, many);
  m.Output("z", {2000});
  m.Node("Sub", {"v", "c"}, {"z"});
  const pb::ModelProto out = ExportToProto(*Load(m));
  EXPECT_EQ(out.graph().initializer_size(), 4);
  const auto& node = out.graph().node(2);
  EXPECT_EQ(node.input(0), "v");
  EXPECT_EQ(node.input(1), "c");
}

TEST_F(DefaultInputs, AreConstantsWhereThatIsAskedForAndBeforeIrVersion4) {
  ModelBuilder old = WithDefaults();
  old.model.set_ir_version(3);
  const auto folded = Load(WithDefaults(), {.limits = {}, .fold_default_inputs = true});
  const auto listed = Load(old);
  const auto later = Load(WithDefaults());
  EXPECT_EQ(ir::FoldDefaultInputs(*later), 2u);
  for (ir::Program* program : {folded.get(), listed.get(), later.get()}) {
    EXPECT_EQ(ir::Verify(*program).message(), "");
    EXPECT_EQ(InputsOf(*program), ir::Strings{"x"});
    EXPECT_TRUE(program->ParameterNames().empty());
    EXPECT_EQ(RunProgram(*program, {x.view()}), (Floats{11, 22, 33}));
    Optimise(*program, "simplify");
    EXPECT_EQ(program->num_operations(), 4u) << Describe(*program);  // s = 1 is gone
  }
}

TEST_F(DefaultInputs, MustBelongToAnInputOfTheirElementType) {
  ModelBuilder m = WithDefaults();
  m.graph()->mutable_initializer(0)->set_data_type(pb::TensorProto::INT32);
  EXPECT_EQ(m.Import(context).status().message(),
            "input w is tensor<3xf32> but its default is tensor<3xi32>");
  ModelBuilder twice = WithDefaults();
  twice.Initializer<float>("w", {3}, {1, 2, 3});
  EXPECT_EQ(twice.Import(context).status().message(), "value 'w' is defined twice");
  const auto program = Load(WithDefaults());
  program->EraseParameter("w");
  EXPECT_EQ(ir::Verify(*program).message(), "input w has no parameter for its default");
}

}  // namespace
}  // namespace weft::onnx
