// Which kernel runs an op: the providers and the order in which they are asked.
//
// Providers: "reference" (plain loops, every op), "xnnpack" (XNNPACK's operators), "native" (our own
// vector kernels). A choice is a list of them:
//   auto       native, xnnpack, reference   (a native kernel is registered where it measured faster)
//   xnnpack    xnnpack, native, reference
//   reference  reference
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel.h"

namespace weft::kernels {

// What users may name: "auto", "xnnpack", "reference".
std::vector<std::string> ProviderChoices();
// Providers in the order they are asked; InvalidArgument for an unknown choice.
absl::StatusOr<std::vector<std::string>> ProviderOrder(std::string_view choice);

struct ChosenKernel {
  std::unique_ptr<Kernel> kernel;
  std::string provider;
};

// Asks the providers in turn. Unsupported, with the reasons, when none runs the op.
absl::StatusOr<ChosenKernel> MakeKernel(const KernelContext& context,
                                        const std::vector<std::string>& providers);

// Providers that have a kernel registered for the op.
std::vector<std::string> ProvidersOf(ir::Opcode opcode);

}  // namespace weft::kernels
