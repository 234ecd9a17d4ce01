// Strings of initializers, of Constants and of inputs, and what the pipelines make of them.
#include <gmock/gmock.h>

#include "unittests/onnx/model_builder.h"
#include "unittests/onnx/run_program.h"

namespace weft::onnx {
namespace {

using kernels::RuntimeValue;
using testing::ElementsAre;
using Attr = pb::AttributeProto;
using Strings = std::vector<std::string>;
constexpr int kStringType = pb::TensorProto::STRING;

void Initializer(ModelBuilder& m, const std::string& name, const Strings& strings) {
  pb::TensorProto* tensor = m.graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(kStringType);
  tensor->add_dims(static_cast<int64_t>(strings.size()));
  for (const std::string& s : strings) tensor->add_string_data(s);
}

// x, the initializer {"-"} and the constants "(" and {")"} joined, under each pipeline.
TEST(StringTensors, ComeFromAllPlaces) {
  ModelBuilder m(20);
  m.Input("x", {2}, kStringType);
  m.Output("y", {2}, kStringType);
  m.Output("shape", {1}, pb::TensorProto::INT64);
  Initializer(m, "dash", {"-"});
  auto* open = m.Node("Constant", {}, {"open"})->add_attribute();
  open->set_name("value_string");
  open->set_type(Attr::STRING);
  open->set_s("(");
  auto* close = m.Node("Constant", {}, {"close"})->add_attribute();
  close->set_name("value_strings");
  close->set_type(Attr::STRINGS);
  close->add_strings(")");
  m.Node("StringConcat", {"open", "dash"}, {"begin"});
  m.Node("StringConcat", {"begin", "x"}, {"middle"});
  m.Node("StringConcat", {"middle", "close"}, {"end"});
  m.Node("Identity", {"end"}, {"y"});
  m.Node("Shape", {"y"}, {"shape"});
  for (const char* pipeline : {"none", "fuse", "layout"}) {
    ir::IrContext context;
    auto program = m.Import(context);
    ASSERT_EQ(program.status().message(), "");
    Optimise(**program, pipeline);
    auto session = kernels::Session::Create(**program, {});
    ASSERT_EQ(session.status().message(), "");
    const RuntimeValue x = RuntimeValue::Of(*kernels::Tensor::OfStrings({2}, {"a", ""}));
    auto results = (*session)->RunValues(std::vector<RuntimeValue>{x});
    ASSERT_EQ(results.status().message(), "");
    EXPECT_THAT((*results)[0].view.values<std::string>(), ElementsAre("(-a)", "(-)")) << pipeline;
    EXPECT_THAT((*results)[1].view.values<int64_t>(), ElementsAre(2)) << pipeline;
  }
}

TEST(StringTensors, MayBeDefaultsOfInputs) {
  ModelBuilder m(20);
  m.Input("x", {1}, kStringType);
  m.Input("w", {1}, kStringType);
  m.Output("y", {1}, kStringType);
  Initializer(m, "w", {"!"});
  m.Node("StringConcat", {"x", "w"}, {"y"});
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  auto session = kernels::Session::Create(**program, {});
  ASSERT_EQ(session.status().message(), "");
  const kernels::Tensor x = *kernels::Tensor::OfStrings({1}, {"x"});
  const kernels::Tensor w = *kernels::Tensor::OfStrings({1}, {"w"});
  const auto by_default = (*session)->Run({x.view()}),
             given = (*session)->Run({x.view(), w.view()});
  ASSERT_EQ(by_default.status().message(), "");
  EXPECT_EQ((*by_default)[0].values<std::string>()[0], "x!");
  ASSERT_EQ(given.status().message(), "");
  EXPECT_EQ((*given)[0].values<std::string>()[0], "xw");
}

}  // namespace
}  // namespace weft::onnx
