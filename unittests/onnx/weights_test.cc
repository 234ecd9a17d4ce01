// Large weights: where they lie in files, and that they stay there.
#include "ir/rewriter.h"
#include "unittests/onnx/model_builder.h"
#include "unittests/onnx/run_program.h"

namespace weft::onnx {
namespace {

TEST(Weights, LargeOnesLieAlignedInTheFileAndAreReadInPlace) {
  ModelBuilder m;
  m.Input("x", {3000});
  m.Output("y");
  std::vector<float> a(3000), b(3000);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i), b[i] = -a[i];
  m.Initializer<float>("a", {3000}, a);
  m.Initializer<float>("bb", {3000}, b);
  m.Node("Add", {"x", "a"}, {"t"});
  m.Node("Add", {"t", "bb"}, {"y"});
  TempDir dir;
  {
    ir::IrContext context;
    auto program = m.Import(context);
    ASSERT_EQ(program.status().message(), "");
    ASSERT_EQ(ExportOnnx(**program, dir / "m.onnx").message(), "");
  }
  const std::string file = ReadFile(dir / "m.onnx");
  for (const auto& tensor : m.graph()->initializer())
    EXPECT_EQ(file.find(tensor.raw_data()) % 64, 0u);

  ir::IrContext context;
  auto program = ImportOnnx(context, dir / "m.onnx");
  ASSERT_EQ(program.status().message(), "");
  std::vector<ir::Attribute> weights;
  for (ir::Operation op : (*program)->body())
    if (op.Is<ir::ConstantOp>()) weights.push_back(op.attr("value"));
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_EQ(weights[1].elements<float>()[2999], -2999.0f);
  // Both point into one map of the file, as far apart as they are in the file.
  EXPECT_EQ(weights[1].bytes().data() - weights[0].bytes().data(),
            static_cast<ptrdiff_t>(file.find(m.graph()->initializer(1).raw_data()) -
                                   file.find(m.graph()->initializer(0).raw_data())));
}

// One of four shifts is aligned. A sum reads its constant where a plan puts it, a product where it is packed from.
TEST(Weights, MisalignedOnesStayInTheFile) {
  std::vector<float> a(3000), w(3000 * 7);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 50) / 8;
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 31) - 15;
  std::vector<float> expected(7, 0);
  for (size_t i = 0; i < w.size(); ++i) expected[i % 7] += a[i / 7] * w[i];
  size_t misaligned = 0;
  for (size_t shift = 0; shift < 4; ++shift) {
    ModelBuilder m;
    m.graph()->set_name(std::string(shift + 1, 'g'));
    m.Input("x", {1, 3000});
    m.Output("y");
    m.Initializer<float>("a", {3000}, a);
    m.Initializer<float>("w", {3000, 7}, w);
    m.Node("Add", {"x", "a"}, {"t"});
    m.Node("MatMul", {"t", "w"}, {"y"});
    TempDir dir;
    WriteFile(dir / "m.onnx", m.Bytes());
    ir::IrContext context;
    auto program = ImportOnnx(context, dir / "m.onnx");
    ASSERT_EQ(program.status().message(), "");
    const ir::Attribute weights = (*program)->body().front().attr("value");
    EXPECT_FALSE(weights.IsInMemory());
    misaligned += reinterpret_cast<uintptr_t>(weights.bytes().data()) % alignof(float) != 0;
    EXPECT_TRUE(std::equal(a.begin(), a.end(), weights.elements<float>().begin()));
    const kernels::Tensor x = F32({1, 3000}, std::vector<float>(3000, 0));
    for (const std::string provider : {"reference", "native", "xnnpack"})
      EXPECT_EQ(RunProgram(**program, {x.view()}, provider), expected) << provider;
  }
  EXPECT_EQ(misaligned, 3u);
}

TEST(Weights, MisalignedOnesThatAreReadAsTheyAreAreCopiedOnceForAllPlans) {
  std::vector<float> table(1000 * 4);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i);
  for (size_t shift = 0; shift < 4; ++shift) {
    ModelBuilder m;
    m.graph()->set_name(std::string(shift + 1, 'g'));
    m.Input("x", {-2}, pb::TensorProto::INT64);
    m.Output("y");
    m.Initializer<float>("table", {1000, 4}, table);
    m.Node("Gather", {"table", "x"}, {"y"});
    TempDir dir;
    WriteFile(dir / "m.onnx", m.Bytes());
    ir::IrContext context;
    auto program = ImportOnnx(context, dir / "m.onnx");
    ASSERT_EQ(program.status().message(), "");
    auto session = kernels::Session::Create(**program, {});
    ASSERT_EQ(session.status().message(), "");
    for (const int64_t count : {1, 2, 3}) {
      kernels::Tensor x = *kernels::Tensor::Create(ir::DataType::kI64, {count});
      x.values<int64_t>().back() = 7;
      const auto y = (*session)->Run({x.view()});
      ASSERT_EQ(y.status().message(), "");
      EXPECT_EQ(y->front().values<float>().back(), 31);
    }
    const ir::Attribute dense = (*program)->body().front().attr("value");
    const bool is_aligned = reinterpret_cast<uintptr_t>(dense.bytes().data()) % alignof(float) == 0;
    EXPECT_EQ((*session)->num_packed_weights(), is_aligned ? 0u : 1u);
  }
}

TEST(Weights, SharedOnesAreWrittenOnce) {
  ModelBuilder m;
  m.Input("x", {3000});
  m.Output("y");
  m.Initializer<float>("a", {3000}, std::vector<float>(3000, 0.5f));
  m.Node("Add", {"x", "a"}, {"t"});
  m.Node("Add", {"t", "a"}, {"y"});
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  ir::Rewriter r(program->get());
  const ir::Operation second = (*program)->body().back().prev();
  r.SetInsertionPoint(second);
  r.SetOperand(second, 1, r.Constant((*program)->body().front().attr("value")));
  const pb::ModelProto out = ExportToProto(**program);
  EXPECT_EQ(out.graph().initializer_size(), 1);
  EXPECT_EQ(out.graph().node(0).input(1), "a");
  EXPECT_EQ(out.graph().node(1).input(1), "a");
}

}  // namespace
}  // namespace weft::onnx
