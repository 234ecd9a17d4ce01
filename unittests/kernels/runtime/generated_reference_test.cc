// kernels/README.md says which kernels run an op.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "ir/analysis/reference_body.h"
#include "ir/context.h"
#include "ir/dialects/ascend.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/litert.h"
#include "ir/dialects/microsoft.h"
#include "kernels/runtime/registry.h"
#include "unittests/fixtures/generated_text.h"

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

std::string KernelTable() {
  ir::IrContext context;
  ir::LoadFusedDialect(context);
  ir::LoadAscendDialect(context);
  ir::LoadLitertDialect(context);
  ir::LoadMicrosoftDialect(context);
  std::map<std::string, std::map<std::string, std::string>> links;  // by op and provider
  for (const RegisteredKernel& kernel : RegisteredKernels())
    links[kernel.op][kernel.provider] = SourceLink(kernel);
  std::string table = "| op | native | xnnpack | reference |\n|---|---|---|---|\n";
  for (const ir::OpDef* op : context.Ops()) {
    auto& of_op = links[std::string(op->name())];
    if (of_op["reference"].empty()) of_op["reference"] = ReferenceOf(*op);
    const std::string cells =
        fmt::format("{} | {} | {}", of_op["native"], of_op["xnnpack"], of_op["reference"]);
    if (cells != " |  | ") table += fmt::format("| {} | {} |\n", op->name(), cells);
  }
  return table;
}

TEST(GeneratedReference, ListsTheKernelsOfEveryOp) {
  EXPECT_TRUE(fixtures::HoldsGenerated(WEFT_TEST_DATA_DIR "/../kernels/README.md", "kernels",
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
