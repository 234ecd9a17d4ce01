#include "tools/cli/tables/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace weft::tools {
namespace {

bool LooksLikeNumber(const std::string& cell) {
  return cell.empty() || std::isdigit(static_cast<unsigned char>(cell[0])) ||
         ((cell[0] == '-' || cell[0] == '+') && cell.size() > 1 &&
          std::isdigit(static_cast<unsigned char>(cell[1])));
}

}  // namespace

void Table::AddRow(std::vector<std::string> cells) {
  cells.resize(heads_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::ToString() const {
  std::vector<size_t> widths;
  std::vector<bool> numbers;
  for (size_t c = 0; c < heads_.size(); ++c) {
    size_t width = heads_[c].size();
    bool all_numbers = c > 0 && !rows_.empty();
    for (const auto& row : rows_) {
      width = std::max(width, row[c].size());
      all_numbers = all_numbers && LooksLikeNumber(row[c]);
    }
    widths.push_back(width);
    numbers.push_back(all_numbers);
  }
  std::string text;
  auto append = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (size_t c = 0; c < cells.size(); ++c)
      line += numbers[c] ? fmt::format("{:>{}}  ", cells[c], widths[c])
                         : fmt::format("{:<{}}  ", cells[c], widths[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  append(heads_);
  for (const auto& row : rows_) append(row);
  return text;
}

std::string Milliseconds(double milliseconds) {
  if (!(milliseconds > 0)) return "0 ms";
  const int digits = static_cast<int>(std::floor(std::log10(milliseconds)));
  return fmt::format("{:.{}f} ms", milliseconds, std::clamp(2 - digits, 0, 6));
}

}  // namespace weft::tools
