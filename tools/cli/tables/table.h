// An aligned table of text: a column of numbers is aligned right, any other left.
//
//   Table table({"rule", "applied"});
//   table.AddRow({"merge-transposes", "12"});
//   std::string text = table.ToString(stdout);   // a line for the heads, one per row
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/tables/terminal.h"

namespace weft::tools {

class Table {
 public:
  explicit Table(std::vector<std::string> heads) : heads_(std::move(heads)) {}
  // Cells that are missing at the end are empty; control characters of others are shown as \xNN.
  void AddRow(std::vector<std::string> cells, Style style = Style::kPlain);
  // As `stream` shows it: a terminal has the rows in their styles, and columns so narrow that it holds them, with cells of
  // several lines; one that is too narrow for that has a line for each cell.
  std::string ToString(std::FILE* stream) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    Style style = Style::kPlain;
  };
  struct Column {
    size_t width = 0, least = 0;  // in characters
    bool numbers = false;
  };
  std::vector<Column> Columns() const;
  std::string Stacked(size_t columns, std::FILE* stream) const;

  std::vector<std::string> heads_;
  std::vector<Row> rows_;
};

// "0.123 ms": three significant digits, never an exponent.
std::string Milliseconds(double milliseconds);

}  // namespace weft::tools
