// The kernels of a run, under what its numbers may do.
#pragma once

#include <string>

#include "ir/base/status.h"
#include "kernels/isa.h"

namespace weft {

// Products on AMX tiles sum in an order of their own, which exact numerics leave as it is: then `isa`
// "amx" is InvalidArgument, and "" the best of the machine that sums in chains. Else `isa` itself,
// InvalidArgument when the machine has no such.
absl::StatusOr<std::string> IsaFor(const std::string& isa, const std::string& numerics);
// The precision that is named, "" for float32. InvalidArgument for another name, and for one that rounds
// factors of products where numerics do not allow results that are approximate.
absl::StatusOr<kernels::MatmulPrecision> MatmulPrecisionFor(const std::string& precision,
                                                            const std::string& numerics);
// Convolutions by Winograd's products sum in another order, too: with exact numerics the provider "auto" is
// "native". Else `provider`.
std::string ProviderFor(const std::string& provider, const std::string& numerics);

}  // namespace weft
