// The onnx dialect against libonnx's own schemas: names, versions, operands, results, attributes.
#include "onnx/defs/schema.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "ir/dialects/onnx.h"

namespace weft::onnx {
namespace {

using ir::Arity;
using ir::Attribute;
using ir::AttrKind;
using ::onnx::AttributeProto;
using ::onnx::OpSchema;

// "in", "in?" or "in..." for each, without the names.
std::string Arities(const std::vector<OpSchema::FormalParameter>& parameters) {
  std::string text;
  for (const auto& p : parameters)
    text += p.GetOption() == OpSchema::Optional   ? '?'
            : p.GetOption() == OpSchema::Variadic ? '*'
                                                  : '1';
  return text;
}
template <class Defs>
std::string Arities(const Defs& defs) {
  std::string text;
  for (const ir::OperandDef& d : defs)
    text += d.arity == Arity::kOptional ? '?' : d.arity == Arity::kVariadic ? '*' : '1';
  return text;
}

AttrKind KindOf(const OpSchema::Attribute& attribute, const ir::FieldDef& field) {
  switch (attribute.type) {
    case AttributeProto::FLOAT:
      return AttrKind::kFloat;
    case AttributeProto::INT:  // Cast's `to`
      return field.kind == AttrKind::kDataType ? AttrKind::kDataType : AttrKind::kInt;
    case AttributeProto::STRING:
      return AttrKind::kString;
    case AttributeProto::INTS:
      return AttrKind::kInts;
    case AttributeProto::TENSOR:
      return AttrKind::kDense;
    default:
      return AttrKind::kUnit;
  }
}

// "required", "optional" or the default.
std::string Default(const OpSchema::Attribute& attribute) {
  if (attribute.required) return "required";
  const AttributeProto& value = attribute.default_value;
  if (!value.has_name()) return "optional";
  switch (value.type()) {
    case AttributeProto::FLOAT:
      return fmt::format("{}", value.f());
    case AttributeProto::INT:
      return fmt::format("{}", value.i());
    case AttributeProto::STRING:
      return value.s();
    default:
      return "another type";
  }
}
std::string Default(ir::IrContext& context, const ir::FieldDef& field) {
  if (field.optional) return "optional";
  if (!field.make_default) return "required";
  const Attribute value = field.make_default(context);
  switch (value.kind()) {
    case AttrKind::kFloat:
      return fmt::format("{}", value.AsFloat());
    case AttrKind::kInt:
      return fmt::format("{}", value.AsInt());
    case AttrKind::kString:
      return value.AsString();
    default:
      return "another kind";
  }
}

TEST(OnnxSchema, EveryOpOfTheDialectIsAsLibonnxHasItAtOpset17) {
  ir::IrContext context;
  LoadOnnxDialect(context);
  size_t ops = 0;
  for (const ir::OpDef* def : context.Ops()) {
    const std::string type(def->info->onnx);
    if (type.empty()) continue;
    SCOPED_TRACE(type);
    ++ops;
    const OpSchema* schema = ::onnx::OpSchemaRegistry::Schema(type, 17, "");
    ASSERT_NE(schema, nullptr);
    EXPECT_EQ(def->info->since, schema->since_version());
    EXPECT_EQ(Arities(def->info->operands), Arities(schema->inputs()));
    EXPECT_EQ(Arities(def->info->results), Arities(schema->outputs()));
    std::set<std::string> names;
    for (const ir::FieldDef& field : def->fields) {
      const std::string name(field.name.str());
      SCOPED_TRACE(name);
      names.insert(name);
      const auto it = schema->attributes().find(name);
      ASSERT_NE(it, schema->attributes().end());
      EXPECT_EQ(field.kind, KindOf(it->second, field));
      EXPECT_EQ(Default(context, field), Default(it->second));
    }
    for (const auto& [name, attribute] : schema->attributes())
      EXPECT_EQ(names.count(name), 1u) << name;
  }
  EXPECT_GE(ops, 60u);
}

}  // namespace
}  // namespace weft::onnx
