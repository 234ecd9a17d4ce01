// ir/dialects/ops.md says of every op what its definition says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "ir/context.h"
#include "ir/dialects/ascend.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/litert.h"
#include "ir/dialects/microsoft.h"
#include "ir/dialects/pd.h"
#include "ir/text/printer.h"
#include "ir/traits.h"
#include "unittests/fixtures/generated_text.h"
#include "unittests/test_paths.h"

namespace weft::ir {
namespace {

using fixtures::Cell;

template <class List>
std::string Names(const List& defs) {
  std::string text;
  for (const OperandDef& def : defs)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", def.name,
                        def.arity == Arity::kOptional   ? "?"
                        : def.arity == Arity::kVariadic ? "..."
                                                        : "");
  return text;
}

std::string_view KindName(AttrKind kind) {
  constexpr std::string_view kNames[] = {"unit",   "bool",  "int",     "float",   "double",
                                         "string", "ints",  "floats",  "strings", "data type",
                                         "type",   "dense", "verbatim"};
  return kNames[static_cast<size_t>(kind)];
}

// "axis: int = -1", "perm?: ints", "activation: none/relu = "none"".
std::string AttributeText(const FieldDef& field, IrContext& context) {
  std::string kind(KindName(field.kind));
  if (!field.enumerators.empty()) kind = fmt::format("{}", fmt::join(field.enumerators, "/"));
  std::string text = fmt::format("{}{}: {}", field.name.str(), field.optional ? "?" : "", kind);
  if (field.make_default) text += fmt::format(" = {}", PrintAttribute(field.make_default(context)));
  return text;
}

std::string Row(const OpDef& op, IrContext& context) {
  std::string attributes;
  for (const FieldDef& field : op.fields)
    attributes +=
        fmt::format("{}`{}`", attributes.empty() ? "" : ", ", AttributeText(field, context));
  const OpInfo& info = *op.info;
  const std::string onnx =
      info.onnx.empty() ? ""
                        : fmt::format("{}{}{} {}", info.onnx_domain,
                                      info.onnx_domain.empty() ? "" : ".", info.onnx, info.since);
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", op.name(), Names(info.operands),
                     Names(info.results), Cell(attributes), TraitNames(op.traits), onnx,
                     Cell(info.doc));
}

std::string OpTables() {
  IrContext context;
  LoadFusedDialect(context);
  LoadAscendDialect(context);
  LoadLitertDialect(context);
  LoadMicrosoftDialect(context);
  LoadPdDialect(context);
  std::string tables;
  std::string_view dialect;
  for (const OpDef* op : context.Ops()) {
    const std::string_view its = op->name().substr(0, op->name().find('.'));
    if (its != dialect)
      tables += fmt::format(
          "{}## {}\n\n| op | operands | results | attributes | traits | ONNX | what it computes |\n"
          "|---|---|---|---|---|---|---|\n",
          tables.empty() ? "" : "\n", its);
    dialect = its;
    tables += Row(*op, context);
  }
  return tables;
}

TEST(GeneratedReference, ListsEveryOp) {
  EXPECT_TRUE(fixtures::HoldsGenerated(fixtures::TestData("/../ir/dialects/ops.md"), "operations",
                                       OpTables()));
}

}  // namespace
}  // namespace weft::ir
