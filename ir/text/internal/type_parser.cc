// Types: what ValueParser::ParseType reads.
#include <fmt/format.h>

#include "ir/text/internal/value_parser.h"

namespace weft::ir::text {
namespace {

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

}  // namespace

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
  if (word == "seq" || word == "optional") return ParseElement(word == "seq", type, depth);
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
  if (!s_.Consume("<<NULL TYPE>>") && !s_.Consume("?")) {
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
    } else if (c == '?' && at + 1 != s_.end() && at[1] == '>') {
      return true;  // the element type
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

bool ValueParser::ParseElement(bool is_sequence, Type* type, int depth) {
  if (depth == kMaxTypeDepth) return s_.Fail("types are nested too deeply");
  if (!s_.Expect('<', is_sequence ? "after seq" : "after optional")) return false;
  const char* at = s_.position();
  Type element;
  if (!ParseType(&element, depth + 1)) return false;
  if (!element ||
      !(element.IsTensor() || element.HasElement() || element.kind() == TypeKind::kOpaque))
    return s_.Fail(at, "expected tensor, seq or optional as element");
  if (!s_.Expect('>', "after the type of the element")) return false;
  *type = is_sequence ? context_.SequenceType(element) : context_.OptionalType(element);
  return true;
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

}  // namespace weft::ir::text
