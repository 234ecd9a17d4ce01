// The Scan of opset 8, which scans for each entry of a batch.
#include <gmock/gmock.h>

#include <algorithm>

#include "unittests/onnx/model_builder.h"
#include "unittests/onnx/run_program.h"

namespace weft::onnx {
namespace {

using Attr = pb::AttributeProto;

// The sums of a batch of two sequences of three numbers, in opset 8.
std::vector<std::vector<float>> BatchedSums(const std::vector<int64_t>& lengths,
                                            int64_t direction) {
  ModelBuilder m(8);
  m.Input("n", {2}, pb::TensorProto::INT64);
  m.Input("first", {2});
  m.Input("x", {2, 3});
  m.Output("last", {2});
  m.Output("sums", {2, 3});
  auto* node = m.Node("Scan", {lengths.empty() ? "" : "n", "first", "x"}, {"last", "sums"});
  AddAttribute(node, "num_scan_inputs", Attr::INT)->set_i(1);
  AddAttribute(node, "directions", Attr::INTS)->add_ints(direction);
  auto* body = AddAttribute(node, "body", Attr::GRAPH)->mutable_g();
  ModelBuilder::SetInfo(body->add_input(), "sum", {});
  ModelBuilder::SetInfo(body->add_input(), "next", {});
  ModelBuilder::AddNode(body->mutable_node(), "Add", {"sum", "next"}, {"more"});
  ModelBuilder::AddNode(body->mutable_node(), "Identity", {"more"}, {"out"});
  ModelBuilder::SetInfo(body->add_output(), "more", {});
  ModelBuilder::SetInfo(body->add_output(), "out", {});
  ir::IrContext context;
  auto program = m.Import(context);
  EXPECT_EQ(program.status().message(), "");
  if (!program.ok()) return {};
  auto session = kernels::Session::Create(**program, {.provider = "reference"});
  EXPECT_EQ(session.status().message(), "");
  if (!session.ok()) return {};
  const std::vector<int64_t> given = lengths.empty() ? std::vector<int64_t>{3, 3} : lengths;
  kernels::Tensor n = *kernels::Tensor::Create(ir::DataType::kI64, {2});
  std::copy(given.begin(), given.end(), n.values<int64_t>().begin());
  const kernels::Tensor first = F32({2}, {100, 200}), x = F32({2, 3}, {1, 2, 4, 8, 16, 32});
  const std::vector<kernels::TensorView> views = {n.view(), first.view(), x.view()};
  auto results = (*session)->Run(views);
  EXPECT_EQ(results.status().message(), "");
  std::vector<std::vector<float>> values;
  for (const auto& result : *results) {
    const auto floats = result.values<float>();
    values.emplace_back(floats.begin(), floats.end());
  }
  EXPECT_EQ(onnx::TargetOpset(**program), lengths.empty() ? kOldestTargetOpset : 18)
      << "Pad with axes";
  return values;
}

TEST(BatchedScan, RunsForEachEntryOfTheBatch) {
  using Values = std::vector<std::vector<float>>;
  EXPECT_EQ(BatchedSums({}, 0), (Values{{107, 256}, {101, 103, 107, 208, 224, 256}}));
  EXPECT_EQ(BatchedSums({}, 1), (Values{{107, 256}, {104, 106, 107, 232, 248, 256}}));
  EXPECT_EQ(BatchedSums({2, 3}, 0), (Values{{103, 256}, {101, 103, 0, 208, 224, 256}}));
  EXPECT_EQ(BatchedSums({1, 2}, 1), (Values{{101, 224}, {101, 0, 0, 216, 224, 0}}));
}

TEST(BatchedScan, IsRefusedWithWhatDoesNotFit) {
  const auto refusal = [](const std::vector<std::string>& inputs, int64_t count) {
    ModelBuilder m(8);
    m.Input("n", {2}, pb::TensorProto::INT64);
    m.Input("x", {2});
    m.Output("y", {2});
    auto* node = m.Node("Scan", inputs, {"y"});
    AddAttribute(node, "num_scan_inputs", Attr::INT)->set_i(count);
    auto* body = AddAttribute(node, "body", Attr::GRAPH)->mutable_g();
    ModelBuilder::SetInfo(body->add_input(), "a", {});
    ModelBuilder::AddNode(body->mutable_node(), "Neg", {"a"}, {"b"});
    ModelBuilder::SetInfo(body->add_output(), "b", {});
    ir::IrContext context;
    return std::string(m.Import(context).status().message());
  };
  const std::string node = "node of 'y' ('Scan'): ";
  EXPECT_EQ(refusal({"", "x"}, 1), node + "operand 1 has rank 1, expected at least 2");
  EXPECT_EQ(refusal({"x", "x"}, 1), node + "sequence_lens must be i64 numbers");
  EXPECT_EQ(refusal({"n", "", "x"}, 1), node + "operand 1 is required but not given");
  EXPECT_EQ(refusal({"", "x"}, 2),
            node + "num_scan_inputs is 2 but there are 1 states and scan inputs");
}

TEST(BatchedScan, MayNameNothingThatIsNot) {
  ModelBuilder m(8);
  m.Input("x", {2, 3});
  m.Output("y", {2, 3});
  auto* node = m.Node("Scan", {"", "x"}, {"y"});
  AddAttribute(node, "num_scan_inputs", Attr::INT)->set_i(1);
  auto* body = AddAttribute(node, "body", Attr::GRAPH)->mutable_g();
  ModelBuilder::SetInfo(body->add_input(), "a", {});
  ModelBuilder::AddNode(body->mutable_node(), "Neg", {"nowhere"}, {"b"});
  ModelBuilder::SetInfo(body->add_output(), "b", {});
  ir::IrContext context;
  EXPECT_EQ(m.Import(context).status().message(),
            "node of 'y' ('Scan'): node of 'b' ('Neg'): 'nowhere' is not defined");
}

// Each becomes two scans.
TEST(BatchedScan, IsNotNestedTooDeep) {
  const auto import = [](int depth) {
    ModelBuilder m(8);
    m.Input("x", {1, 1});
    m.Output("y");
    auto* graph = m.graph();
    for (int i = 0; i < depth; ++i) {
      const std::string x = i == 0 ? "x" : "x" + std::to_string(i);
      auto* node = ModelBuilder::AddNode(graph->mutable_node(), "Scan", {"", x}, {"y"});
      AddAttribute(node, "num_scan_inputs", Attr::INT)->set_i(1);
      graph = AddAttribute(node, "body", Attr::GRAPH)->mutable_g();
      graph->add_input()->set_name("x" + std::to_string(i + 1));
      graph->add_output()->set_name("y");
    }
    const std::string x = "x" + std::to_string(depth);
    ModelBuilder::AddNode(graph->mutable_node(), "Neg", {x}, {"y"});
    ir::IrContext context;
    return std::string(m.Import(context).status().message());
  };
  EXPECT_EQ(import(8), "");
  EXPECT_THAT(import(40), ::testing::HasSubstr("graphs are nested deeper than 64"));
}

}  // namespace
}  // namespace weft::onnx
