// Types and attributes, as they stand in an operation.
#include "ir/text/internal/literals.h"
#include "ir/text/internal/printer.h"

namespace weft::ir::text {
namespace {

template <class List, class F>
void AppendList(std::string* out, std::string_view open, const List& list, F&& append) {
  *out += open;
  bool first = true;
  for (const auto& item : list) {
    if (!first) *out += ',';
    first = false;
    append(item);
  }
  *out += ']';
}

}  // namespace

void Printer::TypeText(Type type) {
  if (types_.Copy(type.id(), &out_)) return;
  const size_t begin = out_.size();
  AppendType(&out_, type);
  types_.Remember(type.id(), begin, out_.size());
}

void Printer::Elements(Attribute dense) {
  out_ += '[';
  const int64_t count = dense.dense_type().NumElements();
  for (int64_t i = 0; i < count; ++i) {
    if (i) out_ += ',';
    AppendElement(&out_, dense, i);
  }
  out_ += ']';
}

// Contents that are too long to stand inline.
void Printer::Weights(Attribute dense) {
  const auto bytes = dense.bytes();
  const bool is_strings = !dense.dense_strings().empty();
  if (is_strings && (options_.full_weights || !options_.weights_file.empty()))
    return Elements(dense);
  if (options_.full_weights) {
    out_ += "hex \"";
    out_.reserve(out_.size() + 2 * bytes.size() + 2);
    for (std::byte b : bytes) AppendHex(&out_, static_cast<uint64_t>(b), 2);
    out_ += '"';
    return;
  }
  if (!options_.weights_file.empty()) {
    if (!layout_) layout_.emplace(*program_, options_);
    const std::string_view file = options_.weights_file;
    out_ += "file ";
    AppendQuoted(&out_, file.substr(file.rfind('/') + 1));
    out_ += " at ";
    AppendUInt(&out_, layout_->OffsetOf(dense));
    out_ += " size ";
    AppendUInt(&out_, bytes.size());
    return;
  }
  uint64_t hash = HashBytes(bytes);
  for (const std::string& s : dense.dense_strings())
    hash = hash * 31 + HashBytes(std::as_bytes(std::span(s)));
  out_ += "elided \"";
  AppendHex(&out_, hash, 16);
  out_ += '-';
  AppendUInt(&out_, is_strings ? dense.dense_strings().size() : bytes.size());
  out_ += '"';
}

void Printer::Dense(Attribute dense) {
  out_ += "dense<";
  TypeText(dense.dense_type());
  out_ += ", ";
  if (dense.IsElided()) {
    out_ += "elided ";
    AppendQuoted(&out_, dense.AsString());
  } else if (IsInline(dense, options_)) {
    Elements(dense);
  } else {
    Weights(dense);
  }
  out_ += '>';
}

void Printer::Attr(Attribute attr) {
  switch (attr.kind()) {
    case AttrKind::kUnit:
      return;
    case AttrKind::kBool:
      out_ += attr.AsBool() ? "true" : "false";
      return;
    case AttrKind::kInt:
      return AppendInt(&out_, attr.AsInt());
    case AttrKind::kFloat:
      return AppendFloat(&out_, attr.AsFloat());
    case AttrKind::kDouble:
      AppendDouble(&out_, attr.AsDouble());
      out_ += "f64";
      return;
    case AttrKind::kString:
      return AppendQuoted(&out_, attr.AsString());
    case AttrKind::kInts:
      return AppendList(&out_, "array[", attr.AsInts(), [&](int64_t v) { AppendInt(&out_, v); });
    case AttrKind::kFloats:
      return AppendList(&out_, "floats[", attr.AsFloats(), [&](float v) { AppendFloat(&out_, v); });
    case AttrKind::kStrings:
      return AppendList(&out_, "strings[", attr.AsStrings(),
                        [&](const std::string& v) { AppendQuoted(&out_, v); });
    case AttrKind::kDataType:
      out_ += DataTypeLongName(attr.AsDataType());
      return;
    case AttrKind::kType: {
      const bool bare = attr.AsType() && attr.AsType().kind() != TypeKind::kNone;
      if (!bare) out_ += "type<";
      TypeText(attr.AsType());
      if (!bare) out_ += '>';
      return;
    }
    case AttrKind::kDense:
      return Dense(attr);
    case AttrKind::kVerbatim:
      if (IsCallToken(attr.AsString())) {
        out_ += attr.AsString();
      } else {
        out_ += "verbatim ";
        AppendQuoted(&out_, attr.AsString());
      }
  }
}

void Printer::Attrs(AttrDict attrs) {
  if (attrs.empty()) {
    out_ += "{}";
    return;
  }
  if (attrs_.Copy(attrs.id(), &out_)) return;
  const size_t begin = out_.size();
  out_ += '{';
  for (const NamedAttribute& entry : attrs) {
    if (&entry != attrs.begin()) out_ += ',';
    AppendName(&out_, entry.name.str());
    if (!entry.value) {
      out_ += ":<<NULL ATTRIBUTE>>";
    } else if (!entry.value.Is(AttrKind::kUnit)) {
      out_ += ':';
      Attr(entry.value);
    }
  }
  out_ += '}';
  attrs_.Remember(attrs.id(), begin, out_.size());
}

}  // namespace weft::ir::text
