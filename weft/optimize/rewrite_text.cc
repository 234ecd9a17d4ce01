#include "weft/optimize/rewrite_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/base/escape.h"

namespace weft {

std::string CountedNames(const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, size_t>> counts;
  for (const std::string& name : names) {
    const auto it = std::find_if(counts.begin(), counts.end(),
                                 [&](const auto& count) { return count.first == name; });
    if (it == counts.end()) {
      counts.emplace_back(name, 1);
    } else {
      ++it->second;
    }
  }
  std::string text;
  for (const auto& [name, count] : counts)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ",
                        count == 1 ? "" : fmt::format("{} ", count), name);
  return text.empty() ? "nothing" : text;
}

std::string DescribeRewrite(const passes::TracedRewrite& rewrite) {
  std::string text = fmt::format("{} {}: ", rewrite.number, rewrite.pass);
  if (!rewrite.rule.empty()) text += fmt::format("{} at {}: ", rewrite.rule, rewrite.site);
  text += CountedNames(rewrite.went) + " -> " + CountedNames(rewrite.came);
  return ir::EscapeControl(text);
}

}  // namespace weft
