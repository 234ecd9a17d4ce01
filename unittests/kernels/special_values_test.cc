// NaN, the infinities and -0 in the operands of every op that kernels of our own or XNNPACK's run,
// against the reference kernel. The ops come from the registry and their attributes from their
// definitions, so a new kernel is tested without an edit here; an op that none of the operands below
// fits fails the test, and wants a line more in OperandLists().
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

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

// The case on the kernels of one provider, and of the reference.
Outcome Compare(const OpCase& c, const std::string& provider) {
  Outcome outcome;
  const auto actual = c.Run({provider});
  if (absl::IsUnimplemented(actual.status())) return outcome;
  const auto expected = c.Run({"reference"});
  if (!expected.ok()) return outcome;
  outcome.runs = true;
  if (!actual.ok()) outcome.difference = std::string(actual.status().message());
  for (size_t i = 0; actual.ok() && outcome.difference.empty() && i < actual->size(); ++i)
    outcome.difference = Difference((*actual)[i].view(), (*expected)[i].view());
  return outcome;
}

// Every float operand in turn, with a special value in three places and everywhere.
Outcome CompareSpecials(OpCase& c, const std::string& provider) {
  Outcome outcome;
  for (size_t operand = 0; operand < c.operands.size(); ++operand) {
    if (!c.operands[operand].IsFloat()) continue;
    for (const float value : {kNan, kInf, -kInf, -0.0f}) {
      for (const bool everywhere : {false, true}) {
        c.special = {operand, value, everywhere};
        const Outcome one = Compare(c, provider);
        if (!one.runs) return outcome;
        outcome.runs = true;
        if (one.difference.empty()) continue;
        outcome.difference = c.ToString() + ": " + one.difference;
        return outcome;
      }
    }
  }
  return outcome;
}

// On every instruction set for kernels of our own; XNNPACK chooses its own.
Outcome CompareOnEveryIsa(OpCase& c, const std::string& provider) {
  Outcome outcome;
  const Isa before = CurrentIsa();
  for (const Isa isa : SupportedIsas()) {
    if (provider == "xnnpack" && isa != before) continue;
    SetIsa(isa);
    const Outcome one = CompareSpecials(c, provider);
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
    // Ops with a body have no operands that could be made up: unittests/kernels/native/elementwise_ops_test.cc.
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
  for (const std::string& provider : ProvidersOf(opcode_)) {
    if (!IsOnVectors(provider)) continue;
    const bool known = KernelHas(opcode_, provider, kHidesNan);
    int runs = 0, wrong = 0;
    std::string first;
    for (OpCase& c : cases_) {
      const Outcome outcome = CompareOnEveryIsa(c, provider);
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
