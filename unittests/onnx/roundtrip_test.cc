// What is read is written back: nodes of every family, opaque operators, names.
#include "ir/rewriter.h"
#include "unittests/onnx/model_builder.h"

namespace weft::onnx {
namespace {

using Attr = pb::AttributeProto;

// The model as it is written after it was read.
pb::ModelProto Rewritten(const ModelBuilder& m) {
  ir::IrContext context;
  auto program = m.Import(context);
  EXPECT_EQ(program.status().message(), "");
  return program.ok() ? ExportToProto(**program) : pb::ModelProto();
}

const pb::AttributeProto* FindAttribute(const pb::NodeProto& node, const std::string& name) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

// Every attribute and name of `given` is in `written` as it was.
void ExpectKept(const pb::NodeProto& given, const pb::NodeProto& written) {
  EXPECT_EQ(given.op_type(), written.op_type());
  EXPECT_EQ(given.domain(), written.domain());
  EXPECT_EQ(given.name(), written.name());
  EXPECT_EQ(std::vector<std::string>(given.input().begin(), given.input().end()),
            std::vector<std::string>(written.input().begin(), written.input().end()));
  EXPECT_EQ(std::vector<std::string>(given.output().begin(), given.output().end()),
            std::vector<std::string>(written.output().begin(), written.output().end()));
  for (const auto& attribute : given.attribute()) {
    const auto* kept = FindAttribute(written, attribute.name());
    ASSERT_NE(kept, nullptr) << attribute.name();
    EXPECT_EQ(kept->SerializeAsString(), attribute.SerializeAsString()) << attribute.name();
  }
}

TEST(RoundTrip, KeepsElementwiseAndLinearNodes) {
  ModelBuilder m;
  m.Input("x", {2, 3});
  m.Initializer<float>("w", {3, 4}, std::vector<float>(12, 0.5f));
  m.Initializer<float>("b", {4}, {1, 2, 3, 4});
  m.Output("y", {2, 4}, pb::TensorProto::INT32);
  SetFloat(m.Node("LeakyRelu", {"x"}, {"a"}), "alpha", 0.125f);
  auto* gemm = m.Node("Gemm", {"a", "w", "b"}, {"g"});
  gemm->set_name("gemm");
  SetFloat(gemm, "alpha", 0.25f);
  SetInt(gemm, "transB", 0);
  m.Node("Sum", {"g", "b", "g"}, {"s"});
  m.Node("Clip", {"s", "", ""}, {"c"});
  SetInt(m.Node("Cast", {"c"}, {"y"}), "to", pb::TensorProto::INT32);
  const pb::ModelProto out = Rewritten(m);
  ASSERT_EQ(out.graph().node_size(), m.graph()->node_size());
  for (int i = 0; i < out.graph().node_size(); ++i) {
    pb::NodeProto given = m.graph()->node(i);
    while (given.input(given.input_size() - 1).empty()) given.mutable_input()->RemoveLast();
    ExpectKept(given, out.graph().node(i));
  }
  ASSERT_EQ(out.graph().initializer_size(), 2);
  EXPECT_EQ(out.graph().initializer(0).raw_data(), m.graph()->initializer(0).raw_data());
  EXPECT_EQ(out.graph().input(0).SerializeAsString(), m.graph()->input(0).SerializeAsString());
  EXPECT_EQ(out.graph().output(0).SerializeAsString(), m.graph()->output(0).SerializeAsString());
}

TEST(RoundTrip, KeepsConvolutionsAndPools) {
  ModelBuilder m;
  m.Input("x", {1, 2, 8, 8});
  m.Initializer<float>("w", {4, 1, 3, 3}, std::vector<float>(36, 0.5f));
  m.Output("y");
  m.Output("i");
  auto* conv = m.Node("Conv", {"x", "w"}, {"c"});
  SetInt(conv, "group", 2);
  SetInts(conv, "pads", {1, 0, 1, 0});
  SetInts(conv, "strides", {2, 1});
  SetInts(conv, "dilations", {1, 1});
  SetInts(conv, "kernel_shape", {3, 3});
  auto* pool = m.Node("AveragePool", {"c"}, {"a"});
  SetInts(pool, "kernel_shape", {2, 2});
  SetInt(pool, "ceil_mode", 1);
  SetInt(pool, "count_include_pad", 1);
  auto* max = m.Node("MaxPool", {"a"}, {"y", "i"});
  SetInts(max, "kernel_shape", {2, 2});
  SetInt(max, "storage_order", 1);
  const pb::ModelProto out = Rewritten(m);
  ASSERT_EQ(out.graph().node_size(), 3);
  for (int i = 0; i < 3; ++i) ExpectKept(m.graph()->node(i), out.graph().node(i));
}

TEST(RoundTrip, KeepsShapeAndDataMovement) {
  ModelBuilder m;
  m.Input("x", {2, 3, 4});
  m.Initializer<int64_t>("shape", {2}, {6, 4});
  m.Initializer<int64_t>("axes", {1}, {0});
  m.Initializer<int64_t>("split", {2}, {2, 4});
  m.Output("p");
  m.Output("q");
  SetInts(m.Node("Transpose", {"x"}, {"t"}), "perm", {0, 2, 1});
  SetInt(m.Node("Reshape", {"x", "shape"}, {"r"}), "allowzero", 1);
  m.Node("Unsqueeze", {"r", "axes"}, {"u"});
  m.Node("Squeeze", {"u", "axes"}, {"s"});
  SetInt(m.Node("Split", {"s", "split"}, {"a", "b"}), "axis", 0);
  SetInt(m.Node("Concat", {"b", "a"}, {"p"}), "axis", 0);
  auto* shape = m.Node("Shape", {"t"}, {"q"});
  SetInt(shape, "start", 1);
  SetInt(shape, "end", -1);
  const pb::ModelProto out = Rewritten(m);
  ASSERT_EQ(out.graph().node_size(), m.graph()->node_size());
  for (int i = 0; i < out.graph().node_size(); ++i)
    ExpectKept(m.graph()->node(i), out.graph().node(i));
  RoundTrip(m);
}

// A node that no dialect defines, with an attribute of every kind.
pb::NodeProto* AddOpaque(ModelBuilder& m) {
  auto* node = m.Node("com.example.Thing", {"x", "", "w"}, {"", "y"});
  node->set_name("thing");
  node->set_doc_string("what it does");
  node->add_metadata_props()->set_key("made by");
  node->mutable_metadata_props(0)->set_value("hand");
  SetInt(node, "i", -3);
  SetFloat(node, "f", 0.1f);
  SetString(node, "s", std::string("\x00\xff raw", 6));
  SetInts(node, "is", {1, 2});
  AddAttribute(node, "no_ints", Attr::INTS);
  AddAttribute(node, "fs", Attr::FLOATS)->add_floats(1e-9f);
  AddAttribute(node, "ss", Attr::STRINGS)->add_strings("text");
  ModelBuilder::SetTensor<float>(AddAttribute(node, "t", Attr::TENSOR)->mutable_t(), "", {2},
                                 {1, 2});
  ModelBuilder::SetTensor<int64_t>(AddAttribute(node, "ts", Attr::TENSORS)->add_tensors(), "inner",
                                   {1}, {5});
  auto* sparse = AddAttribute(node, "sparse", Attr::SPARSE_TENSOR)->mutable_sparse_tensor();
  sparse->add_dims(4);
  ModelBuilder::SetTensor<float>(sparse->mutable_values(), "v", {1}, {2.5f});
  ModelBuilder::SetTensor<int64_t>(sparse->mutable_indices(), "i", {1}, {3});
  AddAttribute(node, "tp", Attr::TYPE_PROTO)
      ->mutable_tp()
      ->mutable_sequence_type()
      ->mutable_elem_type()
      ->mutable_tensor_type()
      ->set_elem_type(1);
  return node;
}

void AddUnknownField(google::protobuf::Message* message) {
  message->GetReflection()->MutableUnknownFields(message)->AddLengthDelimited(1000, "later");
}

TEST(RoundTrip, KeepsAllOfMessagesThatNoAttributeOrTypeHolds) {
  ModelBuilder m;
  m.Import("com.example", 5);
  auto* sequence = m.graph()->add_input();
  sequence->set_name("s");
  sequence->mutable_type()->set_denotation("names");
  sequence->mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type();
  AddUnknownField(sequence->mutable_type());
  m.Output("y", {1});
  auto* node = m.Node("com.example.Thing", {"s"}, {"y"});
  auto* tensor = AddAttribute(node, "ts", Attr::TENSORS)->add_tensors();
  ModelBuilder::SetTensor<int64_t>(tensor, "inner", {1}, {5});
  auto* entry = tensor->add_metadata_props();
  entry->set_key("author");
  entry->set_value("somebody");
  AddUnknownField(tensor);
  const pb::ModelProto out = Rewritten(m);
  ASSERT_EQ(out.graph().node_size(), 1);
  EXPECT_EQ(out.graph().input(0).SerializeAsString(), sequence->SerializeAsString());
  EXPECT_EQ(out.graph().node(0).SerializeAsString(), node->SerializeAsString());
}

TEST(RoundTrip, WritesOpaqueOperatorsBackUnchanged) {
  ModelBuilder m;
  m.Import("com.example", 5);
  m.Input("x", {2});
  m.Initializer<float>("w", {1}, {1});
  m.Output("y", {3});
  const pb::NodeProto given = *AddOpaque(m);
  const pb::ModelProto out = Rewritten(m);
  ASSERT_EQ(out.graph().node_size(), 1);
  ExpectKept(given, out.graph().node(0));
  EXPECT_EQ(out.graph().node(0).attribute_size(), given.attribute_size());
  EXPECT_EQ(out.graph().node(0).doc_string(), "what it does");
  ASSERT_EQ(out.graph().node(0).metadata_props_size(), 1);
  EXPECT_EQ(out.graph().node(0).metadata_props(0).key(), "made by");
  EXPECT_EQ(out.graph().node(0).metadata_props(0).value(), "hand");
  EXPECT_EQ(out.opset_import(1).domain(), "com.example");
  EXPECT_EQ(out.opset_import(1).version(), 5);
  RoundTrip(m);
}

TEST(RoundTrip, OpaqueOperatorsKeepStatedTypes) {
  ModelBuilder m;
  m.Input("x", {2, 2});
  m.Output("y", {-2, 2}, pb::TensorProto::INT64);
  m.Node("NotOfOnnx", {"x"}, {"n"});
  ModelBuilder::SetInfo(m.graph()->add_value_info(), "n", {2, -3}, pb::TensorProto::INT64);
  SetInts(m.Node("Transpose", {"n"}, {"y"}), "perm", {1, 0});
  EXPECT_EQ(RoundTrip(m),
            "n: i64[2,\"n3\"] = onnx.NotOfOnnx(x)\n"
            "y: i64[\"n3\",2] = onnx.Transpose(n) {perm=[1,0]}\n"
            "builtin.return(y)\n");
}

TEST(RoundTrip, TypesAreStatedWhereInferenceDoesNotFindThem) {
  ModelBuilder m;
  m.Input("x", {2, -2});
  m.Input("z", {2, 3});
  m.Output("y", {-4, 2});
  m.Node("Relu", {"x"}, {"inferred"});
  m.Node("Relu", {"z"}, {"of numbers"});
  m.Node("NotOfOnnx", {"inferred", "of numbers"}, {"stated"});
  ModelBuilder::SetInfo(m.graph()->add_value_info(), "stated", {2, -3}, pb::TensorProto::FLOAT);
  m.Node("Relu", {"stated"}, {"with a note"});
  ModelBuilder::SetInfo(m.graph()->add_value_info(), "with a note", {2, -3},
                        pb::TensorProto::FLOAT);
  m.graph()->mutable_value_info(1)->set_doc_string("a note");
  SetInts(m.Node("Transpose", {"with a note"}, {"y"}), "perm", {1, 0});
  const pb::ModelProto out = Rewritten(m);
  std::vector<std::string> stated;
  for (const auto& info : out.graph().value_info()) stated.push_back(info.name());
  EXPECT_EQ(stated, (std::vector<std::string>{"of numbers", "stated", "with a note"}));
}

TEST(RoundTrip, AnOutputThatIsAnInputStaysOne) {
  ModelBuilder m;
  m.Input("x", {2});
  m.Output("x", {2});
  const pb::ModelProto out = Rewritten(m);
  EXPECT_EQ(out.graph().node_size(), 0);
  EXPECT_EQ(out.graph().output(0).name(), "x");
}

TEST(RoundTrip, AnOutputThatIsAConstantIsCopied) {
  ModelBuilder m;
  m.Initializer<float>("w", {2}, {1, 2});
  m.Output("w", {2});
  const pb::ModelProto out = Rewritten(m);
  ASSERT_EQ(out.graph().node_size(), 1);
  EXPECT_EQ(out.graph().node(0).op_type(), "Identity");
  EXPECT_EQ(out.graph().node(0).input(0), out.graph().initializer(0).name());
  EXPECT_EQ(out.graph().node(0).output(0), "w");
}

TEST(RoundTrip, ValuesThatShareANameGetTheirOwn) {
  ModelBuilder m;
  m.Input("x", {2});
  m.Output("y", {2});
  m.Node("Relu", {"x"}, {"a"});
  m.Node("Relu", {"a"}, {"b"});
  m.Node("Relu", {"b"}, {"y"});
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  for (ir::Operation op : (*program)->body())
    if (op.num_results() > 0) (*program)->SetName(op.result(), "y");  // the output's name
  const pb::ModelProto out = ExportToProto(**program);
  EXPECT_EQ(out.graph().node(2).output(0), "y");
  EXPECT_EQ(out.graph().node(1).input(0), out.graph().node(0).output(0));
  EXPECT_NE(out.graph().node(0).output(0), "y");
  EXPECT_NE(out.graph().node(0).output(0), out.graph().node(1).output(0));
}

TEST(RoundTrip, ParametersBecomeInitializers) {
  ir::IrContext context;
  ir::Program program(&context);
  ir::Builder b(&program);
  const ir::Type type = context.TensorType(ir::DataType::kF32, {2});
  const ir::Floats values{1, 2};
  program.SetParameter("weight", context.DenseAttrOf(type, std::span<const float>(values)));
  const ir::Operation get = b.Create<ir::GetParameterOp>({}, {.parameter_name = "weight"});
  ir::Rewriter(&program).SetType(get.result(), type);
  const ir::Operation neg = b.Create({.opcode = ir::Opcode::FindOrAdd("onnx.Neg"),
                                      .operands = {get.result()},
                                      .result_types = {type}});
  b.Return({{"y", neg.result()}});
  ir::Rewriter(&program).SetAttr(program.module(), "input_names", context.StringsAttr({}));
  const pb::ModelProto out = ExportToProto(program);
  ASSERT_EQ(out.graph().initializer_size(), 1);
  EXPECT_EQ(out.graph().initializer(0).name(), "weight");
  EXPECT_EQ(out.graph().node(0).input(0), "weight");
}

TEST(RoundTrip, AnOpThatOnnxLacksIsUnsupportedByName) {
  ir::IrContext context;
  ir::Program program(&context);
  ir::Builder b(&program);
  const ir::Value x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {2}));
  b.Return({{"y", b.Make<ir::CombineOp>({x, x})}});
  TempDir dir;
  const absl::Status status = ExportOnnx(program, dir / "out.onnx");
  EXPECT_EQ(status.ToString(), "UNIMPLEMENTED: builtin.combine: ONNX has no operator for it");
  EXPECT_FALSE(std::filesystem::exists(dir / "out.onnx"));
}

TEST(RoundTrip, NothingIsLeftBehindWhenWritingFails) {
  ModelBuilder m;
  m.Input("x", {2});
  m.Output("y", {2});
  m.Node("Relu", {"x"}, {"y"});
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  TempDir dir;
  std::filesystem::create_directory(dir / "taken");
  EXPECT_FALSE(ExportOnnx(**program, dir / "taken").ok());
  EXPECT_FALSE(ExportOnnx(**program, dir / "missing/out.onnx").ok());
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir / "")) {
    (void)entry;
    ++count;
  }
  EXPECT_EQ(count, 1u);
}

// Import would refuse it.
TEST(RoundTrip, OfNothingIsRefused) {
  ir::IrContext context;
  ir::Program program(&context);
  ir::Builder b(&program);
  b.AddInput("x", context.TensorType(ir::DataType::kF32, {2}));
  b.Return({});
  EXPECT_EQ(ir::Message(ExportOnnxBytes(program).status()),
            "neither nodes nor outputs are there to be written");
}

}  // namespace
}  // namespace weft::onnx
