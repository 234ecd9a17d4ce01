#include "passes/verify/complaint.h"

#include <algorithm>
#include <charconv>

namespace weft::passes {
namespace {

// "[2,3]"; nothing where a size is no number.
std::optional<ir::Shape> ShapeOf(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  ir::Shape shape;
  const char *at = text.data() + 1, *end = text.data() + text.size() - 1;
  while (at < end) {
    int64_t size = 0;
    const auto [after, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 0 || (after < end && *after != ',')) return std::nullopt;
    shape.push_back(size);
    at = after + 1;
  }
  return shape;
}

std::vector<std::string_view> WordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t begin = 0; (begin = text.find_first_not_of(" \n", begin)) != text.npos;) {
    const size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

}  // namespace

std::optional<Complaint> ComplaintOf(const std::string& error, std::string_view operand) {
  const std::vector<std::string_view> words = WordsOf(error);
  const auto at = std::find(words.begin(), words.end(), operand);
  if (words.end() - at < 3) return std::nullopt;
  Complaint complaint{.is = std::string(at[2]), .dtypes = {}, .ranks = {}};
  if (const auto be = std::find(at, words.end(), "be"); words.end() - be > 1)
    complaint.shape = ShapeOf(be[1]);
  for (auto it = words.begin(); it != words.end(); ++it) {
    std::string_view word = *it;
    if (word.ends_with(',')) word.remove_suffix(1);
    ir::DataType dtype;
    if (it == at + 2) continue;
    if (ir::ParseDataType(word, &dtype) && ir::ElementSize(dtype) > 0)
      complaint.dtypes.push_back(dtype);
    if (word == "float") complaint.dtypes.push_back(ir::DataType::kF32);
    if (word == "integer") complaint.dtypes.push_back(ir::DataType::kI64);
    if (it > at + 3 && word.size() == 1 && word[0] >= '0' && word[0] <= '5')
      complaint.ranks.push_back(word[0] - '0');
  }
  return complaint;
}

}  // namespace weft::passes
