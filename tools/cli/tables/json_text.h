// JSON that our programs print: an object of several lines. The schema of each is a file of tools/schemas.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace weft::tools {

// Names come from models, whose bytes need not be UTF-8.
inline std::string JsonText(const nlohmann::ordered_json& json) {
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace weft::tools
