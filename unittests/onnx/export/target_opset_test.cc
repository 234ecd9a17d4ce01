// What models look like in older opsets than the dialect's.
#include <gmock/gmock.h>

#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "ir/builder.h"
#include "ir/dialects/onnx.h"
#include "tools/onnx/export/lowering.h"
#include "tools/onnx/import/draft.h"
#include "unittests/onnx/model_builder.h"
#include "unittests/test_paths.h"

namespace weft::onnx {
namespace {

namespace ops = ir::ops;
using ir::Value;

// One version of an operator, from standard/operators.tsv, which operators.py describes.
struct Signature {
  bool deprecated = false;
  int inputs = 0;
  std::set<std::string> attributes{};
  std::map<std::string, std::string> kinds{};  // "int=1", "ints?", "float!"
  bool is_live() const { return !deprecated; }
};

std::vector<std::string> Cells(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// By name and first opset.
std::map<std::string, std::map<int64_t, Signature>> ReadSignatures() {
  std::map<std::string, std::map<int64_t, Signature>> all;
  std::ifstream file(fixtures::TestData("/onnx/standard/operators.tsv"));
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells = Cells(line, '\t');
    cells.resize(6);
    const int64_t since = std::stoll(cells[1]);
    if (since > kOpset) continue;
    Signature& signature = all[cells[0]][since];
    signature.deprecated = cells[2] == "deprecated";
    signature.inputs = static_cast<int>(Cells(cells[3], ' ').size());
    for (const std::string& attribute : Cells(cells[5], ' ')) {
      const size_t colon = attribute.find(':');
      signature.attributes.insert(attribute.substr(0, colon));
      signature.kinds[attribute.substr(0, colon)] = attribute.substr(colon + 1);
    }
  }
  return all;
}

pb::NodeProto NodeOf(const std::string& op_type, int inputs) {
  pb::NodeProto node;
  node.set_op_type(op_type);
  for (int i = 0; i < inputs; ++i) node.add_input(fmt::format("x{}", i));
  return node;
}

// A value that is nobody's default.
void SetOddValue(const std::string& kind, const std::string& name, pb::AttributeProto* attribute) {
  attribute->set_name(name);
  if (kind.starts_with("ints")) {
    attribute->set_type(pb::AttributeProto::INTS);
    attribute->add_ints(7);
  } else if (kind.starts_with("int")) {
    attribute->set_type(pb::AttributeProto::INT);
    attribute->set_i(7);
  } else if (kind.starts_with("float")) {
    attribute->set_type(pb::AttributeProto::FLOAT);
    attribute->set_f(7);
  } else {
    attribute->set_type(pb::AttributeProto::STRING);
    attribute->set_s("odd");
  }
}

absl::Status Lower(int64_t target, pb::NodeProto* node) {
  const Additions add = {.ints = [](const ir::Ints&) { return "ints"; },
                         .node = [](const pb::NodeProto&) { return "added"; }};
  return LowerNode({}, target, add, node);
}

// y = make(x) for x of f32[2,6].
class TargetOpset : public ::testing::Test {
 protected:
  TargetOpset() { LoadOnnxDialect(context_); }

  template <class Make>
  std::unique_ptr<ir::Program> ProgramOf(const Make& make) {
    auto program = std::make_unique<ir::Program>(&context_);
    ir::Builder b(program.get());
    const Value x = b.AddInput("x", context_.TensorType(ir::DataType::kF32, {2, 6}));
    b.Return({{"y", make(b, x)}});
    return program;
  }
  // The last node in that opset; the status where it cannot be said.
  template <class Make>
  std::string LastNode(int64_t target, const Make& make) {
    const auto program = ProgramOf(make);
    TempDir dir;
    const absl::Status status = ExportOnnx(*program, dir / "out.onnx", {.target_opset = target});
    if (!status.ok()) return status.ToString();
    pb::ModelProto model;
    EXPECT_TRUE(model.ParseFromString(ReadFile(dir / "out.onnx")));
    EXPECT_EQ(model.opset_import(0).version(), target);
    ExpectReadsBack(*program, model);
    return Text(model.graph(), model.graph().node(model.graph().node_size() - 1));
  }

  static std::string Text(const pb::GraphProto& graph, const pb::NodeProto& node) {
    std::string text = node.op_type();
    for (const std::string& input : node.input()) {
      text += " " + input;
      for (const pb::TensorProto& tensor : graph.initializer())
        if (tensor.name() == input) text += "=" + Ints(tensor);
    }
    for (const pb::AttributeProto& attribute : node.attribute()) {
      text += " " + attribute.name() + ":";
      text += attribute.has_i() ? std::to_string(attribute.i()) : attribute.s();
      for (const int64_t i : attribute.ints()) text += fmt::format(" {}", i);
    }
    return text;
  }
  static std::string Ints(const pb::TensorProto& tensor) {
    std::string text;
    for (size_t i = 0; i + 8 <= tensor.raw_data().size(); i += 8) {
      int64_t value = 0;
      std::memcpy(&value, tensor.raw_data().data() + i, sizeof(value));
      text += (i == 0 ? "" : ",") + std::to_string(value);
    }
    return "[" + text + "]";
  }

  // Import finds the same types again.
  void ExpectReadsBack(ir::Program& program, const pb::ModelProto& model) {
    ir::IrContext context;
    const std::string bytes = model.SerializeAsString();
    auto again = ImportOnnxBytes(context, std::as_bytes(std::span(bytes)));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ((*again)->body().Terminator().operand(0).type().ToString(),
              program.body().Terminator().operand(0).type().ToString());
  }

  ir::IrContext context_;
};

TEST_F(TargetOpset, IsThatOfTheModelThatWasRead) {
  const auto opset_after = [](int64_t opset) {
    ModelBuilder m(opset);
    m.Input("x", {2});
    m.Output("y", {2});
    m.Node("Relu", {"x"}, {"y"});
    ir::IrContext context;
    auto program = m.Import(context);
    EXPECT_EQ(program.status().message(), "");
    EXPECT_EQ(SourceOpset(**program), opset);
    return ExportToProto(**program).opset_import(0).version();
  };
  EXPECT_EQ(opset_after(27), 27);
  EXPECT_EQ(opset_after(18), 18);
  EXPECT_EQ(opset_after(13), 13);
  EXPECT_EQ(opset_after(12), 13);  // the oldest that is written
  EXPECT_EQ(opset_after(1), 13);
}

// A Softmax of opset 12 flattens its operand, and what it gives is put in shape by a Reshape that may meet a size of 0.
TEST_F(TargetOpset, IsALaterOneWhereAnAttributeNeedsIt) {
  const auto opset_after = [](int64_t size) {
    ModelBuilder m(12);
    m.Input("x", {2, size, 3});
    m.Output("y", {2, size, 3});
    SetInt(m.Node("Softmax", {"x"}, {"y"}), "axis", 1);
    ir::IrContext context;
    auto program = m.Import(context);
    EXPECT_EQ(program.status().message(), "");
    return ExportToProto(**program).opset_import(0).version();
  };
  EXPECT_EQ(opset_after(4), 13);
  EXPECT_EQ(opset_after(-2), 14);
}

TEST_F(TargetOpset, HasScalesOfTheTypeOfXBefore) {
  const auto norm = [](ir::Builder& b, Value x) {
    const Value half = b.Make<ops::Cast>({x}, {.to = ir::DataType::kF16});
    const Value c = b.ConstantFilled(ir::DataType::kF32, std::vector<int64_t>{6}, 1);
    return b.Make<ops::BatchNormalization>({half, c, c, c, c});
  };
  EXPECT_THAT(LastNode(15, norm), testing::StartsWith("BatchNormalization "));
  EXPECT_EQ(LastNode(14, norm),
            "UNIMPLEMENTED: onnx.BatchNormalization: scale of another type than x of "
            "BatchNormalization came with opset 15 and the model is written for 14");
}

TEST_F(TargetOpset, Is17ForAProgramThatWasNotReadFromAModel) {
  const auto program = ProgramOf([](ir::Builder& b, Value x) { return b.Make<ops::Tanh>({x}); });
  EXPECT_EQ(SourceOpset(*program), 0);
  EXPECT_EQ(ExportToProto(*program).opset_import(0).version(), 17);
}

TEST_F(TargetOpset, HasBounds) {
  const auto tanh = [](ir::Builder& b, Value x) { return b.Make<ops::Tanh>({x}); };
  EXPECT_EQ(LastNode(12, tanh), "INVALID_ARGUMENT: the target opset is 12; supported are 13 to 27");
  EXPECT_EQ(LastNode(28, tanh), "INVALID_ARGUMENT: the target opset is 28; supported are 13 to 27");
}

TEST_F(TargetOpset, BringsItsIrVersion) {
  const auto program = ProgramOf([](ir::Builder& b, Value x) { return b.Make<ops::Tanh>({x}); });
  EXPECT_EQ(ExportToProto(*program, {.target_opset = 13}).ir_version(), 8);
  EXPECT_EQ(ExportToProto(*program, {.target_opset = 19}).ir_version(), 9);
  EXPECT_EQ(ExportToProto(*program, {.target_opset = 22}).ir_version(), 10);
  EXPECT_EQ(ExportToProto(*program, {.target_opset = 27}).ir_version(), 13);
}

TEST_F(TargetOpset, AxesOfReductionsAreAnInputFrom18On) {
  const auto mean = [](ir::Builder& b, Value x) {
    return b.Make<ops::ReduceMean>({x}, {.axes = ir::Ints{1}});
  };
  EXPECT_EQ(LastNode(17, mean), "ReduceMean x axes: 1 keepdims:1");
  EXPECT_EQ(LastNode(18, mean), "ReduceMean x v1=[1] keepdims:1 noop_with_empty_axes:0");
  const auto sum = [](ir::Builder& b, Value x) {
    return b.Make<ops::ReduceSum>({x}, {.axes = ir::Ints{0}, .keepdims = 0});
  };
  EXPECT_EQ(LastNode(13, sum), "ReduceSum x v1=[0] keepdims:0 noop_with_empty_axes:0");
}

TEST_F(TargetOpset, AReductionOfNothingIsACopyBefore18) {
  const auto noop = [](ir::Builder& b, Value x) {
    return b.Make<ops::ReduceMax>({x}, {.noop_with_empty_axes = 1});
  };
  EXPECT_EQ(LastNode(17, noop), "Identity x");
  EXPECT_EQ(LastNode(20, noop), "ReduceMax x keepdims:1 noop_with_empty_axes:1");
}

TEST_F(TargetOpset, AReductionOfNothingIsWhatItDoesToElementsBefore18) {
  const auto noop = [&]<class O>() {
    return LastNode(
        17, [](ir::Builder& b, Value x) { return b.Make<O>({x}, {.noop_with_empty_axes = 1}); });
  };
  EXPECT_EQ(noop.operator()<ops::ReduceL1>(), "Abs x");
  EXPECT_EQ(noop.operator()<ops::ReduceL2>(), "Abs x");
  EXPECT_EQ(noop.operator()<ops::ReduceSumSquare>(), "Mul x x");
  EXPECT_EQ(noop.operator()<ops::ReduceLogSum>(), "Log x");
  EXPECT_EQ(noop.operator()<ops::ReduceLogSumExp>(), "Identity x");
  EXPECT_EQ(LastNode(17,
                     [](ir::Builder& b, Value x) {
                       const Value ints = b.Make<ops::Cast>({x}, {.to = ir::DataType::kI32});
                       return b.Make<ops::ReduceLogSum>({ints}, {.noop_with_empty_axes = 1});
                     }),
            "UNIMPLEMENTED: onnx.ReduceLogSum: attribute noop_with_empty_axes of ReduceLogSum came "
            "with opset 18 and the model is written for 17");
}

TEST_F(TargetOpset, TheAxisOfAFourierTransformIsAnInputFrom20On) {
  const auto dft = [](ir::Builder& b, Value x) {
    return b.Make<ops::DFT>({b.Make<ops::Unsqueeze>({x, b.ConstantInts({-1})}), Value(),
                             b.ConstantScalar(ir::DataType::kI64, 1)});
  };
  EXPECT_EQ(LastNode(17, dft), "DFT v2 inverse:0 onesided:0 axis:1");
  EXPECT_EQ(LastNode(20, dft), "DFT v2  v3=[1] inverse:0 onesided:0");
  const auto last = [](ir::Builder& b, Value x) {
    return b.Make<ops::DFT>({b.Make<ops::Unsqueeze>({x, b.ConstantInts({0, -1})})});
  };
  EXPECT_EQ(LastNode(17, last), "DFT v2 inverse:0 onesided:0 axis:-2");  // which was 1 unless given
}

TEST_F(TargetOpset, EqualPartsAreCountedFrom18On) {
  const auto split = [](ir::Builder& b, Value x) {
    return b.Create<ops::Split>({x}, {.axis = 1}, 2).result(0);
  };
  EXPECT_EQ(LastNode(17, split), "Split x axis:1");
  EXPECT_EQ(LastNode(18, split), "Split x axis:1 num_outputs:2");
}

TEST_F(TargetOpset, PartsOfDifferentSizesAreListedBefore18) {
  const auto split = [](ir::Builder& b, Value x) {
    return b.Create<ops::Split>({x}, {.axis = 1, .num_outputs = 4}, 4).result(0);
  };
  EXPECT_EQ(LastNode(17, split), "Split x v4=[2,2,2,0] axis:1");
  EXPECT_EQ(LastNode(18, split), "Split x axis:1 num_outputs:4");
}

TEST_F(TargetOpset, AttributesThatSayNothingNewAreLeftOut) {
  const auto shape = [](ir::Builder& b, Value x) { return b.Make<ops::Shape>({x}); };
  EXPECT_EQ(LastNode(13, shape), "Shape x");
  EXPECT_EQ(LastNode(15, shape), "Shape x start:0");
}

TEST_F(TargetOpset, APartOfAShapeIsASliceBefore15) {
  const auto but_first = [](ir::Builder& b, Value x) {
    return b.Make<ops::Shape>({x}, {.start = 1});
  };
  EXPECT_EQ(LastNode(13, but_first), "Slice v1 v2=[1] v3=[9223372036854775807]");
  EXPECT_EQ(LastNode(15, but_first), "Shape x start:1");
  const auto but_last = [](ir::Builder& b, Value x) {
    return b.Make<ops::Shape>({x}, {.end = int64_t{-1}});
  };
  EXPECT_EQ(LastNode(14, but_last), "Slice v1 v2=[0] v3=[-1]");
}

TEST_F(TargetOpset, OthersAreUnsupported) {
  const auto last_axis = [](ir::Builder& b, Value x) {
    const Value scales = b.ConstantFloats(std::vector<float>{2}, std::vector<int64_t>{1});
    return b.Make<ops::Resize>({x, Value(), scales}, {.axes = ir::Ints{-1}});
  };
  EXPECT_EQ(LastNode(17, last_axis),
            "UNIMPLEMENTED: onnx.Resize: attribute axes of Resize came with opset 18 and the model "
            "is written for 17");
  const auto wrap = [](ir::Builder& b, Value x) {
    return b.Make<ops::Pad>({x, b.ConstantInts({0, 1, 0, 1})}, {.mode = ops::PadMode::kWrap});
  };
  EXPECT_EQ(LastNode(18, wrap),
            "UNIMPLEMENTED: onnx.Pad: mode wrap of Pad came with opset 19 and the model is written "
            "for 18");
  EXPECT_TRUE(LastNode(19, wrap).starts_with("Pad x")) << LastNode(19, wrap);
  const auto bits = [](ir::Builder& b, Value x) {
    return b.Make<ops::BitCast>({x}, {.to = ir::DataType::kI32});
  };
  EXPECT_EQ(LastNode(25, bits),
            "UNIMPLEMENTED: onnx.BitCast: BitCast came with opset 26 and the model is written for "
            "25");
  EXPECT_EQ(LastNode(26, bits), "BitCast x to:6");
}

TEST_F(TargetOpset, KindsOfValuesThatAreNewAreUnsupported) {
  using ir::Builder;
  const auto sequence = [](Builder& b, Value x) { return b.Make<ops::SequenceConstruct>({x}); };
  const auto optional = [](Builder& b, Value x) { return b.Make<ops::OptionalOp>({x}); };
  const auto first = [](Builder& b, Value s) {
    return b.Make<ops::SequenceAt>({s, b.ConstantScalar(ir::DataType::kI64, 0)});
  };
  const auto get = [](Builder& b, Value o) { return b.Make<ops::OptionalGetElement>({o}); };
  const auto has = [](Builder& b, Value o) { return b.Make<ops::OptionalHasElement>({o}); };
  struct Row {
    int64_t since;
    std::string what;
    std::function<Value(Builder&, Value)> make;
  };
  const Row rows[] = {
      {18, "OptionalHasElement: absence of the input of OptionalHasElement",
       [](Builder& b, Value) { return b.Make<ops::OptionalHasElement>({}); }},
      {18, "OptionalHasElement: an input that is no optional of OptionalHasElement",
       [=](Builder& b, Value x) { return has(b, x); }},
      {18, "OptionalGetElement: an input that is no optional of OptionalGetElement",
       [=](Builder& b, Value x) { return get(b, x); }},
      {18, "OptionalGetElement: an input that is no optional of OptionalGetElement",
       [=](Builder& b, Value x) { return first(b, get(b, sequence(b, x))); }},
      {15, "Optional came", [=](Builder& b, Value x) { return get(b, optional(b, x)); }},
      {14, "Identity: a sequence of Identity",
       [=](Builder& b, Value x) { return first(b, b.Make<ops::Identity>({sequence(b, x)})); }},
      {16, "Identity: an optional of Identity",
       [=](Builder& b, Value x) { return get(b, b.Make<ops::Identity>({optional(b, x)})); }},
      {20, "GridSample: x of rank 5 of GridSample", [](Builder& b, Value) {
         const auto ones = [&](ir::Ints dims) {
           return b.ConstantFilled(ir::DataType::kF32, dims, 1);
         };
         return b.Make<ops::GridSample>({ones({1, 1, 2, 2, 2}), ones({1, 2, 2, 2, 3})});
       }}};
  for (const Row& row : rows) {
    if (row.since > 15) {
      EXPECT_EQ(LastNode(row.since - 1, row.make),
                fmt::format("UNIMPLEMENTED: onnx.{} came with opset {} and the model is written "
                            "for {}",
                            row.what, row.since, row.since - 1));
    } else {
      EXPECT_THAT(LastNode(row.since - 1, row.make), ::testing::HasSubstr(row.what));
    }
    EXPECT_FALSE(LastNode(row.since, row.make).starts_with("UNIMPLEMENTED")) << row.what;
  }
}

// Every attribute and input that an operator has today and had not in the target: what is written for
// that target has neither, or nothing is written.
TEST(Lowering, WritesNothingThatTheTargetLacks) {
  size_t checked = 0;
  for (const auto& [name, versions] : ReadSignatures()) {
    if (name == "DFT" || name == "Split") continue;  // they look at the operation: see above
    const Signature& newest = versions.rbegin()->second;
    for (int64_t target = kOldestTargetOpset; target < kOpset; ++target) {
      const auto after = versions.upper_bound(target);
      if (after == versions.begin() || after == versions.end() || !newest.is_live()) continue;
      const Signature& old = std::prev(after)->second;
      for (const std::string& attribute : newest.attributes) {
        if (old.attributes.contains(attribute)) continue;
        pb::NodeProto node = NodeOf(name, old.inputs);
        SetOddValue(newest.kinds.at(attribute), attribute, node.add_attribute());
        const absl::Status status = Lower(target, &node);
        for (const pb::AttributeProto& a : node.attribute())
          EXPECT_TRUE(!status.ok() || old.attributes.contains(a.name()))
              << name << "." << a.name() << " in opset " << target;
        ++checked;
      }
      if (newest.inputs <= old.inputs) continue;
      pb::NodeProto node = NodeOf(name, newest.inputs);
      EXPECT_FALSE(Lower(target, &node).ok() && node.input_size() > old.inputs)
          << name << " in opset " << target;
      ++checked;
    }
  }
  EXPECT_GT(checked, 150u);
}

TEST_F(TargetOpset, NewOperatorsBecomeTheirBodies) {
  const auto norm = [](ir::Builder& b, Value x) {
    const Value gamma =
        b.ConstantFloats(std::vector<float>{1, 2, 3, 4, 5, 6}, std::vector<int64_t>{6});
    return b.Make<ops::LayerNormalization>({x, gamma});
  };
  EXPECT_TRUE(LastNode(17, norm).starts_with("LayerNormalization")) << LastNode(17, norm);
  EXPECT_TRUE(LastNode(16, norm).starts_with("Mul")) << LastNode(16, norm);
}

// Operators that came after opset 13 and are functions, in the ops of that opset.
TEST_F(TargetOpset, FunctionsAreWrittenForTheOldestOpset) {
  using ir::Builder;
  const auto shaped = [](Builder& b, Value x, ir::Ints dims) {
    return b.Make<ops::Reshape>({x, b.ConstantInts(dims)});
  };
  const auto ones = [](Builder& b, ir::Ints dims) {
    return b.ConstantFilled(ir::DataType::kF32, dims, 1);
  };
  const std::function<Value(Builder&, Value)> makers[] = {
      [](Builder& b, Value x) { return b.Make<ops::HardSwish>({x}); },
      [](Builder& b, Value x) { return b.Make<ops::Mish>({x}); },
      [](Builder& b, Value x) { return b.Make<ops::Gelu>({x}); },
      [](Builder& b, Value x) { return b.Make<ops::Swish>({x}, {.alpha = 2.0f}); },
      [](Builder& b, Value x) {
        return b.Make<ops::CastLike>({x, x});
      },
      [](Builder& b, Value x) { return b.Make<ops::Bernoulli>({x}); },
      [](Builder& b, Value) { return b.Make<ops::HannWindow>({b.ConstantInts({5})}); },
      [&](Builder& b, Value x) {
        return b.Create<ops::LayerNormalization>({x, ones(b, {6})}, {}, 3).result(2);
      },
      [&](Builder& b, Value x) {
        return b.Make<ops::GroupNormalization>(
            {shaped(b, x, {1, 2, 2, 3}), ones(b, {2}), ones(b, {2})}, {.num_groups = 1});
      },
      [&](Builder& b, Value x) {
        return b.Make<ops::RMSNormalization>({x, ones(b, {6})});
      },
      [&](Builder& b, Value x) {
        const Value cache = ones(b, {1, 3, 1});
        return b.Make<ops::RotaryEmbedding>({shaped(b, x, {1, 2, 3, 2}), cache, cache});
      },
      [&](Builder& b, Value x) {
        const Value y = shaped(b, x, {1, 2, 2, 3});
        return b.Make<ops::Attention>({y, y, y}, {.is_causal = 1});
      },
      [&](Builder& b, Value x) {
        return b.Make<ops::CausalConvWithState>({shaped(b, x, {1, 2, 6}), ones(b, {2, 1, 3})});
      },
      [](Builder& b, Value x) {
        return b.Make<ops::CenterCropPad>({x, b.ConstantInts({5, 1})});
      },
      [&](Builder& b, Value x) {
        return b.Make<ops::AffineGrid>({shaped(b, x, {2, 2, 3}), b.ConstantInts({2, 1, 3, 4})});
      }};
  for (size_t i = 0; i < std::size(makers); ++i) {
    SCOPED_TRACE(i);
    const auto program = ProgramOf(makers[i]);
    const pb::ModelProto model = ExportToProto(*program, {.target_opset = 13});
    for (const pb::NodeProto& node : model.graph().node())
      EXPECT_EQ(IntroducedIn(node.op_type()), kOldestTargetOpset) << node.op_type();
    ExpectReadsBack(*program, model);
  }
}

}  // namespace
}  // namespace weft::onnx
