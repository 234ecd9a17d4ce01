#include "ir/text/internal/value_parser.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "ir/builder.h"
#include "ir/constant.h"
#include "ir/text/internal/numbers.h"

namespace weft::ir::text {
namespace {

constexpr int kMaxTypeDepth = 64;
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

// Past the '>' that closes "<...>" without quotes or inner brackets; null otherwise.
const char* EndOfSimpleType(const char* p, const char* end) {
  if (p == end || *p != '<') return nullptr;
  for (++p; p != end; ++p) {
    if (*p == '>') return p + 1;
    if (*p == '<' || *p == '"' || *p == '\n' || *p == '/') return nullptr;
  }
  return nullptr;
}

// Whether the elements, the zeros among the dims left out, can be counted in bytes with 64 bits.
bool SizeFits(std::span<const int64_t> dims) {
  int64_t size = 16;  // bytes of the largest element
  for (int64_t dim : dims)
    if (dim > 0 && __builtin_mul_overflow(size, dim, &size)) return false;
  return true;
}

template <class T>
NumberError AppendBytes(std::string_view text, std::vector<std::byte>* bytes) {
  T value{};
  const NumberError error = ParseNumber(text, &value);
  const auto* raw = reinterpret_cast<const std::byte*>(&value);
  bytes->insert(bytes->end(), raw, raw + sizeof(T));
  return error;
}

NumberError AppendHalfBytes(DataType dtype, std::string_view text, std::vector<std::byte>* bytes) {
  if (uint64_t bits = 0; ParseNanBits(text, 4, &bits)) {
    for (int shift : {0, 8}) bytes->push_back(static_cast<std::byte>(bits >> shift & 255));
    return NumberError::kNone;
  }
  float value = 0;
  if (const auto error = ParseNumber(text, &value); error != NumberError::kNone) return error;
  const std::vector<std::byte> half = ElementBytes(dtype, value);
  const std::vector<std::byte> infinity = ElementBytes(dtype, std::copysign(INFINITY, value));
  bytes->insert(bytes->end(), half.begin(), half.end());
  return std::isfinite(value) && half == infinity ? NumberError::kOutOfRange : NumberError::kNone;
}

NumberError AppendRealBytes(DataType dtype, std::string_view text, std::vector<std::byte>* bytes) {
  switch (dtype) {
    case DataType::kF32:
    case DataType::kC64:
      return AppendBytes<float>(text, bytes);
    case DataType::kF64:
    case DataType::kC128:
      return AppendBytes<double>(text, bytes);
    case DataType::kF16:
    case DataType::kBF16:
      return AppendHalfBytes(dtype, text, bytes);
    case DataType::kBool:
      if (text == "true" || text == "false") text = text == "true" ? "1" : "0";
      return AppendBytes<uint8_t>(text, bytes);
    case DataType::kU8:
      return AppendBytes<uint8_t>(text, bytes);
    case DataType::kI8:
      return AppendBytes<int8_t>(text, bytes);
    case DataType::kU16:
      return AppendBytes<uint16_t>(text, bytes);
    case DataType::kI16:
      return AppendBytes<int16_t>(text, bytes);
    case DataType::kU32:
      return AppendBytes<uint32_t>(text, bytes);
    case DataType::kI32:
      return AppendBytes<int32_t>(text, bytes);
    case DataType::kU64:
      return AppendBytes<uint64_t>(text, bytes);
    case DataType::kI64:
      return AppendBytes<int64_t>(text, bytes);
    default:
      return NumberError::kMalformed;
  }
}

std::string NumberMessage(NumberError error, std::string_view text, std::string_view what) {
  if (error == NumberError::kOutOfRange)
    return fmt::format("{} is out of range for {}", text, what);
  return fmt::format("'{}' is not {}", text, what);
}

}  // namespace

// --- types ------------------------------------------------------------------

bool ValueParser::ParseType(Type* type, int depth) {
  const char* at = s_.position();
  if (s_.Consume("<<NULL TYPE>>")) {
    *type = Type();
    return true;
  }
  const std::string_view word = s_.Name();
  if (word == "tensor" || word == "pd.tensor") {
    const char* begin = s_.raw_position();
    const char* end = EndOfSimpleType(begin, s_.end());
    if (!end) return ParseTensor(type);
    const std::string_view text(begin, static_cast<size_t>(end - begin));
    if (auto it = types_.find(text); it != types_.end()) {
      *type = it->second;
      s_.set_position(end);
      return true;
    }
    if (!ParseTensor(type)) return false;
    if (s_.raw_position() == end) types_.emplace(text, *type);
    return true;
  }
  if (word == "vec") return ParseVector(type, depth);
  if (word == "none") {
    *type = context_.NoneType();
    return true;
  }
  if (word == "opaque") {
    std::string_view text;
    if (!s_.Expect('<', "after opaque") || !s_.String(&text) ||
        !s_.Expect('>', "after the opaque type"))
      return false;
    *type = context_.OpaqueType(text);
    return true;
  }
  if (word.empty()) return s_.Fail(at, "expected a type but found " + s_.Found());
  return s_.Fail(at, fmt::format("unknown type {}", word));
}

bool ValueParser::ParseTensor(Type* type) {
  const char* at = s_.position();
  if (!s_.Expect('<', "after tensor")) return false;
  const bool ranked = !s_.Consume("*x");
  Shape dims;
  if (ranked && !ParseDims(&dims)) return false;
  DataType dtype = DataType::kNull;
  if (!s_.Consume("<<NULL TYPE>>")) {
    const char* dtype_at = s_.position();
    const std::string_view name = s_.Name();
    if (name.empty()) return s_.Fail("expected an element type but found " + s_.Found());
    if (!ParseDataType(name, &dtype))
      return s_.Fail(dtype_at, fmt::format("unknown element type {}", name));
  }
  if (!s_.Expect('>', "after the element type")) return false;
  if (!SizeFits(dims)) return s_.Fail(at, "the size of the tensor does not fit in 64 bits");
  *type = ranked ? context_.TensorType(dtype, dims) : context_.UnrankedTensorType(dtype);
  return true;
}

bool ValueParser::ParseDims(Shape* dims) {
  for (;;) {
    const char c = s_.Peek();
    const char* at = s_.raw_position();
    if (IsDigit(c)) {
      uint64_t value = 0;
      if (!s_.Digits(&value)) return false;
      if (value > INT64_MAX) return s_.Fail(at, "the dimension is out of range");
      dims->push_back(static_cast<int64_t>(value));
    } else if (c == '"') {
      std::string_view symbol;
      if (!s_.String(&symbol)) return false;
      dims->push_back(SymbolicDim(symbol));
    } else if (c == '?' || c == '-') {
      if (!s_.Consume("?") && !s_.Consume("-1"))
        return s_.Fail(at, "a dimension is -1, ? or at least 0");
      dims->push_back(kUnknownDim);
    } else {
      return true;
    }
    if (!s_.Consume('x')) return s_.Fail("expected 'x' after a dimension but found " + s_.Found());
  }
}

bool ValueParser::ParseVector(Type* type, int depth) {
  if (depth == kMaxTypeDepth) return s_.Fail("types are nested too deeply");
  if (!s_.Expect('[', "after vec")) return false;
  std::vector<Type> elements;
  if (!s_.Consume(']')) {
    do {
      if (!ParseType(&elements.emplace_back(), depth + 1)) return false;
    } while (s_.Consume(','));
    if (!s_.Expect(']', "after the types of a vector")) return false;
  }
  *type = context_.VectorType(elements);
  return true;
}

// --- attributes -------------------------------------------------------------

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

// --- dense contents ---------------------------------------------------------

bool ValueParser::ParseDense(Attribute* attr) {
  s_.Consume('<');
  const char* at = s_.position();
  Type type;
  if (!ParseType(&type)) return false;
  if (!type.IsTensor()) return s_.Fail(at, "dense contents want a tensor type");
  if (!s_.Expect(',', "after the type of dense contents")) return false;
  if (s_.ConsumeWord("elided")) {
    std::string_view label;
    if (!s_.String(&label)) return false;
    *attr = context_.ElidedDenseAttr(type, label);
  } else if (!type.IsStatic() || (type.NumBytes() < 0 && type.dtype() != DataType::kString)) {
    return s_.Fail(at, "dense contents want a type of known size");
  } else if (s_.Peek() == '[') {
    if (!ParseElements(type, attr)) return false;
  } else if (s_.ConsumeWord("hex")) {
    if (!ParseHex(type, attr)) return false;
  } else if (s_.ConsumeWord("file")) {
    if (!ParseSideFile(type, attr)) return false;
  } else {
    return s_.Fail("expected [, elided, hex or file but found " + s_.Found());
  }
  return s_.Expect('>', "after dense contents");
}

bool ValueParser::ParseElement(DataType dtype, std::vector<std::byte>* bytes) {
  const bool is_complex = dtype == DataType::kC64 || dtype == DataType::kC128;
  if (is_complex && !s_.Expect('(', "before a complex number")) return false;
  for (int part = 0; part < (is_complex ? 2 : 1); ++part) {
    if (part > 0 && !s_.Expect(',', "between the parts of a complex number")) return false;
    const char* at = s_.position();
    const std::string_view text = s_.BareValue();
    if (text.empty()) return s_.Fail(at, "expected an element but found " + s_.Found());
    const NumberError error = AppendRealBytes(dtype, text, bytes);
    if (error != NumberError::kNone)
      return s_.Fail(at, NumberMessage(error, text, DataTypeLongName(dtype)));
  }
  return !is_complex || s_.Expect(')', "after a complex number");
}

bool ValueParser::ParseElements(Type type, Attribute* attr) {
  const char* at = s_.position();
  s_.Consume('[');
  const bool is_strings = type.dtype() == DataType::kString;
  std::vector<std::byte> bytes;
  Strings strings;
  int64_t count = 0;
  if (!s_.Consume(']')) {
    do {
      ++count;
      if (is_strings) {
        std::string_view text;
        if (!s_.String(&text)) return false;
        strings.emplace_back(text);
      } else if (!ParseElement(type.dtype(), &bytes)) {
        return false;
      }
    } while (s_.Consume(','));
    if (!s_.Expect(']', "after the elements of a tensor")) return false;
  }
  if (count != type.NumElements())
    return s_.Fail(at,
                   fmt::format("the type has {} elements but {} given", type.NumElements(), count));
  *attr = is_strings ? context_.DenseStringsAttr(type, strings) : context_.DenseAttr(type, bytes);
  return true;
}

bool ValueParser::ParseHex(Type type, Attribute* attr) {
  const char* at = s_.position();
  std::string_view digits;
  if (!s_.String(&digits)) return false;
  if (type.NumBytes() < 0 || digits.size() % 2 != 0 ||
      digits.size() / 2 != static_cast<size_t>(type.NumBytes()))
    return s_.Fail(at, fmt::format("{} hexadecimal digits are given but the type has {} bytes",
                                   digits.size(), type.NumBytes()));
  std::byte* bytes = nullptr;
  WeightBuffer buffer = IrContext::AllocateWeightBuffer(digits.size() / 2, &bytes);
  for (size_t i = 0; i < digits.size(); i += 2) {
    const char* p = digits.data() + i;
    uint8_t value = 0;
    const auto result = std::from_chars(p, p + 2, value, 16);
    if (result.ptr != p + 2) {
      buffer.release();
      return s_.Fail(at, fmt::format("'{}' is not hexadecimal", digits.substr(i, 2)));
    }
    bytes[i / 2] = static_cast<std::byte>(value);
  }
  *attr = context_.DenseAttrAdopt(type, std::move(buffer));
  return true;
}

bool ValueParser::ParseSideFile(Type type, Attribute* attr) {
  const char* at = s_.position();
  std::string_view name;
  uint64_t offset = 0, size = 0;
  if (!s_.String(&name)) return false;
  if (!s_.ConsumeWord("at")) return s_.Fail("expected 'at' but found " + s_.Found());
  if (!s_.Digits(&offset)) return false;
  if (!s_.ConsumeWord("size")) return s_.Fail("expected 'size' but found " + s_.Found());
  if (!s_.Digits(&size)) return false;
  if (type.NumBytes() < 0 || size != static_cast<uint64_t>(type.NumBytes()))
    return s_.Fail(
        at, fmt::format("the side file holds {} bytes but the type has {}", size, type.NumBytes()));
  if (offset % ElementSize(type.dtype()) != 0)
    return s_.Fail(at, fmt::format("offset {} is not aligned to the elements", offset));
  const auto bytes = side_files_.Read(std::string(name), offset, size);
  if (!bytes.ok()) return s_.Fail(at, std::string(Message(bytes.status())));
  *attr = context_.DenseAttrView(type, *bytes);
  return true;
}

}  // namespace weft::ir::text
