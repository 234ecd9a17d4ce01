#include "weft/base/numeric_kernels.h"

#include <vector>

#include "drr/rule/numeric_class.h"
#include "ir/base/suggest.h"
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

absl::StatusOr<kernels::MatmulPrecision> MatmulPrecisionFor(const std::string& precision,
                                                            const std::string& numerics) {
  using kernels::MatmulPrecision;
  const auto found = kernels::FindMatmulPrecision(precision.empty() ? "float32" : precision);
  if (!found) {
    std::vector<std::string> names;
    for (const MatmulPrecision known : kernels::kMatmulPrecisions)
      names.emplace_back(kernels::MatmulPrecisionName(known));
    return ir::CheckName("matmul precision", precision, names);
  }
  const auto allowed = drr::FindNumericClass(numerics);
  if (*found != MatmulPrecision::kFloat32 &&
      (!allowed || *allowed < drr::NumericClass::kApproximate))
    return ir::InvalidArgument("matmul precision " + precision +
                               " rounds factors: it needs numerics approximate");
  return *found;
}

std::string ProviderFor(const std::string& provider, const std::string& numerics) {
  return numerics == "exact" && provider == "auto" ? "native" : provider;
}

}  // namespace weft
