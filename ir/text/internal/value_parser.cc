#include "ir/text/internal/value_parser.h"

#include <fmt/format.h>

#include "ir/text/internal/numbers.h"

namespace weft::ir::text {
namespace {

constexpr size_t kMaxCachedText = 1024;

std::string_view KindName(AttrKind kind) {
  static constexpr std::string_view kNames[] = {
      "no value", "a bool",         "an integer",      "a float", "a double",
      "a string", "integers",       "floats",          "strings", "an element type",
      "a type",   "a dense tensor", "a verbatim token"};
  return kNames[static_cast<size_t>(kind)];
}

// Past the brace that closes the dictionary which begins at `p`; null when it is long or does not
// end on its line.
const char* EndOfDict(const char* p, const char* end) {
  if (end - p > static_cast<std::ptrdiff_t>(kMaxCachedText)) end = p + kMaxCachedText;
  for (; p != end && *p != '\n'; ++p) {
    if (*p == '}') return p + 1;
    if (*p != '"') continue;
    for (++p; p != end && *p != '"' && *p != '\n'; ++p)
      if (*p == '\\' && p + 1 != end) ++p;
    if (p == end || *p == '\n') break;
  }
  return nullptr;
}

}  // namespace

bool ValueParser::ParseAttrs(Opcode opcode, const OpDef* def, AttrDict* attrs) {
  const char* begin = s_.position();
  const char* end = EndOfDict(begin, s_.end());
  if (!end) return ParseAttrsSlowly(def, attrs);
  const std::string_view text(begin, static_cast<size_t>(end - begin));
  if (text == "{}") {
    *attrs = AttrDict();
    s_.set_position(end);
    return true;
  }
  const std::pair<uint16_t, std::string_view> key(opcode.id(), text);
  if (auto it = dicts_.find(key); it != dicts_.end()) {
    *attrs = it->second;
    s_.set_position(end);
    return true;
  }
  if (!ParseAttrsSlowly(def, attrs)) return false;
  if (s_.raw_position() == end) dicts_.emplace(key, *attrs);
  return true;
}

bool ValueParser::ParseAttrsSlowly(const OpDef* def, AttrDict* attrs) {
  const char* at = s_.position();
  if (!s_.Expect('{', "before the attributes")) return false;
  std::vector<NamedAttribute> entries;
  if (!s_.Consume('}')) {
    do {
      const char* name_at = s_.position();
      std::string_view text = s_.Name();
      if (text.empty() && s_.Peek() == '"') {
        if (!s_.String(&text)) return false;
      } else if (text.empty()) {
        return s_.Fail(name_at, "expected the name of an attribute but found " + s_.Found());
      }
      NamedAttribute entry{Name(text), Attribute()};
      const FieldDef* field = def ? def->FindField(entry.name) : nullptr;
      if (s_.Consume(':')) {
        if (!ParseAttribute(field, &entry.value)) return false;
      } else {
        entry.value = context_.UnitAttr();
      }
      entries.push_back(entry);
    } while (s_.Consume(','));
    if (!s_.Expect('}', "after the attributes")) return false;
  }
  const size_t count = entries.size();
  *attrs = context_.Dict(std::move(entries));
  return attrs->size() == count || s_.Fail(at, "an attribute is given twice");
}

bool ValueParser::ParseAttribute(const FieldDef* field, Attribute* attr) {
  const char* at = s_.position();
  if (!ParseValue(field, attr)) return false;
  if (!field || !field->accepts || !*attr || field->accepts(*attr)) return true;
  if (field->enumerators.empty())
    return s_.Fail(at, fmt::format("attribute {} is {} but must be {}", field->name.str(),
                                   KindName(attr->kind()), KindName(field->kind)));
  return s_.Fail(at, fmt::format("attribute {} must be one of {}", field->name.str(),
                                 fmt::join(field->enumerators, ", ")));
}

bool ValueParser::ParseValue(const FieldDef* field, Attribute* attr) {
  const char c = s_.Peek();
  const char* at = s_.raw_position();
  if (c == '"') {
    std::string_view text;
    if (!s_.String(&text)) return false;
    *attr = context_.StringAttr(text);
    return true;
  }
  if (s_.Consume("<<NULL ATTRIBUTE>>")) {
    *attr = Attribute();
    return true;
  }
  if (IsWordStart(c)) return ParseWord(at, field, attr);
  const std::string_view text = s_.BareValue();
  if (text.empty()) return s_.Fail(at, "expected a value but found " + s_.Found());
  return Scalar(at, text, field, attr);
}

bool ValueParser::ParseWord(const char* at, const FieldDef* field, Attribute* attr) {
  const std::string_view word = s_.Name();
  const char next = s_.raw_position() == s_.end() ? '\0' : *s_.raw_position();
  if (next == '<' && word == "dense") return ParseDense(attr);
  if ((next == '[' && word == "vec") || (next == '<' && word != "type")) {
    s_.set_position(at);
    Type type;
    if (!ParseType(&type)) return false;
    *attr = context_.TypeAttr(type);
    return true;
  }
  if (next == '<') {  // type<none>
    Type type;
    s_.Consume('<');
    if (!ParseType(&type) || !s_.Expect('>', "after the type")) return false;
    *attr = context_.TypeAttr(type);
    return true;
  }
  if (next == '[') return ParseList(word, field, attr);
  if (next == '(') return ParseCall(at, field, attr);
  if (word == "verbatim" && s_.Peek() == '"') {
    std::string_view text;
    if (!s_.String(&text)) return false;
    *attr = context_.VerbatimAttr(text);
    return true;
  }
  s_.set_position(at);
  return Scalar(at, s_.BareValue(), field, attr);
}

bool ValueParser::ParseCall(const char* at, const FieldDef* field, Attribute* attr) {
  const char* close = s_.raw_position();
  while (close != s_.end() && *close != ')' && *close != '\n') ++close;
  const bool closed = close != s_.end() && *close == ')';
  const std::string_view text(at, static_cast<size_t>(close - at) + (closed ? 1 : 0));
  if (!closed || !IsCallToken(text)) return s_.Fail(at, "expected a token such as Place(cpu)");
  s_.set_position(close + 1);
  const bool as_string = field && field->kind == AttrKind::kString;
  *attr = as_string ? context_.StringAttr(text) : context_.VerbatimAttr(text);
  return true;
}

bool ValueParser::Scalar(const char* at, std::string_view text, const FieldDef* field,
                         Attribute* attr) {
  switch (field ? field->kind : AttrKind::kDense) {
    case AttrKind::kBool:  // listings have 0 and 1
      if (text == "0" || text == "1") {
        *attr = context_.BoolAttr(text == "1");
        return true;
      }
      break;
    case AttrKind::kFloat: {  // and floats without a point
      float value = 0;
      if (ParseNumber(text, &value) != NumberError::kNone) break;
      *attr = context_.FloatAttr(value);
      return true;
    }
    case AttrKind::kDouble: {
      double value = 0;
      if (ParseNumber(text, &value) != NumberError::kNone) break;
      *attr = context_.DoubleAttr(value);
      return true;
    }
    case AttrKind::kString:
      *attr = context_.StringAttr(text);
      return true;
    case AttrKind::kDataType: {
      DataType dtype = DataType::kNull;
      if (!ParseDataType(text, &dtype))
        return s_.Fail(at, fmt::format("unknown element type {}", text));
      *attr = context_.DataTypeAttr(dtype);
      return true;
    }
    default:
      break;
  }
  return UntypedScalar(at, text, attr);
}

bool ValueParser::UntypedScalar(const char* at, std::string_view text, Attribute* attr) {
  if (text == "true" || text == "false") {
    *attr = context_.BoolAttr(text == "true");
    return true;
  }
  int64_t integer = 0;
  const NumberError integer_error = ParseNumber(text, &integer);
  if (integer_error == NumberError::kNone) {
    *attr = context_.IntAttr(integer);
    return true;
  }
  if (integer_error == NumberError::kOutOfRange)
    return s_.Fail(at, NumberMessage(integer_error, text, "a 64 bit integer"));
  NumberError real_error;
  std::string_view kind = "a 32 bit float";
  if (text.size() > 3 && text.substr(text.size() - 3) == "f64") {
    double value = 0;
    kind = "a 64 bit float";
    real_error = ParseNumber(text.substr(0, text.size() - 3), &value);
    if (real_error == NumberError::kNone) *attr = context_.DoubleAttr(value);
  } else {
    float value = 0;
    real_error = ParseNumber(text, &value);
    if (real_error == NumberError::kNone) *attr = context_.FloatAttr(value);
  }
  if (real_error == NumberError::kNone) return true;
  if (real_error == NumberError::kOutOfRange || !IsWordStart(text[0]))
    return s_.Fail(at, NumberMessage(real_error, text, kind));
  DataType dtype = DataType::kNull;
  if (ParseDataType(text, &dtype) && text == DataTypeLongName(dtype)) {
    *attr = context_.DataTypeAttr(dtype);
  } else {
    *attr = context_.StringAttr(text);  // a bare word, as in listings: NCHW
  }
  return true;
}

// array[...] and IntArray[...] hold integers; where the op wants something else, that; and floats
// or strings where an element is no integer.
bool ValueParser::ParseList(std::string_view word, const FieldDef* field, Attribute* attr) {
  const char* at = s_.position() - word.size();
  if (word != "array" && word != "IntArray" && word != "floats" && word != "strings")
    return s_.Fail(
        at, fmt::format("unknown list {}[...]; known are array, IntArray, floats, strings", word));
  s_.Consume('[');
  AttrKind kind = word == "floats"    ? AttrKind::kFloats
                  : word == "strings" ? AttrKind::kStrings
                                      : AttrKind::kInts;
  if (kind == AttrKind::kInts && field &&
      (field->kind == AttrKind::kFloats || field->kind == AttrKind::kStrings))
    kind = field->kind;
  struct Element {
    const char* at;
    std::string_view text;
  };
  std::vector<Element> elements;
  if (!s_.Consume(']')) {
    do {
      Element& e = elements.emplace_back(Element{s_.position(), {}});
      if (s_.Peek() == '"') {
        if (!s_.String(&e.text)) return false;
        if (kind == AttrKind::kInts && word == "array") kind = AttrKind::kStrings;
        if (kind != AttrKind::kStrings)
          return s_.Fail(e.at, "expected a number but found a string");
      } else if (e.text = s_.BareValue(); e.text.empty()) {
        return s_.Fail(e.at, "expected an element but found " + s_.Found());
      }
    } while (s_.Consume(','));
    if (!s_.Expect(']', "after the elements of a list")) return false;
  }
  Ints ints;
  Floats floats;
  Strings strings;
  for (size_t i = 0; i < elements.size() && kind == AttrKind::kInts; ++i) {
    const auto& e = elements[i];
    const NumberError error = ParseNumber(e.text, &ints.emplace_back());
    if (error == NumberError::kNone) continue;
    float value = 0;
    const bool is_real = ParseNumber(e.text, &value) == NumberError::kNone;
    if (error == NumberError::kOutOfRange || !is_real)
      return s_.Fail(e.at, NumberMessage(error, e.text, "a 64 bit integer"));
    kind = AttrKind::kFloats;
  }
  if (kind == AttrKind::kInts) {
    *attr = context_.IntsAttr(ints);
  } else if (kind == AttrKind::kStrings) {
    for (const Element& e : elements) strings.emplace_back(e.text);
    *attr = context_.StringsAttr(strings);
  } else {
    for (const Element& e : elements) {
      const NumberError error = ParseNumber(e.text, &floats.emplace_back());
      if (error != NumberError::kNone)
        return s_.Fail(e.at, NumberMessage(error, e.text, "a 32 bit float"));
    }
    *attr = context_.FloatsAttr(floats);
  }
  return true;
}

}  // namespace weft::ir::text
