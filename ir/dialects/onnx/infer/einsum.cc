#include "ir/dialects/onnx/infer/einsum.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace weft::ir {
namespace {

constexpr std::string_view kEllipsis = "...", kArrow = "->";
constexpr int kNumLetters = 256;  // labels from here on are those of an ellipsis

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::vector<std::string_view> Terms(std::string_view text) {
  std::vector<std::string_view> terms;
  for (;;) {
    const size_t comma = text.find(',');
    terms.push_back(text.substr(0, comma));
    if (comma == text.npos) return terms;
    text.remove_prefix(comma + 1);
  }
}

class Reader {
 public:
  explicit Reader(std::string_view equation) : text_(equation) { std::erase(text_, ' '); }

  bool Read(std::span<const size_t> ranks, EinsumLabels* labels) {
    const std::string_view text = text_;
    const size_t arrow = text.find(kArrow);
    const std::vector<std::string_view> terms = Terms(text.substr(0, arrow));
    if (terms.size() != ranks.size())
      return Fail(
          fmt::format("has {} terms but there are {} operands", terms.size(), ranks.size()));
    for (size_t i = 0; i < terms.size(); ++i) {
      labels->operands.emplace_back();
      if (!ReadOperand(terms[i], ranks[i], &labels->operands.back())) return false;
    }
    return arrow == text.npos ? ImplyResult(&labels->result)
                              : ReadResult(text.substr(arrow + kArrow.size()), &labels->result);
  }
  const std::string& error() const { return error_; }

 private:
  bool Fail(std::string why) {
    error_ = std::move(why);
    return false;
  }
  // Letters before and after the ellipsis, if there is one.
  bool SplitTerm(std::string_view term, std::string_view* before, std::string_view* after,
                 bool* has_ellipsis) {
    const size_t dots = term.find(kEllipsis);
    *has_ellipsis = dots != term.npos;
    *before = term.substr(0, dots);
    *after = *has_ellipsis ? term.substr(dots + kEllipsis.size()) : std::string_view();
    for (std::string_view part : {*before, *after})
      for (char c : part)
        if (!IsLetter(c)) return Fail(fmt::format("term \"{}\" is no list of letters", term));
    return true;
  }
  static void AddEllipsis(size_t rank, std::vector<int>* labels) {
    for (size_t i = rank; i > 0; --i) labels->push_back(kNumLetters + static_cast<int>(i) - 1);
  }

  bool ReadOperand(std::string_view term, size_t rank, std::vector<int>* labels) {
    std::string_view before, after;
    bool has_ellipsis;
    if (!SplitTerm(term, &before, &after, &has_ellipsis)) return false;
    const size_t letters = before.size() + after.size();
    if (rank < letters || (!has_ellipsis && rank > letters))
      return Fail(fmt::format("term \"{}\" does not fit an operand of rank {}", term, rank));
    for (char c : before) labels->push_back(c);
    AddEllipsis(rank - letters, labels);
    ellipsis_rank_ = std::max(ellipsis_rank_, rank - letters);
    for (char c : after) labels->push_back(c);
    for (std::string_view part : {before, after})
      for (char c : part) ++count_[static_cast<unsigned char>(c)];
    return true;
  }
  bool ReadResult(std::string_view term, std::vector<int>* labels) {
    std::string_view before, after;
    bool has_ellipsis;
    if (!SplitTerm(term, &before, &after, &has_ellipsis)) return false;
    if (!has_ellipsis && ellipsis_rank_ > 0)
      return Fail(fmt::format("result \"{}\" lacks the \"...\" of the operands", term));
    for (char c : before) labels->push_back(c);
    AddEllipsis(ellipsis_rank_, labels);
    for (char c : after) labels->push_back(c);
    for (const int label : *labels) {
      if (std::count(labels->begin(), labels->end(), label) > 1)
        return Fail(fmt::format("result \"{}\" has a letter twice", term));
      if (label < kNumLetters && count_[static_cast<size_t>(label)] == 0)
        return Fail(fmt::format("result \"{}\" has a letter that no operand has", term));
    }
    return true;
  }
  // The ellipsis, then the letters that appear once in their order.
  bool ImplyResult(std::vector<int>* labels) const {
    AddEllipsis(ellipsis_rank_, labels);
    for (size_t c = 0; c < count_.size(); ++c)
      if (count_[c] == 1) labels->push_back(static_cast<int>(c));
    return true;
  }

  std::string text_;  // without spaces
  std::array<size_t, kNumLetters> count_{};
  size_t ellipsis_rank_ = 0;
  std::string error_;
};

}  // namespace

bool ReadEinsum(std::string_view equation, std::span<const size_t> ranks, EinsumLabels* labels,
                std::string* error) {
  Reader reader(equation);
  *labels = {};
  if (reader.Read(ranks, labels)) return true;
  *error = fmt::format("equation \"{}\": {}", equation, reader.error());
  return false;
}

}  // namespace weft::ir
