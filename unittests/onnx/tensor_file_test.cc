// Tensors in .pb and .npy files.
#include "tools/onnx/tensor_file.h"

#include <gmock/gmock.h>

#include "unittests/onnx/model_builder.h"

namespace weft::onnx {
namespace {

std::string ReadAs(const std::string& name, std::string_view bytes) {
  TempDir dir;
  WriteFile(dir / name, bytes);
  ir::IrContext context;
  auto dense = ReadTensorFile(context, dir / name);
  if (dense.ok()) return DescribeAttribute(*dense);
  const std::string text(ir::Message(dense.status()));
  return text.substr(text.find(": ") + 2);  // without the path
}

// NumPy's format, written by hand: magic, version, length of the header, header, contents.
std::string Npy(const std::string& header, std::string_view contents, int version = 1) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  if (version > 1) out += std::string(2, '\0');
  return out + header + std::string(contents);
}

template <class T>
std::string BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST(TensorFile, WritesWhatItReads) {
  TempDir dir;
  ir::IrContext context;
  const std::vector<float> values{1, -2, 0.5f, 3, 4, 5};
  const ir::Type type = context.TensorType(ir::DataType::kF32, {2, 3});
  const ir::Attribute dense = context.DenseAttrOf(type, std::span<const float>(values));
  ASSERT_EQ(WriteTensorFile(dir / "t.pb", dense, "t").message(), "");
  pb::TensorProto proto;
  ASSERT_TRUE(proto.ParseFromString(ReadFile(dir / "t.pb")));
  EXPECT_EQ(proto.name(), "t");
  EXPECT_EQ(proto.raw_data(), BytesOf(values));
  auto again = ReadTensorFile(context, dir / "t.pb");
  ASSERT_EQ(again.status().message(), "");
  EXPECT_EQ(*again, dense);
}

TEST(TensorFile, WritesStrings) {
  TempDir dir;
  ir::IrContext context;
  const ir::Strings values{"a", "", "\xff"};
  const ir::Attribute dense =
      context.DenseStringsAttr(context.TensorType(ir::DataType::kString, {3}), values);
  ASSERT_EQ(WriteTensorFile(dir / "t.pb", dense, "t").message(), "");
  auto again = ReadTensorFile(context, dir / "t.pb");
  ASSERT_EQ(again.status().message(), "");
  EXPECT_EQ(again->dense_strings(), values);
}

TEST(TensorFile, ReadsNumpyArrays) {
  EXPECT_EQ(ReadAs("a.npy", Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }",
                                BytesOf<float>({1, 2}))),
            "f32[2,1](1,2)");
  EXPECT_EQ(ReadAs("a.npy", Npy("{'descr': '<i8', 'fortran_order': False, 'shape': (), }",
                                BytesOf<int64_t>({-7}), 2)),
            "i64[](-7)");
  EXPECT_EQ(ReadAs("a.npy", Npy("{'descr': '|b1', 'fortran_order': True, 'shape': (2,), }",
                                std::string_view("\1\0", 2))),
            "bool[2](1,0)");
}

// As numpy.save() writes a transposed array.
TEST(TensorFile, ReadsColumnMajorNumpyArrays) {
  const auto read = [](const std::string& shape, const std::vector<float>& values) {
    return ReadAs("a.npy", Npy("{'descr': '<f4', 'fortran_order': True, 'shape': " + shape + ", }",
                               BytesOf(values)));
  };
  EXPECT_EQ(read("(2, 3)", {1, 2, 3, 4, 5, 6}), "f32[2,3](1,3,5,2,4,6)");
  EXPECT_EQ(read("(2, 1, 2)", {1, 2, 3, 4}), "f32[2,1,2](1,3,2,4)");
  EXPECT_EQ(read("(0, 3)", {}), "f32[0,3]()");
  EXPECT_EQ(read("(2, 3)", {1, 2, 3, 4, 5}),
            "not a valid .npy file: 20 bytes of contents, expected 24");
}

TEST(TensorFile, RefusesNumpyArraysItCannotRead) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  EXPECT_EQ(ReadAs("a.npy", "hello, world"), "not a valid .npy file: no NumPy header");
  EXPECT_EQ(ReadAs("a.npy", ""), "not a valid .npy file: no NumPy header");
  EXPECT_EQ(ReadAs("a.npy", Npy(good, "1234567")),
            "not a valid .npy file: 7 bytes of contents, expected 8");
  EXPECT_EQ(ReadAs("a.npy", Npy(good, "12345678").substr(0, 30)),
            "not a valid .npy file: the file ends inside its header");
  EXPECT_EQ(ReadAs("a.npy", Npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", "")),
            "element type '>f4' of NumPy");
  EXPECT_EQ(ReadAs("a.npy", Npy("{'descr': [('a', '<f4'), ('b', '<i8')], 'fortran_order': False, "
                                "'shape': (2,), }",
                                "")),
            "a structured array of NumPy");
  EXPECT_EQ(ReadAs("a.npy", Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", "")),
            "not a valid .npy file: bad shape");
  EXPECT_EQ(ReadAs("a.npy", Npy("{'descr': '<f4', 'fortran_order': False, 'shape': "
                                "(4294967296, 4294967296), }",
                                "")),
            "has more than 2^63 bytes");
  EXPECT_EQ(ReadAs("a.npy", Npy("{'descr': '<f4'", "")), "not a valid .npy file: no shape");
}

TEST(TensorFile, RefusesTensorsThatDoNotFitTheirDims) {
  pb::TensorProto proto;
  ModelBuilder::SetTensor<float>(&proto, "t", {2}, {1, 2, 3});
  EXPECT_EQ(ReadAs("t.pb", proto.SerializeAsString()), "holds 12 bytes but its type needs 8");
}

TEST(TensorFile, SaysWhatIsWrongWithATensor) {
  pb::TensorProto proto;
  ModelBuilder::SetTensor<float>(&proto, "t", {2}, {1, 2});
  const std::string bytes = proto.SerializeAsString();
  EXPECT_THAT(ReadAs("t.pb", bytes.substr(0, bytes.size() - 1)),
              testing::StartsWith("not a valid tensor: byte "));
  proto.clear_raw_data();
  proto.set_data_location(pb::TensorProto::EXTERNAL);
  auto* location = proto.add_external_data();
  location->set_key("location");
  location->set_value("t.data");
  EXPECT_EQ(ReadAs("t.pb", proto.SerializeAsString()),
            "external data of a tensor outside of a model");
}

TEST(TensorFile, NamesAFileThatIsNotThere) {
  ir::IrContext context;
  EXPECT_EQ(ReadTensorFile(context, "/nonexistent/t.pb").status().message(),
            "cannot open '/nonexistent/t.pb': No such file or directory");
}

}  // namespace
}  // namespace weft::onnx
