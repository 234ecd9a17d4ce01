#include "passes/pass.h"

namespace weft::passes {

void Pass::ResetStatistics() {
  changed_ = false;
  statistics_.clear();
  rules_.clear();
}

void Pass::Count(std::string_view what, uint64_t n) {
  for (auto& [name, count] : statistics_) {
    if (name != what) continue;
    count += n;
    return;
  }
  statistics_.emplace_back(what, n);
}

}  // namespace weft::passes
