#include "weft/picture/lineage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/dialects/onnx.h"
#include "weft/io/model_io.h"

namespace weft::picture {
namespace {

using ir::Operation;
using testing::ElementsAre;
using testing::IsEmpty;

class NamedPass : public passes::Pass {
 public:
  using Pass::Pass;
  absl::Status Run(ir::Program&) override { return absl::OkStatus(); }
};

// y = abs(relu(transpose(x))), and an exp that nobody reads.
constexpr const char* kModel =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "onnx.Transpose" (%0) {perm:array[1,0]} : (tensor<2x3xf32>) -> tensor<3x2xf32> loc("t")
 (%2) = "onnx.Relu" (%1) {} : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("r")
 (%3) = "onnx.Abs" (%2) {} : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("a")
 (%4) = "onnx.Exp" (%2) {} : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("e")
 () = "builtin.return" (%3) {} : (tensor<3x2xf32>) ->
}
)";

class PictureLineage : public testing::Test {
 protected:
  void SetUp() override {
    auto program = LoadModelText(context_, kModel);
    ASSERT_TRUE(program.ok()) << program.status();
    program_ = *std::move(program);
    before_ = program_->Clone();
    recorder_.emplace(*program_);
    trace_.emplace(passes::RewriteTraceOptions{
        .on_rewrite = [this](const passes::TracedRewrite& it) { recorder_->Record(it); }});
  }

  Operation Op(std::string_view name) {
    for (const Operation op : program_->body())
      if (op.name() == name) return op;
    return {};
  }
  // One pass, which reports what it does by itself.
  template <class Body>
  void RunPass(const std::string& name, const Body& body) {
    NamedPass pass(name);
    const auto hook = recorder_->hook();
    hook(pass, false, false, *program_);
    trace_->BeginPass(name, *program_);
    passes::TracedRewriter rewriter(*program_, &*trace_);
    body(rewriter);
    trace_->EndPass(true, *program_);
    hook(pass, true, true, *program_);
  }
  void Finish() {
    before_graph_ = MakeGraph(*before_);
    after_graph_ = MakeGraph(*program_);
    lineage_ = recorder_->Finish(before_graph_, after_graph_);
  }
  static uint32_t NodeCalled(const Graph& graph, const std::string& title) {
    for (uint32_t i = 0; i < graph.nodes.size(); ++i)
      if (graph.nodes[i].title == title) return i;
    ADD_FAILURE() << title;
    return 0;
  }
  const NodeLineage& Before(const std::string& title) {
    return lineage_.before[NodeCalled(before_graph_, title)];
  }
  const NodeLineage& After(const std::string& title) {
    return lineage_.after[NodeCalled(after_graph_, title)];
  }

  ir::IrContext context_;
  std::unique_ptr<ir::Program> program_, before_;
  std::optional<RewriteRecorder> recorder_;
  std::optional<passes::RewriteTrace> trace_;
  Graph before_graph_, after_graph_;
  Lineage lineage_;
};

TEST_F(PictureLineage, OfARewriteGoesByNamesOfOperators) {
  RunPass("move", [&](passes::TracedRewriter& rewriter) {
    const Operation relu = Op("onnx.Relu"), transpose = Op("onnx.Transpose");
    rewriter.Begin("sink", relu);
    rewriter.SetInsertionPoint(relu);
    const ir::Value inner = rewriter.Make<ir::ops::Relu>({transpose.operand(0)});
    const ir::Value outer = rewriter.Make<ir::ops::Transpose>({inner}, {.perm = {{1, 0}}});
    rewriter.Replace(relu, {outer});
    rewriter.Erase(transpose);
    rewriter.Commit();
  });
  Finish();
  EXPECT_THAT(After("Relu").relatives, ElementsAre(NodeCalled(before_graph_, "Relu")));
  EXPECT_THAT(After("Transpose").relatives, ElementsAre(NodeCalled(before_graph_, "Transpose")));
  EXPECT_THAT(After("Relu").steps, ElementsAre(1));
  EXPECT_EQ(Before("Relu").gone_by, 1u);
  EXPECT_EQ(Before("Abs").label, -1);  // as it was
  EXPECT_EQ(After("Abs").label, -1);
  ASSERT_EQ(lineage_.steps.size(), 1u);
  EXPECT_EQ(lineage_.steps[0].operations_removed, 2u);
  EXPECT_EQ(lineage_.steps[0].before.size(), 2u);
  EXPECT_EQ(lineage_.steps[0].after.size(), 2u);
}

TEST_F(PictureLineage, GoesThroughWhatCameAndWentAgain) {
  RunPass("first", [&](passes::TracedRewriter& rewriter) {
    const Operation relu = Op("onnx.Relu"), transpose = Op("onnx.Transpose");
    rewriter.Begin("fuse", relu);
    rewriter.SetInsertionPoint(relu);
    rewriter.Replace(relu, {rewriter.Make<ir::ops::Neg>({transpose.operand(0)})});
    rewriter.Erase(transpose);
    rewriter.Commit();
    // In the place of the one that was made, perhaps in the same slot.
    const Operation neg = Op("onnx.Neg");
    rewriter.Begin("again", neg);
    rewriter.SetInsertionPoint(neg);
    rewriter.Replace(neg, {rewriter.Make<ir::ops::Sqrt>({neg.operand(0)})});
    rewriter.Commit();
  });
  Finish();
  EXPECT_THAT(After("Sqrt").relatives, ElementsAre(NodeCalled(before_graph_, "Transpose"),
                                                   NodeCalled(before_graph_, "Relu")));
  EXPECT_THAT(After("Sqrt").steps, ElementsAre(1, 2));
  EXPECT_EQ(lineage_.labels[After("Sqrt").label],
            "first");  // no rules of the pass: it is the label
  EXPECT_EQ(Before("Relu").label, After("Sqrt").label);
}

TEST_F(PictureLineage, OfAMergedOperationLeadsToTheOneThatStays) {
  RunPass("share", [&](passes::TracedRewriter& rewriter) {
    const Operation abs = Op("onnx.Abs"), exp = Op("onnx.Exp");
    rewriter.Begin("merge", abs);
    rewriter.Replace(abs, {exp.result()});
    rewriter.Commit();
    // What stays goes on to become something else.
    rewriter.Begin("again", exp);
    rewriter.SetInsertionPoint(exp);
    rewriter.Replace(exp, {rewriter.Make<ir::ops::Sqrt>({exp.operand(0)})});
    rewriter.Commit();
  });
  Finish();
  EXPECT_THAT(Before("Abs").relatives, ElementsAre(NodeCalled(after_graph_, "Sqrt")));
  EXPECT_THAT(Before("Exp").relatives, ElementsAre(NodeCalled(after_graph_, "Sqrt")));
  EXPECT_THAT(After("Sqrt").relatives,
              ElementsAre(NodeCalled(before_graph_, "Abs"), NodeCalled(before_graph_, "Exp")));
  EXPECT_EQ(Before("Abs").gone_by, 1u);
}

TEST_F(PictureLineage, KnowsWhatPassesEraseUnreported) {
  RunPass("sweep", [&](passes::TracedRewriter& rewriter) {
    rewriter.Begin("merge", Op("onnx.Abs"));  // which comes to nothing
    const Operation exp = Op("onnx.Exp");
    ir::Rewriter(program_.get()).Erase(exp);
  });
  Finish();
  EXPECT_EQ(lineage_.labels.at(static_cast<size_t>(Before("Exp").label)), "sweep");
  EXPECT_THAT(Before("Exp").relatives, IsEmpty());
}

TEST_F(PictureLineage, OfAWholePassGoesByPlaces) {
  NamedPass pass("convert");
  const auto hook = recorder_->hook();
  hook(pass, false, false, *program_);
  trace_->BeginPass("convert", *program_);
  {
    ir::Rewriter rewriter(program_.get());
    const Operation relu = Op("onnx.Relu"), abs = Op("onnx.Abs");
    for (const Operation op : {relu, abs}) {
      rewriter.SetInsertionPoint(op);
      const ir::Value made = rewriter.Make<ir::ops::Neg>({op.operand(0)});
      program_->SetLocation(made.DefiningOp(), op.location());
      rewriter.Replace(op, {made});
    }
  }
  trace_->EndPass(true, *program_);
  hook(pass, true, true, *program_);
  Finish();
  const uint32_t relu = NodeCalled(before_graph_, "Relu"), abs = NodeCalled(before_graph_, "Abs");
  ASSERT_EQ(lineage_.before[relu].relatives.size(), 1u);
  ASSERT_EQ(lineage_.before[abs].relatives.size(), 1u);
  EXPECT_EQ(after_graph_.nodes[lineage_.before[relu].relatives[0]].place, "r");
  EXPECT_EQ(after_graph_.nodes[lineage_.before[abs].relatives[0]].place, "a");
}

}  // namespace
}  // namespace weft::picture
