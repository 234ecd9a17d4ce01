// Which kernel runs an op: the providers and the order in which they are asked.
//
// Providers: "reference" (plain loops, every op), "xnnpack" (XNNPACK's operators), "native" (our own
// vector kernels), "winograd" (ours for 3 x 3 convolutions, with sums in another order). A choice is a
// list of them:
//   auto       winograd, native, xnnpack, reference   (ours are registered where they measured faster)
//   native     native, xnnpack, reference
//   xnnpack    xnnpack, native, reference
//   reference  reference
// Besides those, "strings" has what runs on tensors of strings, for all of them.
//
// NaN in an operand reaches the result as in ONNX Runtime under auto and reference: a kernel that is
// registered with kHidesNan is asked only by a choice that names its provider, the first of the
// order. xnnpack is a choice for speed: what XNNPACK has runs there, and it may lose a NaN.
//
// Where ONNX Runtime's own answer depends on the order in which it reads, ours does not: reductions
// keep a NaN; a max pool skips it, and gives NaN for a window that holds nothing else.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/isa.h"
#include "kernels/kernel.h"
#include "kernels/kernel_choices.h"

namespace weft::kernels {

// What users may name: "auto", "native", "xnnpack", "reference".
std::vector<std::string> ProviderChoices();
// Providers in the order they are asked; InvalidArgument for an unknown choice.
absl::StatusOr<std::vector<std::string>> ProviderOrder(std::string_view choice);
// Whether programs in f16 and bf16 are computed in f32 (ir/analysis/widen_floats.h) on these
// providers: all but the reference, which rounds after every op.
bool ComputesInFloat32(const std::vector<std::string>& providers);

struct ChosenKernel {
  std::unique_ptr<Kernel> kernel;
  std::string provider;
  std::optional<Isa> isa = {};  // to run it on, in place of the one in use
};

// Asks the providers in turn, those with kHidesNan only where they are first; before them the one that
// `choices` (may be null) has for the op, if it is among them, on an instruction set that is none better
// than the one in use. Unsupported, with the reasons, when none runs the op.
absl::StatusOr<ChosenKernel> MakeKernel(const KernelContext& context,
                                        const std::vector<std::string>& providers,
                                        const KernelChoices* choices = nullptr);

// Providers that have a kernel registered for the op.
std::vector<std::string> ProvidersOf(ir::Opcode opcode);
// Ops that some provider has a kernel registered for.
std::vector<ir::Opcode> OpsWithKernels();
// The first of `providers` whose kernel of the op sizes its results (kSizesResults); empty when none
// does.
std::string SizingProvider(ir::Opcode opcode, const std::vector<std::string>& providers);
// Of an op that no plan runs: SizingProvider; where an operand or result holds strings the provider
// whose kernel takes them, or empty.
std::string StepProvider(ir::Operation op, const std::vector<std::string>& providers);
// Whether an operand or result holds strings.
bool HandlesStrings(ir::Operation op);
// Whether the provider's kernels of the op have the trait; false where it has none.
bool KernelHas(ir::Opcode opcode, std::string_view provider, KernelTrait trait);

struct RegisteredKernel {
  std::string op, provider;
  std::string file;  // from the root of the tree
};
// All there are, by op and provider.
std::vector<RegisteredKernel> RegisteredKernels();

}  // namespace weft::kernels
