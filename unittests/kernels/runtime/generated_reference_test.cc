// kernels/README.md says which kernels run an op, on which element types.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "ir/analysis/reference_body.h"
#include "ir/context.h"
#include "kernels/runtime/registry.h"
#include "unittests/fixtures/generated_text.h"
#include "unittests/kernels/op_cases.h"
#include "unittests/test_paths.h"

namespace weft::kernels {
namespace {

// "[matmul.cc](xnnpack/matmul.cc)", seen from kernels/.
std::string SourceLink(const RegisteredKernel& kernel) {
  const std::string& file = kernel.file;
  const bool hides_nan = KernelHas(ir::Opcode::FindOrAdd(kernel.op), kernel.provider, kHidesNan);
  return fmt::format("[{}]({}){}", file.substr(file.rfind('/') + 1),
                     file.substr(file.find('/') + 1), hides_nan ? " \\*" : "");
}

// What stands in for a kernel of the reference provider.
std::string ReferenceOf(const ir::OpDef& op) {
  if (op.decompose) return "reference body";
  return op.Has(ir::kBodyInRegion) ? "its region" : "";
}

using ir::DataType;

// --- element types --------------------------------------------------------------------

// Types in the order they are listed; those of one group have a name when all of them are meant.
struct TypeGroup {
  std::string_view name;
  std::vector<DataType> types;
};
const std::vector<TypeGroup>& TypeGroups() {
  static const std::vector<TypeGroup> groups = {
      {"floats", {DataType::kF32, DataType::kF64, DataType::kF16, DataType::kBF16}},
      {"ints",
       {DataType::kI8, DataType::kU8, DataType::kI16, DataType::kU16, DataType::kI32,
        DataType::kU32, DataType::kI64, DataType::kU64}},
      {"bool", {DataType::kBool}},
      {"low precision",
       {DataType::kF8E4M3FN, DataType::kF8E4M3FNUZ, DataType::kF8E5M2, DataType::kF8E5M2FNUZ,
        DataType::kF8E8M0, DataType::kF4E2M1, DataType::kI4, DataType::kU4, DataType::kI2,
        DataType::kU2}},
  };
  return groups;
}

// The case on operands of another type: those that are of the type of operand 0, whose contents say
// no sizes.
OpCase WithType(OpCase c, DataType type) {
  if (c.operands.empty()) return c;
  const DataType from = c.operands[0].dtype;
  for (OperandSpec& operand : c.operands)
    if (operand.dtype == from && operand.contents.empty()) operand.dtype = type;
  return c;
}

// Those types on which the provider's kernel runs one of the cases.
std::string TypesOf(const std::vector<OpCase>& cases, const std::string& provider) {
  std::string text;
  for (const TypeGroup& group : TypeGroups()) {
    std::string some;
    size_t count = 0;
    for (const DataType type : group.types) {
      const bool runs = std::any_of(cases.begin(), cases.end(), [&](const OpCase& c) {
        const OpCase typed = WithType(c, type);
        return typed.Fits() && typed.RunsOn(provider);
      });
      if (!runs) continue;
      ++count;
      some += (some.empty() ? "" : " ") + std::string(ir::DataTypeName(type));
    }
    if (count == 0) continue;
    const bool all = count == group.types.size() && count > 1;
    text += (text.empty() ? "" : ", ") + (all ? std::string(group.name) : some);
  }
  return text;
}

// As many as make the table in seconds.
std::vector<OpCase> SomeCasesOf(ir::Opcode opcode) {
  constexpr size_t kCases = 40;
  const ir::OpDef* def = LoadAllDialects()->FindOp(opcode);
  if (def == nullptr || def->info->num_regions != 0) return {};
  std::vector<OpCase> cases = CasesOf(opcode), some;
  const size_t step = cases.size() / kCases + 1;
  for (size_t i = 0; i < cases.size(); i += step) some.push_back(std::move(cases[i]));
  return some;
}

// --- the table ------------------------------------------------------------------------

std::string KernelTable() {
  const std::shared_ptr<ir::IrContext> loaded = LoadAllDialects();
  ir::IrContext& context = *loaded;
  std::map<std::string, std::map<std::string, std::string>> links;  // by op and provider
  for (const RegisteredKernel& kernel : RegisteredKernels()) {
    if (kernel.provider == kStringsProvider) {
      links[kernel.op][kernel.provider] = SourceLink(kernel) + ": str";
      continue;
    }
    const std::string types =
        TypesOf(SomeCasesOf(ir::Opcode::FindOrAdd(kernel.op)), kernel.provider);
    links[kernel.op][kernel.provider] = SourceLink(kernel) + (types.empty() ? "" : ": " + types);
  }
  std::string table = "| op | native | xnnpack | reference |\n|---|---|---|---|\n";
  for (const ir::OpDef* op : context.Ops()) {
    auto& of_op = links[std::string(op->name())];
    if (of_op["reference"].empty()) of_op["reference"] = ReferenceOf(*op);
    if (const std::string& strings = of_op[std::string(kStringsProvider)]; !strings.empty())
      of_op["reference"] += (of_op["reference"].empty() ? "" : "; ") + strings;
    if (const std::string& squares = of_op["winograd"]; !squares.empty())
      of_op["native"] += "; winograd " + squares;
    const std::string cells =
        fmt::format("{} | {} | {}", of_op["native"], of_op["xnnpack"], of_op["reference"]);
    if (cells != " |  | ") table += fmt::format("| {} | {} |\n", op->name(), cells);
  }
  return table;
}

TEST(GeneratedReference, ListsTheKernelsOfEveryOp) {
  EXPECT_TRUE(fixtures::HoldsGenerated(fixtures::TestData("/../kernels/README.md"), "kernels",
                                       KernelTable()));
}

TEST(RegisteredKernels, LeadToTheirSource) {
  const std::vector<RegisteredKernel> kernels = RegisteredKernels();
  const auto softmax = std::find_if(kernels.begin(), kernels.end(), [](const auto& kernel) {
    return kernel.op == "onnx.Softmax" && kernel.provider == "native";
  });
  ASSERT_TRUE(softmax != kernels.end());
  EXPECT_EQ(softmax->file, "kernels/native/normalization.cc");
}

}  // namespace
}  // namespace weft::kernels
