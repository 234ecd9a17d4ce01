// NaN, the infinities and -0 in the operands of every op that kernels of our own or XNNPACK's run,
// against the reference kernel. The ops come from the registry and their attributes from their
// definitions, so a new kernel is tested without an edit here; an op that none of the operands below
// fits fails the test, and wants a line more in OperandLists().
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "kernels/isa.h"
#include "kernels/reference/reference.h"
#include "kernels/runtime/registry.h"
#include "unittests/kernels/op_cases.h"

namespace weft::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// What an element is, as far as kernels must agree on it exactly.
std::string_view ClassOf(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  return "a number";
}

// Empty, or what the first element that is wrong should have been.
std::string Difference(const TensorView& actual, const TensorView& expected) {
  const std::vector<double> a = reference::ReadDoubles(actual);
  const std::vector<double> e = reference::ReadDoubles(expected);
  double largest = 1;
  for (const double value : e)
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i < e.size(); ++i) {
    const bool finite = std::isfinite(a[i]) && std::isfinite(e[i]);
    const bool zeros = a[i] == 0 && e[i] == 0;
    const bool same = finite && !zeros ? std::fabs(a[i] - e[i]) <= 1e-5 * largest
                                       : ClassOf(a[i]) == ClassOf(e[i]);
    if (!same)
      return "element " + std::to_string(i) + " is " + std::to_string(a[i]) + " and should be " +
             std::to_string(e[i]);
  }
  return "";
}

struct Outcome {
  bool runs = false;       // the provider has a kernel for the case
  std::string difference;  // empty: as the reference
};

// A case with a special value, and what the reference makes of it: once, as the kernels of every provider and
// instruction set are compared with that.
class SpecialCase {
 public:
  explicit SpecialCase(OpCase c) : case_(std::move(c)) {}

  Outcome Compare(const std::string& provider) {
    Outcome outcome;
    const auto actual = case_.Run({provider});
    if (absl::IsUnimplemented(actual.status())) return outcome;
    if (!expected_) expected_ = case_.Run({"reference"});
    if (!expected_->ok()) return outcome;
    outcome.runs = true;
    if (!actual.ok()) outcome.difference = std::string(actual.status().message());
    for (size_t i = 0; actual.ok() && outcome.difference.empty() && i < actual->size(); ++i)
      outcome.difference = Difference((*actual)[i].view(), (**expected_)[i].view());
    if (!outcome.difference.empty())
      outcome.difference = case_.ToString() + ": " + outcome.difference;
    return outcome;
  }

 private:
  OpCase case_;
  std::optional<absl::StatusOr<std::vector<Tensor>>> expected_;
};

// Every float operand in turn, with a special value in three places and everywhere.
std::vector<SpecialCase> SpecialCasesOf(OpCase c) {
  std::vector<SpecialCase> cases;
  for (size_t operand = 0; operand < c.operands.size(); ++operand) {
    if (!c.operands[operand].IsFloat()) continue;
    for (const float value : {kNan, kInf, -kInf, -0.0f})
      for (const bool everywhere : {false, true}) {
        c.special = {operand, value, everywhere};
        cases.emplace_back(c);
      }
  }
  return cases;
}

// Up to the first that differs, or that does not run.
Outcome CompareAll(std::vector<SpecialCase>& cases, const std::string& provider) {
  Outcome all;
  for (SpecialCase& c : cases) {
    const Outcome one = c.Compare(provider);
    all.runs |= one.runs;
    all.difference = one.difference;
    if (!one.runs || !one.difference.empty()) break;
  }
  return all;
}

// On every instruction set for kernels of our own; XNNPACK chooses its own.
Outcome CompareOnEveryIsa(std::vector<SpecialCase>& cases, const std::string& provider) {
  Outcome outcome;
  const Isa before = CurrentIsa();
  for (const Isa isa : SupportedIsas()) {
    if (provider == "xnnpack" && isa != before) continue;
    SetIsa(isa);
    const Outcome one = CompareAll(cases, provider);
    outcome.runs |= one.runs;
    if (outcome.difference.empty() && !one.difference.empty())
      outcome.difference = std::string(IsaName(isa)) + ", " + one.difference;
  }
  SetIsa(before);
  return outcome;
}

bool IsOnVectors(const std::string& provider) {
  return provider != "reference" && provider != kStringsProvider;
}

std::vector<std::string> OpNames() {
  const auto context = LoadAllDialects();
  std::vector<std::string> names;
  for (const ir::Opcode opcode : OpsWithKernels()) {
    const ir::OpDef* def = context->FindOp(opcode);
    // Ops with a body have no operands that could be made up: unittests/kernels/native/elementwise/elementwise_ops_test.cc.
    if (def == nullptr || def->info->num_regions != 0) continue;
    const std::vector<std::string> providers = ProvidersOf(opcode);
    if (std::none_of(providers.begin(), providers.end(), &IsOnVectors)) continue;
    names.emplace_back(opcode.name());
  }
  return names;
}

class SpecialValues : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    cases_ = CasesOf(opcode_);
    const bool on_floats = std::any_of(cases_.begin(), cases_.end(), [](const OpCase& c) {
      const bool by_index = c.operands[0].dtype == ir::DataType::kI64 && c.operands.size() > 1;
      return c.operands[by_index ? 1 : 0].IsFloat();
    });
    if (!cases_.empty() && !on_floats) GTEST_SKIP() << "8-bit numbers have no special values";
  }

  const ir::Opcode opcode_ = ir::Opcode::FindOrAdd(GetParam());
  std::vector<OpCase> cases_;
};

TEST_P(SpecialValues, ReachTheResultUnlessTheKernelIsKnownToHideThem) {
  std::vector<std::vector<SpecialCase>> specials;
  for (const OpCase& c : cases_) specials.push_back(SpecialCasesOf(c));
  for (const std::string& provider : ProvidersOf(opcode_)) {
    if (!IsOnVectors(provider)) continue;
    const bool known = KernelHas(opcode_, provider, kHidesNan);
    int runs = 0, wrong = 0;
    std::string first;
    for (std::vector<SpecialCase>& of_one : specials) {
      const Outcome outcome = CompareOnEveryIsa(of_one, provider);
      runs += outcome.runs;
      wrong += !outcome.difference.empty();
      if (first.empty()) first = outcome.difference;
    }
    RecordProperty(provider, first);
    EXPECT_GT(runs, 0) << provider << " has a kernel, but no operands in OperandLists() fit it";
    if (known) continue;
    EXPECT_EQ(wrong, 0) << provider << ", " << wrong << " of " << runs << ": " << first;
  }
}

TEST_P(SpecialValues, AreNotLeftToSuchAKernelUnderAuto) {
  const std::vector<std::string> order = *ProviderOrder("auto");
  for (const OpCase& c : cases_) {
    const std::string provider = c.ProviderOf(order);
    EXPECT_FALSE(KernelHas(opcode_, provider, kHidesNan))
        << c.ToString() << " runs on " << provider;
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, SpecialValues, ::testing::ValuesIn(OpNames()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

}  // namespace
}  // namespace weft::kernels
