// A size as the programs and the C API print it.
#pragma once

#include <nlohmann/json.hpp>

#include "weft/model_size.h"

namespace weft {

// An object with a member for each field; arena_bytes is null where it is unknown.
nlohmann::ordered_json ToJson(const ModelSize& size);

}  // namespace weft
