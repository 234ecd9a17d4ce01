#include "tools/testing/numeric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "ir/dialects/builtin.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "kernels/compare.h"
#include "kernels/evaluator.h"
#include "kernels/random_inputs.h"
#include "kernels/session.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"
#include "passes/pattern_rewrite_pass.h"
#include "passes/rule_registry.h"
#include "passes/transformation.h"
#include "tools/testing/golden.h"

namespace weft::fixtures {
namespace {

using kernels::Session;
using kernels::Tensor;
using kernels::TensorView;
using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;

AssertionResult Fail(const absl::Status& status) {
  return AssertionFailure() << std::string(ir::Message(status));
}

std::vector<TensorView> Views(const std::vector<Tensor>& tensors) {
  std::vector<TensorView> views;
  views.reserve(tensors.size());
  for (const Tensor& tensor : tensors) views.push_back(tensor.view());
  return views;
}

bool SameBits(const TensorView& a, const TensorView& b) {
  return a.dtype == b.dtype && std::ranges::equal(a.dims, b.dims) &&
         std::memcmp(a.data, b.data, a.NumBytes()) == 0;
}

// Whether a comparison with this output could fail at all.
bool TestsSomething(const TensorView& output) {
  if (output.NumElements() == 0) return true;
  Tensor zeros(output.dtype, ir::Shape(output.dims.begin(), output.dims.end()));
  const double largest = kernels::RelativeDifference(output, zeros.view());  // over 1
  return std::isfinite(largest) && largest > 0;
}

absl::StatusOr<std::vector<Tensor>> RunOnce(ir::Program& program, const std::string& provider,
                                            const std::vector<Tensor>& inputs) {
  WEFT_ASSIGN_OR_RETURN(auto session, Session::Create(program, {.provider = provider}));
  return session->Run(Views(inputs));
}

AssertionResult Compare(const std::vector<Tensor>& expected, const std::vector<Tensor>& actual,
                        double tolerance) {
  if (expected.size() != actual.size())
    return AssertionFailure() << actual.size() << " outputs, expected " << expected.size();
  for (size_t i = 0; i < expected.size(); ++i) {
    const TensorView want = expected[i].view(), got = actual[i].view();
    const double difference = kernels::RelativeDifference(got, want);
    if (tolerance == 0 ? !SameBits(got, want) : !(difference <= tolerance))
      return AssertionFailure() << fmt::format(
                 "output {} differs by {:.3g} of its largest element, allowed are {:.3g}", i,
                 difference, tolerance);
  }
  return AssertionSuccess();
}

// The product length of a matrix product, the window of a convolution, the axis of a mean: the
// number of operand elements that go into one result element, estimated from the sizes alone.
double ReductionLength(ir::Operation op) {
  constexpr double kUnknown = 4;
  auto size = [](ir::Value v) {
    double n = 1;
    if (!v || !v.type().HasRank()) return n;
    for (const int64_t dim : v.type().dims())
      n *= dim < 0 ? kUnknown : std::max<double>(1, static_cast<double>(dim));
    return n;
  };
  if (op.num_results() == 0 || op.num_operands() == 0) return 1;
  const double result = size(op.result());
  double length = size(op.operand(0)) / result;
  if (op.num_operands() > 1)
    length = std::max(length, std::sqrt(size(op.operand(0)) * size(op.operand(1)) / result));
  if (op.HasTrait(ir::kElementwise)) length = 1;
  return std::max(1.0, length);
}

double UnitOfFloat(ir::DataType dtype) {
  switch (dtype) {
    case ir::DataType::kF16:
      return 0x1p-10;
    case ir::DataType::kBF16:
      return 0x1p-7;
    case ir::DataType::kF64:
      return 0x1p-52;
    default:
      return 0x1p-23;
  }
}

AssertionResult RunAndCompare(ir::Program& program, passes::PassManager& pm,
                              const NumericOptions& options) {
  const std::unique_ptr<ir::Program> after = program.Clone();
  auto evaluator = kernels::KernelEvaluator::Create("reference");
  if (!evaluator.ok()) return Fail(evaluator.status());
  pm.pass_context().evaluator = evaluator->get();
  if (absl::Status s = pm.Run(*after); !s.ok()) return Fail(s);
  return SameNumbers(program, *after, options);
}

// What a rule's numeric class allows; nothing is said of those that only round differently.
std::optional<double> ToleranceOf(drr::NumericClass numerics) {
  constexpr double kApproximation = 1e-3;
  if (numerics == drr::NumericClass::kExact) return 0;
  if (numerics == drr::NumericClass::kApproximate) return kApproximation;
  return std::nullopt;
}

drr::NumericClass NumericsOf(const std::string& pass) {
  for (const passes::Transformation& it : passes::Transformations())
    if (it.IsPass() && it.name == pass) return it.numerics;
  return drr::NumericClass::kReassociates;  // the run decides which rules it has
}

absl::Status RunsOnReference(ir::Program& program) {
  WEFT_ASSIGN_OR_RETURN(const auto inputs, SmallRandomInputs(program, 1));
  return RunOnce(program, "reference", inputs).status();
}

}  // namespace

AssertionResult SameNumbers(ir::Program& before, ir::Program& after,
                            const NumericOptions& options) {
  const double tolerance = options.tolerance.value_or(RoundingTolerance(before));
  std::vector<bool> tests_something;
  for (int seed = 1; seed <= options.seeds; ++seed) {
    auto inputs = SmallRandomInputs(before, static_cast<uint64_t>(seed));
    if (!inputs.ok()) return Fail(inputs.status());
    for (const std::string& provider : options.providers) {
      auto expected = RunOnce(before, provider, *inputs);
      if (!expected.ok()) return Fail(ir::Annotate(expected.status(), "before, " + provider));
      auto actual = RunOnce(after, provider, *inputs);
      if (!actual.ok()) return Fail(ir::Annotate(actual.status(), "after, " + provider));
      if (AssertionResult same = Compare(*expected, *actual, tolerance); !same)
        return same << fmt::format(" (seed {}, {} kernels)", seed, provider);
      tests_something.resize(expected->size());
      for (size_t i = 0; i < expected->size(); ++i)
        if (TestsSomething((*expected)[i].view())) tests_something[i] = true;
    }
  }
  for (size_t i = 0; i < tests_something.size(); ++i)
    if (!tests_something[i])
      return AssertionFailure() << "output " << i
                                << " is all zeros or not finite: these inputs test nothing";
  return AssertionSuccess();
}

AssertionResult RuleKeepsNumbers(ir::Program& program, drr::BuildResult rule,
                                 NumericOptions options) {
  if (!rule.ok()) return AssertionFailure() << rule.errors[0];
  if (!options.tolerance) options.tolerance = ToleranceOf(rule.rule->numerics);
  const std::string name = rule.rule->name;
  drr::RewritePatternSet set(program.context());
  set.Add(std::move(rule));
  passes::PassManager pm(program.context());
  pm.AddPass(std::make_unique<passes::PatternRewritePass>(
      "rule", drr::FrozenRewritePatternSet(std::move(set))));
  if (AssertionResult same = RunAndCompare(program, pm, options); !same) return same;
  if (!pm.reports()[0].changed) return AssertionFailure() << "rule " << name << " did not fire";
  return AssertionSuccess();
}

AssertionResult RuleKeepsNumbers(ir::Program& program, const std::string& rule,
                                 NumericOptions options) {
  const passes::RegisteredRule* registered = passes::FindRule(rule);
  if (!registered) return AssertionFailure() << "no rule " << rule;
  return RuleKeepsNumbers(program, registered->build(program.context()), std::move(options));
}

AssertionResult PipelineKeepsNumbers(ir::Program& program, const std::string& pipeline,
                                     const NumericOptions& options) {
  const passes::Pipeline* found = passes::FindPipeline(pipeline);
  if (!found) return AssertionFailure() << "no pipeline " << pipeline;
  passes::PassManager pm(program.context());
  for (const std::string& pass : found->passes) pm.AddPass(passes::MakePass(pass));
  return RunAndCompare(program, pm, options);
}

AssertionResult GoldenKeepsNumbers(const std::string& path, const GoldenOptions& golden) {
  auto file = ReadGoldenFile(path);
  if (!file.ok()) return Fail(file.status());
  if (file->near_miss || !file->numeric.empty()) return AssertionSuccess();
  ir::IrContext context;
  auto program = ParseGoldenProgram(*file, context, golden);
  if (!program.ok()) return Fail(program.status());
  if (absl::Status s = FillElidedConstants(**program, 1); !s.ok()) return Fail(s);
  if (absl::Status s = RunsOnReference(**program); !s.ok())
    return Fail(s) << "; `// NUMERIC: off, because` says why numbers are compared elsewhere or not";
  NumericOptions options{.seeds = 5};
  auto rules = BuildGoldenRules(*file, context);
  if (!rules.ok()) return Fail(rules.status());
  drr::NumericClass loosest = drr::NumericClass::kExact;
  for (const auto& rule : *rules) loosest = std::max(loosest, rule->numerics);
  for (const std::string& name : file->passes) loosest = std::max(loosest, NumericsOf(name));
  options.tolerance = ToleranceOf(loosest);
  constexpr uint64_t kOrders = 4;  // of the worklist; 0 is the usual one
  for (uint64_t seed = 0; seed < kOrders; ++seed) {
    const std::unique_ptr<ir::Program> after = (*program)->Clone();
    if (absl::Status s = RunGoldenPasses(*file, *after, nullptr, seed); !s.ok()) return Fail(s);
    if (AssertionResult same = SameNumbers(**program, *after, options); !same)
      return same << " (worklist order " << seed << ")";
  }
  return AssertionSuccess();
}

double RoundingTolerance(ir::Program& program) {
  constexpr double kUnits = 4;
  double lengths = 0, unit = 0;
  ir::Walk(program, [&](ir::Operation op) {
    lengths += ReductionLength(op);
    for (ir::Value v : op.results())
      if (v.type().IsTensor() && ir::IsFloat(v.type().dtype()))
        unit = std::max(unit, UnitOfFloat(v.type().dtype()));
  });
  return unit * (kUnits + 2 * std::sqrt(lengths));  // 0, every bit, without floats
}

absl::StatusOr<std::vector<Tensor>> SmallRandomInputs(ir::Program& program, uint64_t seed) {
  constexpr int64_t kFirstSize = 3, kUnknownSize = 2;
  std::map<int64_t, int64_t> symbols;
  std::vector<Tensor> inputs;
  for (ir::Value argument : program.body().arguments()) {
    if (!argument.type().HasRank())
      return ir::InvalidArgument("an input has type " + argument.type().ToString());
    ir::Shape dims = argument.type().shape();
    for (int64_t& dim : dims) {
      if (ir::IsSymbolicDim(dim)) {
        const auto next = kFirstSize + static_cast<int64_t>(symbols.size());
        dim = symbols.emplace(dim, next).first->second;
      } else if (dim == ir::kUnknownDim) {
        dim = kUnknownSize;
      }
    }
    WEFT_ASSIGN_OR_RETURN(
        Tensor tensor,
        kernels::RandomTensor(argument.type().dtype(), std::move(dims), seed, inputs.size()));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

absl::Status FillElidedConstants(ir::Program& program, uint64_t seed) {
  uint64_t stream = 1000;  // beyond those of inputs
  auto filled = [&](ir::Attribute elided) -> absl::StatusOr<ir::Attribute> {
    const ir::Type type = elided.dense_type();
    WEFT_ASSIGN_OR_RETURN(const Tensor tensor,
                          kernels::RandomTensor(type.dtype(), type.shape(), seed, stream++));
    if (elided.storage()->text == "positive" && type.dtype() == ir::DataType::kF32)
      for (float& value : tensor.values<float>()) value = 1 + value / 2;
    const TensorView view = tensor.view();
    return program.context()->DenseAttr(type, {view.data, view.NumBytes()});
  };
  for (const std::string& name : program.ParameterNames()) {
    if (!program.parameter(name).IsElided()) continue;
    WEFT_ASSIGN_OR_RETURN(const ir::Attribute contents, filled(program.parameter(name)));
    program.SetParameter(name, contents);
  }
  std::vector<ir::Operation> elided;
  ir::Walk(program, [&](ir::Operation op) {
    const ir::Attribute value = op.Is<ir::ConstantOp>() ? op.attr("value") : ir::Attribute();
    if (value.Is(ir::AttrKind::kDense) && value.IsElided()) elided.push_back(op);
  });
  ir::Rewriter rewriter(&program);
  for (ir::Operation op : elided) {
    WEFT_ASSIGN_OR_RETURN(const ir::Attribute contents, filled(op.attr("value")));
    rewriter.SetAttr(op, "value", contents);
  }
  return absl::OkStatus();
}

}  // namespace weft::fixtures
