#include "drr/text/attribute_literal.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::drr::text {
namespace {

using ir::AttrKind;

std::string_view KindName(AttrKind kind) {
  switch (kind) {
    case AttrKind::kBool:
      return "True or False";
    case AttrKind::kInt:
      return "an integer";
    case AttrKind::kFloat:
    case AttrKind::kDouble:
      return "a number";
    case AttrKind::kString:
      return "a string";
    case AttrKind::kInts:
      return "a list of integers";
    case AttrKind::kFloats:
      return "a list of numbers";
    case AttrKind::kStrings:
      return "a list of strings";
    case AttrKind::kDataType:
      return "an element type such as 'float32'";
    default:
      return "what a rule file cannot spell";
  }
}

bool AllOf(const Literal& l, bool (*accepts)(const Literal&)) {
  return l.IsSequence() && std::all_of(l.items.begin(), l.items.end(), accepts);
}

// Null when the literal is of another kind.
ir::Attribute Convert(const Literal& l, AttrKind kind, ir::IrContext& c) {
  switch (kind) {
    case AttrKind::kBool:
      if (l.Is(Literal::kBool) || (l.Is(Literal::kInt) && (l.integer == 0 || l.integer == 1)))
        return c.BoolAttr(l.integer != 0);
      return {};
    case AttrKind::kInt:
      return l.Is(Literal::kInt) || l.Is(Literal::kBool) ? c.IntAttr(l.integer) : ir::Attribute();
    case AttrKind::kFloat:
      return l.IsNumber() ? c.FloatAttr(static_cast<float>(l.AsDouble())) : ir::Attribute();
    case AttrKind::kDouble:
      return l.IsNumber() ? c.DoubleAttr(l.AsDouble()) : ir::Attribute();
    case AttrKind::kString:
      return l.Is(Literal::kString) ? c.StringAttr(l.text) : ir::Attribute();
    case AttrKind::kDataType: {
      ir::DataType dtype;
      if (!l.Is(Literal::kString) || !ir::ParseDataType(l.text, &dtype)) return {};
      return c.DataTypeAttr(dtype);
    }
    case AttrKind::kInts: {
      if (!AllOf(l, [](const Literal& i) { return i.Is(Literal::kInt); })) return {};
      ir::Ints ints;
      for (const Literal& item : l.items) ints.push_back(item.integer);
      return c.IntsAttr(ints);
    }
    case AttrKind::kFloats: {
      if (!AllOf(l, [](const Literal& i) { return i.IsNumber(); })) return {};
      ir::Floats floats;
      for (const Literal& item : l.items) floats.push_back(static_cast<float>(item.AsDouble()));
      return c.FloatsAttr(floats);
    }
    case AttrKind::kStrings: {
      if (!AllOf(l, [](const Literal& i) { return i.Is(Literal::kString); })) return {};
      ir::Strings strings;
      for (const Literal& item : l.items) strings.push_back(item.text);
      return c.StringsAttr(strings);
    }
    default:
      return {};
  }
}

}  // namespace

bool AttributeOf(const Literal& literal, const ir::FieldDef& field, ir::IrContext& context,
                 Diagnostics* mistakes, ir::Attribute* attribute) {
  *attribute = Convert(literal, field.kind, context);
  if (!*attribute)
    return mistakes->Error(literal.at,
                           fmt::format("attribute '{}' must be {}, not {}", field.name.str(),
                                       KindName(field.kind), literal.Describe()));
  if (field.accepts(*attribute)) return true;
  return mistakes->Error(literal.at,
                         fmt::format("attribute '{}' must be one of {}, not {}", field.name.str(),
                                     fmt::join(field.enumerators, ", "), literal.Describe()));
}

}  // namespace weft::drr::text
