// The text form of rules: what was built in C++ prints as text, and the text is read back as the
// same rule, but for native code of C++, which prints as such and cannot be read.
//
//   // transpose(transpose(x, p), q) => transpose(x, p[q])
//   rule merge-transposes {
//     algebra "transpose(transpose(x, p), q) => transpose(x, p[q])"
//     numerics exact
//     benefit 2
//     source {
//       %0 = onnx.Transpose{perm: $p}(%x)
//       %1 = onnx.Transpose{perm: $q}(%0)
//     }
//     require "x has rank 3" rank_is(%x, 3)
//     result {
//       !0 = onnx.Transpose{perm: = compose($p, $q)}(%x)
//     }
//     replace %1 with !0
//   }
//
// Source. %x is a value, $p an attribute variable, none an operand that is not given. An attribute
// that is not mentioned has its default; else it is a literal, in(1, 2), absent, given(1) (written
// out), $p, any, and {...} frees all that are not mentioned. Ops:
//   %y = onnx.Relu | onnx.Tanh(%x)           one of several
//   %a, %b = onnx.Split(%x)                  all results of an op that may have any number
//   %y = any[elementwise](%x)                any op with these traits
//   %y = named "custom.Gate"(%x)             an op that no dialect defines
//   %y = repeat 0..4 onnx.Relu(%x)           a chain;   each onnx.Relu(%xs)   one for each of a list
//   %y = onnx.If(%c) region 0 (%t, _)        what a region returns
//   %z = either(%x, %y)      %z = skip(%y, onnx.Identity, onnx.Cast same_type)
//   optional %b   keep %y   recompute %y   outside %x   list %xs   not %x %pattern
// A constraint may also be a function that is given with the text, of values, variables and
// literals: `require "w is packed" native is_packed(%w, $p, 4)`.
// Result: !0 is a value. {attrs of %y} copies attributes, `like %y(...)` is the matched op again;
// an attribute is a literal, $p, or = a formula of drr/rule/vocabulary.h. Operands may be
// `outside "node":0`, and %xs* is a list. `at %y` and `named "gate"` say where an op's location
// comes from.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drr/rule/rule.h"
#include "drr/text/diagnostics.h"

namespace weft::drr::text {

std::string PrintRule(const Rule& rule);

// Appends the rules of `text`; mistakes go to *mistakes. `program` and `functions` as in
// drr/rule_file.h.
void ParseRules(std::string_view text, ir::IrContext* context, ir::Program* program,
                Diagnostics* mistakes, std::vector<std::unique_ptr<Rule>>* rules,
                const NativeFunctions* functions = nullptr);

}  // namespace weft::drr::text
