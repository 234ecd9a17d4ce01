// Removing stopwords and changing case.
#include <algorithm>
#include <set>
#include <string>

#include "ir/dialects/onnx/text.h"
#include "kernels/reference/strings/letter_case.h"
#include "kernels/reference/strings_kernel.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;
using Attrs = AttrsOf<ops::StringNormalizer>;

// A string as stopwords are compared.
absl::StatusOr<std::string> Folded(const Attrs& attrs, const std::string& text) {
  if (attrs.is_case_sensitive != 0) return text;
  return ToCase(text, LetterCase::kLower);
}

absl::StatusOr<std::string> Changed(const Attrs& attrs, const std::string& text) {
  if (attrs.case_change_action == ops::CaseChange::kNone) return text;
  return ToCase(text, attrs.case_change_action == ops::CaseChange::kLower ? LetterCase::kLower
                                                                          : LetterCase::kUpper);
}

absl::StatusOr<std::vector<RuntimeValue>> StringNormalizer(const Attrs& attrs,
                                                           const KernelArgs& args) {
  const TensorView& x = args.inputs[0];
  if (x.dims.empty() || x.dims.size() > 2 || (x.dims.size() == 2 && x.dims[0] != 1))
    return ir::InvalidArgument("x has shape " + ir::ToString(x.dims) + ", expected [C] or [1,C]");
  std::set<std::string> stopwords;
  for (const std::string& word : attrs.stopwords.value_or(ir::Strings())) {
    WEFT_ASSIGN_OR_RETURN(std::string folded, Folded(attrs, word));
    stopwords.insert(std::move(folded));
  }
  std::vector<std::string> kept;
  for (const std::string& text : x.values<std::string>()) {
    if (!stopwords.empty()) {
      WEFT_ASSIGN_OR_RETURN(const std::string folded, Folded(attrs, text));
      if (stopwords.count(folded) > 0) continue;
    }
    WEFT_ASSIGN_OR_RETURN(std::string changed, Changed(attrs, text));
    kept.push_back(std::move(changed));
  }
  if (kept.empty() && !stopwords.empty()) kept.emplace_back();
  ir::Shape dims(x.dims.begin(), x.dims.end());
  dims.back() = static_cast<int64_t>(kept.size());
  return OneOfStrings(std::move(dims), std::move(kept));
}

// Turkish, Azeri and Lithuanian have a dotted or dotless i.
absl::Status CheckStringNormalizer(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::StringNormalizer>();
  const std::string locale = attrs.locale.value_or("");
  const std::string language = locale.substr(0, locale.find_first_of("_-.@"));
  const bool changes =
      attrs.case_change_action != ops::CaseChange::kNone || attrs.is_case_sensitive == 0;
  for (const char* other : {"tr", "az", "lt"})
    if (changes && language == other)
      return context.Unsupported("letter case in the locale '" + locale + "'");
  return absl::OkStatus();
}
const RegisterStrings<ops::StringNormalizer> kStringNormalizer(&StringNormalizer,
                                                               &CheckStringNormalizer);

}  // namespace
}  // namespace weft::kernels::reference
