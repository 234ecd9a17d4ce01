// An aligned table of text: a column of numbers is aligned right, any other left.
//
//   Table table({"rule", "applied"});
//   table.AddRow({"merge-transposes", "12"});
//   std::string text = table.ToString();   // a line for the heads, one per row
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace weft::tools {

class Table {
 public:
  explicit Table(std::vector<std::string> heads) : heads_(std::move(heads)) {}
  // Cells that are missing at the end are empty.
  void AddRow(std::vector<std::string> cells);
  std::string ToString() const;

 private:
  std::vector<std::string> heads_;
  std::vector<std::vector<std::string>> rows_;
};

// "0.123 ms": three significant digits, never an exponent.
std::string Milliseconds(double milliseconds);

}  // namespace weft::tools
