// What became of one conformance test under one pipeline.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::conformance {

// Best first: a step to a later one is a regression.
enum class Status : uint8_t {
  kPass,
  kDisputed,     // differs from data that other implementations contradict too
  kUnsupported,  // refused: valid, but beyond what we have
  kError,        // refused as wrong, which no test is
  kFail,         // wrong values, shapes or types
  kTimeout,
  kCrash,
};
inline constexpr size_t kNumStatuses = 7;
inline constexpr std::array<std::string_view, kNumStatuses> kStatusNames = {
    "pass", "disputed", "unsupported", "error", "fail", "timeout", "crash"};

inline std::string_view StatusName(Status status) {
  return kStatusNames[static_cast<size_t>(status)];
}

inline std::optional<Status> ParseStatus(std::string_view name) {
  for (size_t i = 0; i < kNumStatuses; ++i)
    if (kStatusNames[i] == name) return static_cast<Status>(i);
  return std::nullopt;
}

struct Outcome {
  Status status = Status::kPass;
  std::string reason = {};  // one line; of kPass what was rounded otherwise
};

}  // namespace weft::conformance
