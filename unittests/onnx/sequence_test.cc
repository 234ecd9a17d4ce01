// Sequences and optionals: their types and operators from files and back, and values in files.
#include <gmock/gmock.h>

#include "kernels/runtime/session.h"
#include "tools/onnx/tensor_file.h"
#include "unittests/onnx/model_builder.h"
#include "unittests/onnx/run_program.h"

namespace weft::onnx {
namespace {

using kernels::RuntimeValue;
using testing::HasSubstr;
using Attr = pb::AttributeProto;

pb::TypeProto TensorOf(int dtype, const std::vector<int64_t>& dims) {
  pb::ValueInfoProto info;
  ModelBuilder::SetInfo(&info, "", dims, dtype);
  return info.type();
}
pb::TypeProto SequenceOf(const pb::TypeProto& element) {
  pb::TypeProto type;
  *type.mutable_sequence_type()->mutable_elem_type() = element;
  return type;
}
pb::TypeProto OptionalOf(const pb::TypeProto& element) {
  pb::TypeProto type;
  *type.mutable_optional_type()->mutable_elem_type() = element;
  return type;
}
void AddInput(ModelBuilder& m, const std::string& name, const pb::TypeProto& type) {
  auto* info = m.graph()->add_input();
  info->set_name(name);
  *info->mutable_type() = type;
}
void AddOutput(ModelBuilder& m, const std::string& name, const pb::TypeProto& type) {
  auto* info = m.graph()->add_output();
  info->set_name(name);
  *info->mutable_type() = type;
}

const pb::TypeProto kFloats = TensorOf(1, {-2, 3});

// The type of a graph input after import, as text, and that it comes back.
std::string TypeOfInput(const pb::TypeProto& type) {
  ModelBuilder m;
  AddInput(m, "s", type);
  AddOutput(m, "s", type);
  ir::IrContext context;
  auto program = m.Import(context);
  if (!program.ok()) return std::string(ir::Message(program.status()));
  EXPECT_EQ(ExportToProto(**program).graph().input(0).type().SerializeAsString(),
            type.SerializeAsString());
  return (*program)->body().argument(0).type().ToString();
}

TEST(SequenceTypes, ComeAndGo) {
  EXPECT_EQ(TypeOfInput(SequenceOf(kFloats)), "seq<tensor<\"n2\"x3xf32>>");
  EXPECT_EQ(TypeOfInput(OptionalOf(kFloats)), "optional<tensor<\"n2\"x3xf32>>");
  EXPECT_EQ(TypeOfInput(OptionalOf(SequenceOf(kFloats))), "optional<seq<tensor<\"n2\"x3xf32>>>");
  EXPECT_EQ(TypeOfInput(SequenceOf(OptionalOf(SequenceOf(kFloats)))),
            "seq<optional<seq<tensor<\"n2\"x3xf32>>>>");
}

TEST(SequenceTypes, OfMapsAreOpaque) {
  pb::TypeProto map;
  map.mutable_map_type()->set_key_type(7);
  *map.mutable_map_type()->mutable_value_type() = kFloats;
  EXPECT_THAT(TypeOfInput(SequenceOf(map)), testing::StartsWith("opaque<"));
}

TEST(SequenceTypes, OfBadElementsAreRefused) {
  EXPECT_THAT(TypeOfInput(SequenceOf(TensorOf(77, {}))),
              HasSubstr("element type 77 does not exist"));
  EXPECT_THAT(TypeOfInput(SequenceOf(TensorOf(1, {INT64_MAX, INT64_MAX}))),
              HasSubstr("has more than 2^63 bytes"));
}

// s = (x, x); y = s[i]; o = optional(s); e = the sequence in o
ModelBuilder Model() {
  ModelBuilder m;
  m.Input("x", {2});
  m.Input("i", {}, pb::TensorProto::INT64);
  m.Output("y", {2});
  AddOutput(m, "e", SequenceOf(TensorOf(1, {2})));
  AddOutput(m, "none", OptionalOf(TensorOf(7, {})));
  m.Node("SequenceConstruct", {"x", "x"}, {"s"});
  m.Node("SequenceAt", {"s", "i"}, {"y"});
  m.Node("Optional", {"s"}, {"o"});
  m.Node("OptionalGetElement", {"o"}, {"e"});
  auto* none = m.Node("Optional", {}, {"none"});
  *AddAttribute(none, "type", Attr::TYPE_PROTO)->mutable_tp() = TensorOf(7, {});
  return m;
}

TEST(SequenceOperators, AreImportedAndComeBack) {
  const ModelBuilder m = Model();
  EXPECT_EQ(RoundTrip(m),
            "s: seq<tensor<2xf32>> = onnx.SequenceConstruct(x, x)\n"
            "y: f32[2] = onnx.SequenceAt(s, i)\n"
            "o: optional<seq<tensor<2xf32>>> = onnx.Optional(s)\n"
            "e: seq<tensor<2xf32>> = onnx.OptionalGetElement(o)\n"
            "none: optional<tensor<i64>> = onnx.Optional() {type=?}\n"
            "builtin.return(y, e, none)\n");
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  const pb::ModelProto out = ExportToProto(**program);
  ASSERT_EQ(out.graph().node_size(), 5);
  EXPECT_EQ(out.graph().node(4).attribute(0).SerializeAsString(),
            m.model.graph().node(4).attribute(0).SerializeAsString());
  EXPECT_EQ(out.graph().output(2).SerializeAsString(),
            m.model.graph().output(2).SerializeAsString());
}

TEST(SequenceOperators, RunAfterEveryPipeline) {
  for (const char* pipeline : {"none", "simplify", "fuse", "layout"}) {
    ir::IrContext context;
    auto program = Model().Import(context);
    ASSERT_EQ(program.status().message(), "");
    Optimise(**program, pipeline);
    auto session = kernels::Session::Create(**program, {});
    ASSERT_EQ(session.status().message(), "");
    kernels::Tensor index(ir::DataType::kI64, {});
    index.values<int64_t>()[0] = -1;
    const RuntimeValue inputs[] = {RuntimeValue::Of(F32({2}, {1, 2})),
                                   RuntimeValue::Of(std::move(index))};
    auto results = (*session)->RunValues(inputs);
    ASSERT_EQ(results.status().message(), "");
    EXPECT_EQ((*results)[0].view.values<float>()[1], 2);
    ASSERT_TRUE((*results)[1].IsSequence());
    EXPECT_EQ((*results)[1].sequence->size(), 2u);
    EXPECT_FALSE((*results)[2]);
  }
}

// Constants are tensors: what is computed of constants must not become a constant that is none.
TEST(SequenceOperators, OfConstantsAreNotFolded) {
  ModelBuilder m;
  m.Initializer<float>("w", {2}, {3, 4});
  m.Initializer<int64_t>("zero", {}, {0});
  m.Output("y", {2});
  m.Node("SequenceConstruct", {"w", "w"}, {"s"});
  m.Node("SequenceErase", {"s"}, {"t"});
  m.Node("SequenceEmpty", {}, {"unused"});
  m.Node("SequenceAt", {"t", "zero"}, {"y"});
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  Optimise(**program, "fuse");
  EXPECT_EQ(RunProgram(**program, {}), (std::vector<float>{3, 4}));
}

TEST(SequenceOperators, ShapesThatAFileStatesForElementsAreHints) {
  ModelBuilder m;
  m.Input("x", {2});
  AddOutput(m, "s", SequenceOf(TensorOf(1, {})));
  m.Node("SequenceConstruct", {"x"}, {"s"});
  EXPECT_EQ(RoundTrip(m),
            "s: seq<tensor<2xf32>> = onnx.SequenceConstruct(x)\n"
            "builtin.return(s)\n");
  m.graph()->mutable_output(0)->mutable_type()->CopyFrom(SequenceOf(TensorOf(7, {})));
  ir::IrContext context;
  EXPECT_EQ(ir::Message(m.Import(context).status()),
            "node of 's' ('SequenceConstruct'): 's': is stated as seq<tensor<i64>> but computed as "
            "seq<tensor<2xf32>>");
}

TEST(SequenceOperators, MapsHaveABody) {
  ModelBuilder m;
  AddInput(m, "s", SequenceOf(kFloats));
  AddOutput(m, "t", SequenceOf(kFloats));
  auto* node = m.Node("SequenceMap", {"s"}, {"t"});
  auto* body = AddAttribute(node, "body", Attr::GRAPH)->mutable_g();
  body->set_name("b");
  ModelBuilder::SetInfo(body->add_input(), "e", {-2, 3});
  ModelBuilder::AddNode(body->mutable_node(), "Neg", {"e"}, {"f"});
  ModelBuilder::SetInfo(body->add_output(), "f", {-2, 3});
  EXPECT_EQ(RoundTrip(m),
            "t: seq<tensor<-1x3xf32>> = onnx.SequenceMap(s) {onnx.subgraph_names=['b']}\n"
            " (e):\n"
            "  f: f32[?,3] = onnx.Neg(e)\n"  // elements may differ
            "  builtin.return(f)\n"
            "builtin.return(t)\n");
  node->add_input("s");
  ir::IrContext context;
  EXPECT_EQ(ir::Message(m.Import(context).status()),
            "node of 't' ('SequenceMap'): onnx.SequenceMap: body has 1 arguments but needs 2");
}

// --- values in files -------------------------------------------------------------------

class ValueFile : public testing::Test {
 protected:
  ir::Attribute Floats(const std::vector<float>& values) {
    return context.DenseAttrOf(
        context.TensorType(ir::DataType::kF32, {static_cast<int64_t>(values.size())}),
        std::span<const float>(values));
  }
  // The kind and the tensors after writing and reading; or what is wrong, without the path.
  std::string Again(const StoredValue& value, ir::Type type) {
    if (auto status = WriteValueFile(dir / "v.pb", value, type, "v"); !status.ok())
      return std::string(status.message());
    return Read(type);
  }
  std::string Read(ir::Type type) {
    const auto value = ReadValueFile(context, dir / "v.pb", type);
    if (!value.ok()) {
      const std::string text(ir::Message(value.status()));
      return text.substr(text.find(": ") + 2);
    }
    std::string text = fmt::format("{}", static_cast<int>(value->kind));
    for (const ir::Attribute dense : value->tensors) text += " " + DescribeAttribute(dense);
    return text;
  }

  TempDir dir;
  ir::IrContext context;
  const ir::Type tensor = context.UnrankedTensorType(ir::DataType::kF32);
  const ir::Type sequence = context.SequenceType(tensor);
};

TEST_F(ValueFile, WritesWhatItReads) {
  using Kind = StoredValue::Kind;
  const StoredValue one{Kind::kTensor, {Floats({1, 2})}};
  const StoredValue two{Kind::kSequence, {Floats({1}), Floats({2, 3})}};
  EXPECT_EQ(Again(one, tensor), "1 f32[2](1,2)");
  EXPECT_EQ(Again(one, context.OptionalType(tensor)), "1 f32[2](1,2)");
  EXPECT_EQ(Again(two, sequence), "2 f32[1](1) f32[2](2,3)");
  EXPECT_EQ(Again(two, context.OptionalType(sequence)), "2 f32[1](1) f32[2](2,3)");
  EXPECT_EQ(Again({Kind::kSequence, {}}, sequence), "2");
  EXPECT_EQ(Again({Kind::kSequence, {}}, context.OptionalType(sequence)), "2");
  EXPECT_EQ(Again({}, context.OptionalType(sequence)), "0");
  EXPECT_EQ(Again({}, context.OptionalType(tensor)), "0");
  EXPECT_EQ(Again(two, context.OptionalType(tensor)), "2 f32[1](1) f32[2](2,3)");
}

TEST_F(ValueFile, RefusesWhatIsNoValue) {
  WriteFile(dir / "v.pb", "garbage");
  EXPECT_THAT(Read(sequence), HasSubstr("not a valid sequence: byte "));
  EXPECT_THAT(Read(context.OptionalType(sequence)), HasSubstr("not a valid optional: byte "));
  EXPECT_EQ(ir::Message(ReadValueFile(context, "x.npy", sequence).status()),
            "'x.npy': a .npy file holds a tensor, not a sequence");
  EXPECT_EQ(ir::Message(ReadValueFile(context, "x.npy", context.OptionalType(tensor)).status()),
            "'x.npy': a .npy file holds a tensor, not an optional");
  pb::SequenceProto maps;
  maps.set_elem_type(4);
  WriteFile(dir / "v.pb", maps.SerializeAsString());
  EXPECT_EQ(Read(sequence), "a sequence of elements of kind 4");
  pb::SequenceProto bad;
  bad.set_elem_type(1);
  ModelBuilder::SetTensor<float>(bad.add_tensor_values(), "", {1}, {1});
  ModelBuilder::SetTensor<float>(bad.add_tensor_values(), "", {int64_t{1} << 40}, {1});
  WriteFile(dir / "v.pb", bad.SerializeAsString());
  EXPECT_THAT(Read(sequence), testing::StartsWith("element 1: "));
}

TEST_F(ValueFile, RefusesAnotherMessageThanIsExpected) {
  const auto refuse = [&](const std::string& bytes) {
    WriteFile(dir / "v.pb", bytes);
    EXPECT_EQ(Read(sequence), "not a sequence");
    EXPECT_EQ(Read(context.OptionalType(tensor)), "not an optional");
    EXPECT_EQ(Read(context.OptionalType(sequence)), "not an optional");
  };
  refuse("");
  for (const auto type : {pb::TensorProto::FLOAT, pb::TensorProto::INT8, pb::TensorProto::INT64}) {
    pb::TensorProto other;  // its type is where the others have the kind of their elements
    other.add_dims(0);
    other.set_data_type(type);
    refuse(other.SerializeAsString());
    other.set_raw_data("");
    refuse(other.SerializeAsString());
  }
  pb::TensorProto scalar;  // floats in the field of sparse tensors
  scalar.set_data_type(pb::TensorProto::FLOAT);
  scalar.add_float_data(1);
  refuse(scalar.SerializeAsString());
  pb::SequenceProto unstated;
  ModelBuilder::SetTensor<float>(unstated.add_tensor_values(), "", {1}, {1});
  refuse(unstated.SerializeAsString());
  unstated.set_elem_type(0);
  refuse(unstated.SerializeAsString());
  unstated.set_elem_type(3);
  refuse(unstated.SerializeAsString());
}

TEST_F(ValueFile, RefusesASequenceOfSeveralForAnOptional) {
  ASSERT_EQ(Again({StoredValue::Kind::kSequence, {Floats({1}), Floats({2})}}, sequence),
            "2 f32[1](1) f32[1](2)");
  EXPECT_EQ(Read(context.OptionalType(tensor)), "not an optional");
}

// As numpy_helper.from_optional and from_list write them.
TEST_F(ValueFile, ReadsWhatOnnxWritesForNothing) {
  pb::OptionalProto nothing;
  nothing.set_name("o");
  nothing.set_elem_type(0);
  WriteFile(dir / "v.pb", nothing.SerializeAsString());
  EXPECT_EQ(Read(context.OptionalType(tensor)), "0");
  EXPECT_EQ(Read(context.OptionalType(sequence)), "0");
  pb::SequenceProto empty;
  empty.set_name("s");
  empty.set_elem_type(1);
  WriteFile(dir / "v.pb", empty.SerializeAsString());
  EXPECT_EQ(Read(sequence), "2");
}

}  // namespace
}  // namespace weft::onnx
