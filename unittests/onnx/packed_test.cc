// Elements of 4 and 2 bits, which files pack into bytes, and the 8-bit floats.
#include "tools/onnx/tensor_file.h"
#include "unittests/onnx/hostile/refusal.h"

namespace weft::onnx {
namespace {

using T = pb::TensorProto;
using Fill = std::function<void(T*)>;

T Tensor(int type, const std::vector<int64_t>& dims, const Fill& fill) {
  T tensor;
  tensor.set_name("c");
  tensor.set_data_type(type);
  for (int64_t d : dims) tensor.add_dims(d);
  fill(&tensor);
  return tensor;
}
Fill Raw(std::string bytes) {
  return [bytes](T* t) { t->set_raw_data(bytes); };
}
Fill Ints(std::vector<int> values) {
  return [values](T* t) {
    for (int v : values) t->add_int32_data(v);
  };
}

ModelBuilder ModelOf(const T& tensor) {
  ModelBuilder m(25);
  m.Output("y");
  *m.graph()->add_initializer() = tensor;
  m.Node("Identity", {"c"}, {"y"});
  return m;
}

// The elements, after they have been read, written and read again.
std::string Read(int type, const std::vector<int64_t>& dims, const Fill& fill) {
  ir::IrContext context;
  auto program = ModelOf(Tensor(type, dims, fill)).Import(context);
  if (!program.ok()) return program.status().ToString();
  const std::string text = Describe(**program);
  ir::IrContext other;
  const std::string bytes = ExportToProto(**program).SerializeAsString();
  auto again = ImportOnnxBytes(other, std::as_bytes(std::span(bytes)));
  EXPECT_EQ(again.status().message(), "");
  if (again.ok()) {
    EXPECT_EQ(Describe(**again), text);
  }
  const size_t start = text.find('(') + 1;
  return text.substr(start, text.find('\n') - start - 1);
}

TEST(Packed, IsReadFromTheLowBitsUp) {
  EXPECT_EQ(Read(T::UINT4, {3}, Raw("\x21\xf3")), "u4[3](1,2,3)");  // the padding may be anything
  EXPECT_EQ(Read(T::INT4, {2, 2}, Raw("\x87\x1f")), "i4[2,2](7,-8,-1,1)");
  EXPECT_EQ(Read(T::UINT2, {5}, Raw("\xe4\x03")), "u2[5](0,1,2,3,3)");
  EXPECT_EQ(Read(T::INT2, {4}, Raw("\xe4")), "i2[4](0,1,-2,-1)");
  EXPECT_EQ(Read(T::FLOAT4E2M1, {3}, Raw("\x9f\x03")), "f4e2m1[3](-6,-0.5,1.5)");
  EXPECT_EQ(Read(T::UINT4, {}, Raw("\x0e")), "u4[](14)");
  EXPECT_EQ(Read(T::INT2, {0, 3}, Raw("")), "i2[0,3]()");
}

TEST(Packed, IsReadFromIntsOfAByte) {
  EXPECT_EQ(Read(T::UINT4, {3}, Ints({0x21, 3})), "u4[3](1,2,3)");
  EXPECT_EQ(Read(T::INT2, {5}, Ints({0xe4, 2})), "i2[5](0,1,-2,-1,-2)");
  EXPECT_EQ(Read(T::FLOAT8E4M3FN, {2}, Ints({0x7e, 0xb8})), "f8e4m3fn[2](448,-1)");
  EXPECT_EQ(Read(T::FLOAT8E8M0, {2}, Ints({0x7f, 0x80})), "f8e8m0[2](1,2)");
  EXPECT_EQ(Read(T::UINT4, {0}, Ints({})), "u4[0]()");
}

TEST(Packed, FloatsOfAByteAreReadAsTheyAre) {
  EXPECT_EQ(Read(T::FLOAT8E5M2, {3}, Raw("\x7b\xfc\x01")),
            "f8e5m2[3](57344,-inf,1.52587890625e-05)");
  EXPECT_EQ(Read(T::FLOAT8E4M3FNUZ, {2}, Raw("\x40\x7f")), "f8e4m3fnuz[2](1,240)");
  EXPECT_EQ(Read(T::FLOAT8E5M2FNUZ, {1}, Raw("\x40")), "f8e5m2fnuz[1](1)");
}

TEST(Packed, IsWrittenWithZerosBehindTheLastElement) {
  ir::IrContext context;
  auto program = ModelOf(Tensor(T::INT4, {3}, Raw("\x87\xff"))).Import(context);
  ASSERT_EQ(program.status().message(), "");
  const pb::ModelProto written = ExportToProto(**program);
  ASSERT_EQ(written.graph().initializer_size(), 1);
  EXPECT_EQ(written.graph().initializer(0).raw_data(), "\x87\x0f");
}

// Large contents are written apart from the messages, and in pieces.
TEST(Packed, IsWrittenIntoModelsAndFilesBesideThem) {
  std::string bytes(300001, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 256);
  bytes.back() = '\x05';
  ir::IrContext context;
  auto program = ModelOf(Tensor(T::UINT4, {600001}, Raw(bytes))).Import(context);
  ASSERT_EQ(program.status().message(), "");
  const ir::Attribute dense = (*program)->body().front().attr("value");
  TempDir dir;
  for (size_t max_model_bytes : {size_t{1} << 30, size_t{1000}}) {
    ASSERT_EQ(ExportOnnx(**program, dir / "m.onnx", {.max_model_bytes = max_model_bytes}).message(),
              "");
    auto again = ImportOnnx(context, dir / "m.onnx");
    ASSERT_EQ(again.status().message(), "");
    const ir::Attribute copy = (*again)->body().front().attr("value");
    EXPECT_TRUE(std::ranges::equal(copy.bytes(), dense.bytes()));
  }
  EXPECT_EQ(ReadFile(dir / "m.onnx.data"), bytes);
  pb::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(ReadFile(dir / "m.onnx")));
  EXPECT_EQ(model.graph().initializer(0).external_data(2).value(), "300001");
}

TEST(Packed, TensorFilesHoldIt) {
  TempDir dir;
  ir::IrContext context;
  const std::vector<uint8_t> elements{1, 15, 0, 7, 9};
  const ir::Attribute dense = context.DenseAttr(context.TensorType(ir::DataType::kU4, {5}),
                                                std::as_bytes(std::span(elements)));
  ASSERT_EQ(WriteTensorFile(dir / "t.pb", dense, "t").message(), "");
  T proto;
  ASSERT_TRUE(proto.ParseFromString(ReadFile(dir / "t.pb")));
  EXPECT_EQ(proto.raw_data(), "\xf1\x70\x09");
  auto again = ReadTensorFile(context, dir / "t.pb");
  ASSERT_EQ(again.status().message(), "");
  EXPECT_EQ(*again, dense);
}

TEST(Packed, SaturatingIsKeptForEightBitFloats) {
  ModelBuilder m(24);
  m.Input("x", {2});
  m.Output("y");
  auto* node = m.Node("Cast", {"x"}, {"y"});
  SetInt(node, "to", T::FLOAT8E8M0);
  SetInt(node, "saturate", 0);
  SetString(node, "round_mode", "down");
  EXPECT_EQ(ImportAndDescribe(m),
            "y: f8e8m0[2] = onnx.Cast(x) {round_mode='down', saturate=0, to=f8e8m0}\n"
            "builtin.return(y)\n");
}

// --- hostile files ----------------------------------------------------------------------

void ExpectTensorRefused(int type, const std::vector<int64_t>& dims, const Fill& fill,
                         const std::string& expected) {
  ExpectModelRefused(
      [&](ModelBuilder& m) { *m.graph()->add_initializer() = Tensor(type, dims, fill); },
      "initializer 'c': " + expected);
}

TEST(HostilePacked, SizesMustFit) {
  const int64_t large = int64_t{1} << 40;
  ExpectTensorRefused(T::UINT4, {3}, Raw("a"), "holds 1 bytes but its type needs 2");
  ExpectTensorRefused(T::UINT4, {3}, Raw("abc"), "holds 3 bytes but its type needs 2");
  ExpectTensorRefused(T::INT2, {5}, Raw("a"), "holds 1 bytes but its type needs 2");
  ExpectTensorRefused(T::INT2, {0}, Raw("a"), "holds 1 bytes but its type needs 0");
  ExpectTensorRefused(T::INT4, {large}, Raw("a"), "holds 1 bytes but its type needs 549755813888");
  ExpectTensorRefused(T::INT4, {large}, Ints({1}), "holds 1 bytes but its type needs 549755813888");
  ExpectTensorRefused(T::FLOAT4E2M1, {large, large}, Raw("a"), "has more than 2^63 bytes");
  ExpectTensorRefused(T::UINT4, {3}, Ints({1, 2, 3}), "holds 3 bytes but its type needs 2");
  ExpectTensorRefused(T::UINT4, {2}, Ints({256}), "holds a value that is no byte of u4");
  ExpectTensorRefused(T::UINT4, {2}, Ints({-1}), "holds a value that is no byte of u4");
  ExpectTensorRefused(T::FLOAT8E5M2, {1}, Ints({256}), "holds a value that is no f8e5m2");
  ExpectTensorRefused(T::FLOAT8E5M2, {2}, Ints({1}), "holds 1 elements of f8e5m2");
}

TEST(HostilePacked, ExternalSizesMustFit) {
  TempDir dir;
  WriteFile(dir / "w.bin", "\x21\x03");
  const auto write = [&](int64_t count, const std::string& length) {
    WriteFile(dir / "m.onnx", ModelOf(Tensor(T::UINT4, {count}, [&](T* t) {
                                t->set_data_location(T::EXTERNAL);
                                auto* location = t->add_external_data();
                                location->set_key("location");
                                location->set_value("w.bin");
                                auto* size = t->add_external_data();
                                size->set_key("length");
                                size->set_value(length);
                              })).Bytes());
  };
  write(3, "2");
  ir::IrContext context;
  auto program = ImportOnnx(context, dir / "m.onnx");
  ASSERT_EQ(program.status().message(), "");
  EXPECT_EQ(Describe(**program), "y: u4[3] = onnx.Identity(u4[3](1,2,3))\nbuiltin.return(y)\n");
  write(5, "2");
  ExpectRefused(dir / "m.onnx", "holds 2 bytes but its type needs 3");
  write(5, "3");
  ExpectRefused(dir / "m.onnx", "external data 0 to 3 of 'w.bin', which has 2 bytes");
}

}  // namespace
}  // namespace weft::onnx
