#include "kernels/runtime/registry.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "ir/analysis/reference_body.h"
#include "ir/base/registration.h"
#include "ir/base/source_path.h"
#include "kernels/runtime/decomposed.h"
#include "kernels/runtime/value_type.h"

namespace weft::kernels {
namespace {

// By opcode, then provider. Ordered maps: what is listed must not depend on link order.
struct Registered {
  KernelFactory factory = nullptr;
  uint32_t traits = kNoKernelTraits;
  const char* file = "";
};
using Factories = std::map<uint16_t, std::map<std::string, Registered, std::less<>>>;

Factories& AllFactories() {
  static auto* factories = new Factories();
  return *factories;
}

Registered Find(ir::Opcode opcode, std::string_view provider) {
  const auto by_op = AllFactories().find(opcode.id());
  if (by_op == AllFactories().end()) return {};
  const auto it = by_op->second.find(provider);
  return it == by_op->second.end() ? Registered() : it->second;
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

}  // namespace

absl::Status CheckRunnable(ir::Type type, ir::Operation op, std::string_view what, uint32_t i) {
  if (type && type.IsStatic() && WhyNoTensors(type).empty()) return absl::OkStatus();
  std::string subject(op.name());
  if (!op.location().empty()) subject += " (" + std::string(op.location().str()) + ")";
  subject += ": " + std::string(what) + " " + std::to_string(i) + " has type " +
             (type ? type.ToString() : "unknown");
  if (!type || !type.IsStatic())
    return ir::Unsupported(subject + ", whose shape is not known before run time");
  return ir::Unsupported(subject + ", but kernels do not take " + WhyNoTensors(type));
}

absl::StatusOr<Tensor> CreateDynamic(ir::DataType dtype, ir::Shape dims) {
  size_t bytes = ir::ElementSize(dtype);
  for (const int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<size_t>(dim), &bytes) ||
        bytes > kMaxDynamicBytes)
      return ir::InvalidArgument("a result of shape " + ir::ToString(dims) +
                                 " would take more than " + std::to_string(kMaxDynamicBytes >> 30) +
                                 " GiB");
  }
  return Tensor::Create(dtype, std::move(dims));
}

void AddKernelFactory(ir::Opcode opcode, std::string_view provider, KernelFactory factory,
                      uint32_t traits, const char* file) {
  const Registered registered{factory, traits, file};
  const bool is_new = AllFactories()[opcode.id()].emplace(std::string(provider), registered).second;
  if (!is_new)
    ir::RegistrationFailed(__FILE__, __LINE__,
                           "two kernels of the provider " + std::string(provider) + " run " +
                               std::string(opcode.name()));
}

std::vector<std::string> ProviderChoices() { return {"auto", "native", "xnnpack", "reference"}; }

absl::StatusOr<std::vector<std::string>> ProviderOrder(std::string_view choice) {
  if (choice == "auto")
    return std::vector<std::string>{"winograd", "native", "xnnpack", "reference"};
  if (choice == "native") return std::vector<std::string>{"native", "xnnpack", "reference"};
  if (choice == "xnnpack") return std::vector<std::string>{"xnnpack", "native", "reference"};
  if (choice == "reference") return std::vector<std::string>{"reference"};
  return ir::InvalidArgument("unknown provider '" + std::string(choice) + "', expected one of " +
                             Join(ProviderChoices(), ", "));
}

bool ComputesInFloat32(const std::vector<std::string>& providers) {
  return !providers.empty() && providers.front() != "reference";
}

namespace {

// Null where the provider is not to be asked.
KernelFactory FactoryOf(const KernelContext& context, const std::string& provider, bool is_first) {
  const Registered registered = Find(context.op().opcode(), provider);
  if ((registered.traits & kHidesNan) != 0 && !is_first) return nullptr;
  // Vector kernels need not care for tensors without elements.
  if (provider != "reference" && provider != kStringsProvider && context.HasEmptyTensor())
    return nullptr;
  if (registered.factory == nullptr && provider == "reference" &&
      ir::HasReferenceBody(context.op()))
    return &MakeDecomposed;
  return registered.factory;
}

// Of the choice; without a kernel where it can not be followed.
ChosenKernel MakeChosen(const KernelContext& context, const std::vector<std::string>& providers,
                        const KernelChoice& choice) {
  const std::optional<Isa> isa = FindIsa(choice.isa);
  if ((!choice.isa.empty() && !isa) || (isa && *isa > CurrentIsa())) return {};
  if (std::find(providers.begin(), providers.end(), choice.provider) == providers.end()) return {};
  const KernelFactory factory =
      FactoryOf(context, choice.provider, choice.provider == providers.front());
  if (factory == nullptr) return {};
  const ScopedIsa scope(isa);
  auto kernel = factory(context);
  if (!kernel.ok()) return {};
  return {*std::move(kernel), choice.provider, isa};
}

}  // namespace

absl::StatusOr<ChosenKernel> MakeKernel(const KernelContext& context,
                                        const std::vector<std::string>& providers,
                                        const KernelChoices* choices) {
  if (const KernelChoice* choice = choices == nullptr ? nullptr : choices->Find(context)) {
    ChosenKernel chosen = MakeChosen(context, providers, *choice);
    if (chosen.kernel != nullptr) return chosen;
  }
  std::vector<std::string> reasons;
  for (const std::string& provider : providers) {
    const KernelFactory factory = FactoryOf(context, provider, provider == providers.front());
    if (factory == nullptr) continue;
    auto kernel = factory(context);
    if (kernel.ok()) return ChosenKernel{*std::move(kernel), provider};
    if (!absl::IsUnimplemented(kernel.status())) return kernel.status();
    reasons.push_back(provider + ": " + std::string(ir::Message(kernel.status())));
  }
  if (reasons.empty()) return context.Unsupported("no kernel runs this op");
  return ir::Unsupported(Join(reasons, "; "));
}

std::vector<std::string> ProvidersOf(ir::Opcode opcode) {
  std::vector<std::string> names;
  const auto by_op = AllFactories().find(opcode.id());
  if (by_op == AllFactories().end()) return names;
  for (const auto& [provider, registered] : by_op->second) names.push_back(provider);
  return names;
}

std::vector<ir::Opcode> OpsWithKernels() {
  std::vector<ir::Opcode> ops;
  for (const auto& [id, by_provider] : AllFactories()) ops.push_back(ir::Opcode::FromId(id));
  return ops;
}

bool KernelHas(ir::Opcode opcode, std::string_view provider, KernelTrait trait) {
  return (Find(opcode, provider).traits & trait) != 0;
}

std::string SizingProvider(ir::Opcode opcode, const std::vector<std::string>& providers) {
  for (const std::string& provider : providers)
    if (KernelHas(opcode, provider, kSizesResults)) return provider;
  return "";
}

bool HandlesStrings(ir::Operation op) {
  const auto holds_strings = [](ir::Value v) { return v && HoldsStrings(v.type()); };
  return std::any_of(op.operands().begin(), op.operands().end(), holds_strings) ||
         std::any_of(op.results().begin(), op.results().end(), holds_strings);
}

std::string StepProvider(ir::Operation op, const std::vector<std::string>& providers) {
  std::string sizing = SizingProvider(op.opcode(), providers);
  if (!HandlesStrings(op)) return sizing;
  for (const std::string& provider : {std::string(kStringsProvider), sizing})
    if (KernelHas(op.opcode(), provider, kTakesSequences)) return provider;
  return "";
}

std::vector<RegisteredKernel> RegisteredKernels() {
  std::vector<RegisteredKernel> kernels;
  for (const auto& [opcode, by_provider] : AllFactories())
    for (const auto& [provider, registered] : by_provider)
      kernels.push_back({std::string(ir::Opcode::FromId(opcode).name()), provider,
                         ir::SourcePath(registered.file)});
  std::sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) {
    return std::tie(a.op, a.provider) < std::tie(b.op, b.provider);
  });
  return kernels;
}

uint32_t KernelContext::OperandsLikeResult() const {
  uint32_t mask = 0;
  for (size_t i = 0; i < num_inputs() && i < 32; ++i)
    if (HasInput(i) && input_type(i) == result_type(0)) mask |= 1u << i;
  return mask;
}

bool KernelContext::AllFloat32() const {
  const auto is_f32 = [](ir::Type t) { return !t || t.dtype() == ir::DataType::kF32; };
  return std::all_of(input_types_.begin(), input_types_.end(), is_f32) &&
         std::all_of(result_types_.begin(), result_types_.end(), is_f32);
}

bool KernelContext::HasEmptyTensor() const {
  const auto is_empty = [](ir::Type t) { return t && t.NumElements() == 0; };
  return std::any_of(input_types_.begin(), input_types_.end(), is_empty) ||
         std::any_of(result_types_.begin(), result_types_.end(), is_empty);
}

absl::Status KernelContext::Unsupported(const std::string& why) const {
  return ir::Unsupported(std::string(op_.name()) + ": " + why);
}
absl::Status KernelContext::InvalidArgument(const std::string& why) const {
  return ir::InvalidArgument(std::string(op_.name()) + ": " + why);
}

}  // namespace weft::kernels
