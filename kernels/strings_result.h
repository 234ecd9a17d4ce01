// Makes a tensor of strings, whose size follows from values that nobody vouches for.
//
//   WEFT_ASSIGN_OR_RETURN(StringsResult made, StringsResult::Create(dims));
//   for (...) WEFT_RETURN_IF_ERROR(made.Add(std::move(text)));
//   WEFT_ASSIGN_OR_RETURN(Tensor tensor, std::move(made).Finish());
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/kernel.h"

namespace weft::kernels {

class StringsResult {
 public:
  // InvalidArgument when so many strings would take more than kMaxDynamicBytes, be they empty.
  static absl::StatusOr<StringsResult> Create(ir::Shape dims);
  // The next element, in row-major order. InvalidArgument when all would take more than
  // kMaxDynamicBytes.
  absl::Status Add(std::string text);
  // As many must have been added as the dims say.
  absl::StatusOr<Tensor> Finish() && {
    return Tensor::OfStrings(std::move(dims_), std::move(strings_));
  }
  size_t num_strings() const { return num_strings_; }  // that the dims say

 private:
  ir::Shape dims_;
  size_t num_strings_ = 1;
  std::vector<std::string> strings_;
  size_t bytes_ = 0;
};

// In double quotes and on one line, for messages: what is no printable ASCII or UTF-8 as \n or \x07,
// and what is long without its end.
std::string QuotedText(std::string_view text);

}  // namespace weft::kernels
