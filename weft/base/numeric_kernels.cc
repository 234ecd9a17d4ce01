#include "weft/base/numeric_kernels.h"

#include "kernels/isa.h"
#include "kernels/runtime/session.h"

namespace weft {

absl::StatusOr<std::string> IsaFor(const std::string& isa, const std::string& numerics) {
  WEFT_RETURN_IF_ERROR(kernels::CheckIsa(isa));
  if (numerics != "exact") return isa;
  if (isa == kernels::IsaName(kernels::Isa::kAmx))
    return ir::InvalidArgument(
        "instruction set amx sums in another order than exact numerics allow");
  return isa.empty() ? std::string(kernels::IsaName(kernels::BestChainIsa())) : isa;
}

std::string ProviderFor(const std::string& provider, const std::string& numerics) {
  return numerics == "exact" && provider == "auto" ? "native" : provider;
}

}  // namespace weft
