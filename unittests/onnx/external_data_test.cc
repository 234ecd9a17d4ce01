// Weights in files beside the model.
#include "ir/builder.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/onnx/elementwise.h"
#include "unittests/onnx/model_builder.h"
#include "unittests/onnx/run_program.h"

namespace weft::onnx {
namespace {

void AddEntry(pb::TensorProto* tensor, const std::string& key, const std::string& value) {
  auto* entry = tensor->add_external_data();
  entry->set_key(key);
  entry->set_value(value);
}

// y = x + w with the four floats of w in another file.
ModelBuilder ExternalModel(const std::string& location, const std::string& offset = "",
                           const std::string& length = "") {
  ModelBuilder m;
  m.Input("x", {4});
  m.Output("y");
  auto* tensor = m.graph()->add_initializer();
  tensor->set_name("w");
  tensor->add_dims(4);
  tensor->set_data_type(pb::TensorProto::FLOAT);
  tensor->set_data_location(pb::TensorProto::EXTERNAL);
  AddEntry(tensor, "location", location);
  if (!offset.empty()) AddEntry(tensor, "offset", offset);
  if (!length.empty()) AddEntry(tensor, "length", length);
  m.Node("Add", {"x", "w"}, {"y"});
  return m;
}

std::string FloatBytes(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

TEST(ExternalData, IsReadFromAnOffset) {
  TempDir dir;
  std::filesystem::create_directory(dir / "sub");
  WriteFile(dir / "sub/w.bin", "12345678" + FloatBytes({1, 2, 3, 4}) + "rest");
  WriteFile(dir / "m.onnx", ExternalModel("./other/../sub/w.bin", "8", "16").Bytes());
  ir::IrContext context;
  auto program = ImportOnnx(context, dir / "m.onnx");
  ASSERT_EQ(program.status().message(), "");
  EXPECT_EQ(Describe(**program),
            "y: f32[4] = onnx.Add(x, f32[4](1,2,3,4))\n"
            "builtin.return(y)\n");
}

TEST(ExternalData, OfTheRightSizeNeedsNoLength) {
  TempDir dir;
  WriteFile(dir / "w.bin", FloatBytes({1, 2, 3, 4}));
  WriteFile(dir / "m.onnx", ExternalModel("w.bin").Bytes());
  ir::IrContext context;
  EXPECT_EQ(ImportOnnx(context, dir / "m.onnx").status().message(), "");
}

TEST(ExternalData, IsRefusedForModelsInMemory) {
  EXPECT_EQ(ImportAndDescribe(ExternalModel("w.bin")),
            "INVALID_ARGUMENT: initializer 'w': has external data but the model comes from memory");
}

TEST(ExternalData, ReceivesTheWeightsOfModelsThatAreTooLarge) {
  ModelBuilder m;
  m.Input("x", {3000});
  m.Output("y");
  std::vector<float> a(3000), b(3000);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i), b[i] = -a[i];
  m.Initializer<float>("a", {3000}, a);
  m.Initializer<float>("b", {3000}, b);
  m.Initializer<float>("c", {1}, {0.5f});
  m.Node("Sum", {"x", "a", "b", "c"}, {"y"});
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  TempDir dir;
  ASSERT_EQ(ExportOnnx(**program, dir / "m.onnx", {.max_model_bytes = 10000}).message(), "");
  EXPECT_EQ(std::filesystem::file_size(dir / "m.onnx.data"), 4096 * 3 + 12000u);
  EXPECT_LT(std::filesystem::file_size(dir / "m.onnx"), 1000u);
  pb::ModelProto out;
  ASSERT_TRUE(out.ParseFromString(ReadFile(dir / "m.onnx")));
  EXPECT_EQ(out.graph().initializer(1).external_data(0).value(), "m.onnx.data");
  EXPECT_EQ(out.graph().initializer(1).external_data(1).value(), "12288");

  auto again = ImportOnnx(context, dir / "m.onnx");
  ASSERT_EQ(again.status().message(), "");
  EXPECT_EQ(Describe(**again), Describe(**program));
  const ir::Attribute weights = (*again)->body().front().next().attr("value");
  EXPECT_TRUE(std::equal(b.begin(), b.end(), weights.elements<float>().begin()));
}

// Only so many stay open. Of the others, misaligned contents are copied.
TEST(ExternalData, MayLieInManyFiles) {
  constexpr int kFiles = 70, kMostOpen = 64;
  TempDir dir;
  ModelBuilder m;
  m.Input("x", {2000});
  m.Output("y");
  std::string sum = "x";
  for (int i = 0; i < kFiles; ++i) {
    const std::string name = fmt::format("w{}", i);
    WriteFile(dir / name, "odd" + FloatBytes(std::vector<float>(2000, static_cast<float>(i))));
    auto* tensor = m.graph()->add_initializer();
    tensor->set_name(name);
    tensor->add_dims(2000);
    tensor->set_data_type(pb::TensorProto::FLOAT);
    tensor->set_data_location(pb::TensorProto::EXTERNAL);
    AddEntry(tensor, "location", name);
    AddEntry(tensor, "offset", "3");
    const std::string next = i + 1 == kFiles ? "y" : name + "s";
    m.Node("Add", {sum, name}, {next});
    sum = next;
  }
  WriteFile(dir / "m.onnx", m.Bytes());
  ir::IrContext context;
  auto program = ImportOnnx(context, dir / "m.onnx");
  ASSERT_EQ(program.status().message(), "");
  int in_files = 0, aligned = 0;
  for (const ir::Operation op : (*program)->body()) {
    if (!op.Is<ir::ConstantOp>()) continue;
    const ir::Attribute weights = op.attr("value");
    in_files += !weights.IsInMemory();
    aligned += reinterpret_cast<uintptr_t>(weights.bytes().data()) % alignof(float) == 0;
  }
  EXPECT_EQ(in_files, kMostOpen);
  EXPECT_EQ(aligned, kFiles - kMostOpen);
  const kernels::Tensor x = F32({2000}, std::vector<float>(2000, 0.5f));
  EXPECT_EQ(RunProgram(**program, {x.view()}),
            std::vector<float>(2000, 0.5f + kFiles * (kFiles - 1) / 2));
}

TEST(ExternalData, IsNotMadeInMemory) {
  ir::IrContext context;
  ir::Program program(&context);
  ir::LoadFusedDialect(context);
  ir::Builder b(&program);
  const ir::Value w = b.ConstantFloats(std::vector<float>(1000, 0.5f), ir::Shape{1000});
  b.Return({{"y", b.Make<ir::ops::Neg>({w})}});
  const auto whole = ExportOnnxBytes(program);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_GT(whole->size(), 4000u);
  EXPECT_LE(whole->size(), 5000u);
  const absl::Status status = ExportOnnxBytes(program, {.max_model_bytes = 3000}).status();
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
}

}  // namespace
}  // namespace weft::onnx
