#include "weft/model_size_json.h"

namespace weft {

nlohmann::ordered_json ToJson(const ModelSize& size) {
  nlohmann::ordered_json json = {{"operations", size.operations},
                                 {"parameters", size.parameters},
                                 {"parameter_bytes", size.parameter_bytes},
                                 {"flops", size.flops},
                                 {"uncounted_operations", size.uncounted_operations},
                                 {"arena_bytes", nullptr}};
  if (size.arena_bytes) json["arena_bytes"] = *size.arena_bytes;
  return json;
}

}  // namespace weft
