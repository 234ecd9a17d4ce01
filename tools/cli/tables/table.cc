#include "tools/cli/tables/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "ir/base/escape.h"

namespace weft::tools {
namespace {

bool LooksLikeNumber(const std::string& cell) {
  return cell.empty() || std::isdigit(static_cast<unsigned char>(cell[0])) ||
         ((cell[0] == '-' || cell[0] == '+') && cell.size() > 1 &&
          std::isdigit(static_cast<unsigned char>(cell[1])));
}

constexpr size_t kLeastColumn = 10;  // of text, in characters

size_t LongestWord(const std::string& text) {
  size_t longest = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  return longest;
}

}  // namespace

void Table::AddRow(std::vector<std::string> cells, Style style) {
  cells.resize(heads_.size());
  for (std::string& cell : cells) cell = ir::EscapeControl(cell);
  rows_.push_back({std::move(cells), style});
}

std::vector<Table::Column> Table::Columns() const {
  std::vector<Column> columns;
  for (size_t c = 0; c < heads_.size(); ++c) {
    Column column{.width = CharactersIn(heads_[c]), .numbers = c > 0 && !rows_.empty()};
    size_t widest = 0;
    for (const Row& row : rows_) {
      widest = std::max(widest, CharactersIn(row.cells[c]));
      column.numbers = column.numbers && LooksLikeNumber(row.cells[c]);
    }
    column.width = std::max(column.width, widest);
    column.least = column.numbers ? std::max(widest, LongestWord(heads_[c]))
                                  : std::min(column.width, kLeastColumn);
    columns.push_back(column);
  }
  return columns;
}

std::string Table::ToString(std::FILE* stream) const {
  std::vector<Column> columns = Columns();
  size_t total = 2 * (columns.size() - 1);
  for (const Column& column : columns) total += column.width;
  const size_t available = ColumnsOf(stream);
  for (; available > 0 && total > available; --total) {
    const auto widest =
        std::max_element(columns.begin(), columns.end(), [](const Column& a, const Column& b) {
          return (a.width > a.least ? a.width : 0) < (b.width > b.least ? b.width : 0);
        });
    if (widest->width <= widest->least) return Stacked(available, stream);
    --widest->width;
  }
  std::string text;
  const auto append = [&](const std::vector<std::string>& cells, Style style) {
    std::vector<std::vector<std::string>> lines;
    size_t height = 1;
    for (size_t c = 0; c < cells.size(); ++c) {
      lines.push_back(WrapText(cells[c], std::max<size_t>(1, columns[c].width)));
      height = std::max(height, lines.back().size());
    }
    for (size_t i = 0; i < height; ++i) {
      std::string line;
      for (size_t c = 0; c < cells.size(); ++c) {
        const std::string cell = i < lines[c].size() ? lines[c][i] : "";
        const std::string space(columns[c].width - CharactersIn(cell), ' ');
        line += (columns[c].numbers ? space + cell : cell + space) + "  ";
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += Styled(style, line, stream) + "\n";
    }
  };
  append(heads_, Style::kBold);
  for (const Row& row : rows_) append(row.cells, row.style);
  return text;
}

// rule: merge-transposes
//   applied: 12
std::string Table::Stacked(size_t columns, std::FILE* stream) const {
  std::string text;
  for (const Row& row : rows_)
    for (size_t c = 0; c < heads_.size(); ++c) {
      if (row.cells[c].empty()) continue;
      const std::string indent(c == 0 ? 0 : 2, ' ');
      const std::string said = heads_[c].empty() ? row.cells[c] : heads_[c] + ": " + row.cells[c];
      for (const std::string& line : WrapText(said, std::max<size_t>(8, columns) - indent.size()))
        text += Styled(c == 0 ? Style::kBold : row.style, indent + line, stream) + "\n";
    }
  return text;
}

std::string Milliseconds(double milliseconds) {
  if (!(milliseconds > 0)) return "0 ms";
  const int digits = static_cast<int>(std::floor(std::log10(milliseconds)));
  return fmt::format("{:.{}f} ms", milliseconds, std::clamp(2 - digits, 0, 6));
}

}  // namespace weft::tools
