// What a rule file includes: WEFT_RULE, the rule language without prefixes, arithmetic in patterns,
// and the elementwise and shape ops of ONNX. Files that need other ops include their headers too.
//
//   namespace weft::passes {
//
//   // x * 1 => x
//   WEFT_RULE(DropUnitFactor, "canonicalize", kExact) {
//     auto x = src.Tensor("x");
//     auto out = x * 1;
//     src.Require(SameType(x, out));
//     res.Tensor(out) = x;
//   }
//
//   }  // namespace weft::passes
//
// The rule is called drop-unit-factor, belongs to the group "canonicalize" (which a pass runs) and
// is exact. More may be said of it, in the order of RuleOptions:
//
//   WEFT_RULE(LowerResizeToNearest, "ascend", kChangesMeaning, .seed = "ascend", .opt_in = true,
//             .aliases = {"resize-mode-to-nearest"}) { ... }
//
// `src` is a drr::SourcePattern, `res` a drr::ResultPattern; drr/cpp/README.md tells more. The rule is a
// class that may stand in a header which several files include: it is registered once.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/shape.h"
#include "passes/pattern_arithmetic.h"
#include "passes/rule_registry.h"

namespace weft::ir::fused {}
namespace weft::ir::pd {}
namespace weft::ir::ascend {}
namespace weft::ir::litert {}

namespace weft::passes {

using namespace drr;  // NOLINT(google-build-using-namespace): rules read as sentences
using enum ir::DataType;
namespace ops = ir::ops;
namespace fused = ir::fused;
namespace pd = ir::pd;
namespace ascend = ir::ascend;
namespace litert = ir::litert;

// What a rule says of itself beside its name, group and numeric class.
struct RuleOptions {
  std::string_view seed = {};                    // see passes/transformation.h
  bool opt_in = false;                           // runs only when enabled by name
  std::array<std::string_view, 3> aliases = {};  // further names, of documents or of former days
  int benefit = 0;                               // default: the number of source ops
  std::string_view algebra = {};                 // default: printed from the rule
};

namespace internal {

// DropUnitFactor is drop-unit-factor; FuseHTTPServer2 would be fuse-http-server2.
template <size_t kSize>
struct KebabName {
  char text[2 * kSize] = {};
  size_t size = 0;
  constexpr explicit KebabName(const char (&name)[kSize]) {
    const auto is_upper = [&](size_t i) { return name[i] >= 'A' && name[i] <= 'Z'; };
    const auto is_lower = [&](size_t i) { return name[i] >= 'a' && name[i] <= 'z'; };
    for (size_t i = 0; i + 1 < kSize; ++i) {
      if (is_upper(i) && i > 0 && (!is_upper(i - 1) || is_lower(i + 1))) text[size++] = '-';
      text[size++] = is_upper(i) ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
    }
  }
  constexpr std::string_view view() const { return {text, size}; }
};

using RecordRule = void (*)(SourcePattern& src, ResultPattern& res);
BuildResult BuildRule(ir::IrContext* context, const RuleInfo& info, SourceLoc loc,
                      RecordRule record);
bool AddRule(std::string_view name, std::string_view group, NumericClass numerics,
             const RuleOptions& options, SourceLoc loc, BuildResult (*build)(ir::IrContext*));

}  // namespace internal

// What a rule is made of is of no use by its name outside the library or plugin that holds it, which does not export it.
#define WEFT_RULE(Name, group, numerics, ...)                                                    \
  struct [[gnu::visibility("hidden")]] Name {                                                    \
    static constexpr ::weft::passes::internal::KebabName kKebab{#Name};                          \
    static constexpr std::string_view kName = kKebab.view();                                     \
    static constexpr ::weft::drr::NumericClass kNumerics = ::weft::drr::NumericClass::numerics;  \
    static constexpr ::weft::passes::RuleOptions kOptions{__VA_ARGS__};                          \
    static void Record(::weft::drr::SourcePattern& src, ::weft::drr::ResultPattern& res);        \
    static ::weft::drr::BuildResult Build(::weft::ir::IrContext* context) {                      \
      return ::weft::passes::internal::BuildRule(                                                \
          context, {kName, kOptions.algebra, kNumerics, kOptions.benefit}, {__FILE__, __LINE__}, \
          &Record);                                                                              \
    }                                                                                            \
  };                                                                                             \
  [[maybe_unused]] static const bool weft_registered_##Name = ::weft::passes::internal::AddRule( \
      Name::kName, group, Name::kNumerics, Name::kOptions, {__FILE__, __LINE__}, &Name::Build);  \
  inline void Name::Record([[maybe_unused]] ::weft::drr::SourcePattern& src,                     \
                           [[maybe_unused]] ::weft::drr::ResultPattern& res)

}  // namespace weft::passes
