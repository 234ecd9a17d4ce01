// What importing keeps, and what it makes of each part of a model.
#include "tools/onnx/import.h"

#include "unittests/onnx/model_builder.h"

namespace weft::onnx {
namespace {

TEST(Import, InputsAreArgumentsAndOutputsAreReturned) {
  ModelBuilder m;
  m.Input("x", {2, -2});
  m.Initializer<float>("w", {2, 1}, {1, 2});
  m.Output("y");
  m.Node("Add", {"x", "w"}, {"y"})->set_name("sum");
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  EXPECT_EQ(Describe(**program),
            "y: f32[2,\"n2\"] = onnx.Add(x, f32[2,1](1,2))\n"
            "builtin.return(y)\n");
  const auto attrs = (*program)->module().attrs_of<ir::ModuleOp>();
  EXPECT_EQ(attrs.input_names, ir::Strings{"x"});
  EXPECT_EQ(attrs.output_names, ir::Strings{"y"});
  const ir::Operation constant = (*program)->body().front();
  EXPECT_EQ(constant.result().name(), "w");
  EXPECT_EQ(constant.next().location().str(), "sum");
}

TEST(Import, ADimensionOfMinusOneIsUnknown) {
  ModelBuilder m;
  m.Input("x", {-1, 3});
  m.graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_value(-1);
  m.Output("y");
  m.Node("Relu", {"x"}, {"y"});
  EXPECT_EQ(ImportAndDescribe(m),
            "y: f32[?,3] = onnx.Relu(x)\n"
            "builtin.return(y)\n");
}

TEST(Import, AnInputWithAnInitializerIsAConstantBeforeIrVersion4) {
  ModelBuilder m;
  m.model.set_ir_version(3);
  m.Input("x", {2});
  m.Input("w", {2});
  m.Initializer<float>("w", {2}, {1, 2});
  m.Output("y");
  m.Node("Add", {"x", "w"}, {"y"});
  EXPECT_EQ(ImportAndDescribe(m),
            "y: f32[2] = onnx.Add(x, f32[2](1,2))\n"
            "builtin.return(y)\n");
}

std::string ConstantOf(const std::function<void(pb::NodeProto*)>& set) {
  ModelBuilder m;
  m.Output("y");
  set(m.Node("Constant", {}, {"c"}));
  m.Node("Identity", {"c"}, {"y"});
  const std::string text = ImportAndDescribe(m);
  const size_t start = text.find('(') + 1;
  return text.starts_with("y") ? text.substr(start, text.find('\n') - start - 1) : text;
}

TEST(Import, ReadsEveryFormOfConstant) {
  using Type = pb::AttributeProto;
  EXPECT_EQ(ConstantOf([](auto* n) { SetInt(n, "value_int", 7); }), "i64[](7)");
  EXPECT_EQ(ConstantOf([](auto* n) { SetInts(n, "value_ints", {7, 8}); }), "i64[2](7,8)");
  EXPECT_EQ(ConstantOf([](auto* n) { SetFloat(n, "value_float", 1.5f); }), "f32[](1.5)");
  EXPECT_EQ(
      ConstantOf([](auto* n) { AddAttribute(n, "value_floats", Type::FLOATS)->add_floats(2.5f); }),
      "f32[1](2.5)");
  EXPECT_EQ(ConstantOf([](auto* n) { SetString(n, "value_string", "a"); }), "dense tensor<str>");
  EXPECT_EQ(ConstantOf(
                [](auto* n) { AddAttribute(n, "value_strings", Type::STRINGS)->add_strings("a"); }),
            "dense tensor<1xstr>");
  EXPECT_EQ(ConstantOf([](auto* n) {
              ModelBuilder::SetTensor<float>(AddAttribute(n, "value", Type::TENSOR)->mutable_t(),
                                             "", {1, 2}, {3, 4});
            }),
            "f32[1,2](3,4)");
  EXPECT_EQ(ConstantOf([](auto* n) {
              ModelBuilder::SetSparse(
                  AddAttribute(n, "sparse_value", Type::SPARSE_TENSOR)->mutable_sparse_tensor(), "",
                  {2, 2}, {5}, {1, 2}, {1, 0});
            }),
            "f32[2,2](0,0,5,0)");
}

// Puts `fill`'s data into an initializer of this type and dims; returns how it is read.
std::string TensorOf(int type, const std::vector<int64_t>& dims,
                     const std::function<void(pb::TensorProto*)>& fill) {
  ModelBuilder m;
  m.Output("y");
  auto* tensor = m.graph()->add_initializer();
  tensor->set_name("c");
  tensor->set_data_type(type);
  for (int64_t d : dims) tensor->add_dims(d);
  fill(tensor);
  m.Node("Identity", {"c"}, {"y"});
  const std::string text = ImportAndDescribe(m);
  const size_t start = text.find('(') + 1;
  return text.starts_with("y") ? text.substr(start, text.find('\n') - start - 1) : text;
}

TEST(Import, ReadsTypedDataOfEveryElementType) {
  using T = pb::TensorProto;
  const auto ints = [](T* t) {
    t->add_int32_data(1);
    t->add_int32_data(0);
  };
  EXPECT_EQ(TensorOf(T::INT32, {2}, ints), "i32[2](1,0)");
  EXPECT_EQ(TensorOf(T::INT16, {2}, ints), "i16[2](1,0)");
  EXPECT_EQ(TensorOf(T::INT8, {2}, ints), "i8[2](1,0)");
  EXPECT_EQ(TensorOf(T::UINT16, {2}, ints), "u16[2](1,0)");
  EXPECT_EQ(TensorOf(T::UINT8, {2}, ints), "u8[2](1,0)");
  EXPECT_EQ(TensorOf(T::BOOL, {2}, ints), "bool[2](1,0)");
  EXPECT_EQ(TensorOf(T::FLOAT16, {1}, [](T* t) { t->add_int32_data(0x3c00); }), "f16[1](1)");
  EXPECT_EQ(TensorOf(T::BFLOAT16, {1}, [](T* t) { t->add_int32_data(0x3f80); }), "bf16[1](1)");
  EXPECT_EQ(TensorOf(T::INT64, {1}, [](T* t) { t->add_int64_data(-5); }), "i64[1](-5)");
  EXPECT_EQ(TensorOf(T::UINT32, {1}, [](T* t) { t->add_uint64_data(5); }), "u32[1](5)");
  EXPECT_EQ(TensorOf(T::UINT64, {1}, [](T* t) { t->add_uint64_data(5); }), "u64[1](5)");
  EXPECT_EQ(TensorOf(T::FLOAT, {}, [](T* t) { t->add_float_data(0.5f); }), "f32[](0.5)");
  EXPECT_EQ(TensorOf(T::DOUBLE, {1, 1}, [](T* t) { t->add_double_data(0.5); }), "f64[1,1](0.5)");
  EXPECT_EQ(TensorOf(T::FLOAT, {0, 3}, [](T*) {}), "f32[0,3]()");
}

TEST(Import, KeepsWhatTheModelSaysAboutItself) {
  ModelBuilder m(13);
  m.Import("com.example", 3);
  m.model.set_producer_name("someone");
  m.model.set_doc_string("a model");
  m.model.set_model_version(4);
  auto* entry = m.model.add_metadata_props();
  entry->set_key("k");
  entry->set_value("v");
  m.Input("x", {2});
  m.Output("y", {2});
  m.Node("Relu", {"x"}, {"y"});
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  const pb::ModelProto out = ExportToProto(**program);
  EXPECT_EQ(out.producer_name(), "someone");
  EXPECT_EQ(out.doc_string(), "a model");
  EXPECT_EQ(out.model_version(), 4);
  EXPECT_EQ(out.graph().name(), "test");
  ASSERT_EQ(out.metadata_props_size(), 1);
  EXPECT_EQ(out.metadata_props(0).value(), "v");
  ASSERT_EQ(out.opset_import_size(), 2);
  EXPECT_EQ(out.opset_import(0).version(), 13);  // the oldest that is written
  EXPECT_EQ(out.opset_import(1).domain(), "com.example");
  EXPECT_EQ(out.opset_import(1).version(), 3);
}

TEST(Import, AUsedNameThatNobodyDefinesIsNamed) {
  ModelBuilder m;
  m.Input("x", {2});
  m.Output("y");
  m.Node("Add", {"x", "z"}, {"y"})->set_name("sum");
  EXPECT_EQ(ImportAndDescribe(m), "INVALID_ARGUMENT: node 'sum' ('Add'): 'z' is not defined");
}

TEST(Import, AnAnnotationOfAnotherElementTypeIsAnError) {
  ModelBuilder m;
  m.Input("x", {2});
  m.Output("y", {2}, pb::TensorProto::INT64);
  m.Node("Relu", {"x"}, {"y"});
  EXPECT_EQ(ImportAndDescribe(m),
            "INVALID_ARGUMENT: node of 'y' ('Relu'): 'y': is stated as tensor<2xi64> but computed "
            "as tensor<2xf32>");
}

TEST(Import, AttributesMustExistAndBeOfTheRightKind) {
  ModelBuilder m;
  m.Input("x", {2});
  m.Output("y");
  auto* node = m.Node("LeakyRelu", {"x"}, {"y"});
  SetString(node, "alpha", "big");
  EXPECT_EQ(ImportAndDescribe(m),
            "INVALID_ARGUMENT: node of 'y' ('LeakyRelu'): attribute alpha is of kind string, "
            "expected float");
  node->clear_attribute();
  SetFloat(node, "beta", 1);
  EXPECT_EQ(ImportAndDescribe(m),
            "INVALID_ARGUMENT: node of 'y' ('LeakyRelu'): LeakyRelu has no attribute 'beta'");
}

TEST(Import, AnElementTypeWeDoNotHaveIsUnsupported) {
  EXPECT_EQ(TensorOf(27, {1}, [](auto* t) { t->set_raw_data("a"); }),
            "UNIMPLEMENTED: initializer 'c': element type 27 of ONNX");
}

}  // namespace
}  // namespace weft::onnx
