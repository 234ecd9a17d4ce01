// Reads expressions of dimensions: the text that DimExpr writes, and what PyTorch writes as dim_param.
#include <string>

#include "ir/dim/dim_expr.h"

namespace weft::ir {
namespace {

constexpr int kMaxDepth = 32;
constexpr int64_t kMaxDivisor = 1 << 20;  // of fractions inside floor() and ceiling()
constexpr int64_t kMaxPower = 8;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsNameChar(char c) { return IsNameStart(c) || IsDigit(c) || c == '.'; }

// numerator / divisor: 1 but for what floor() and ceiling() round.
struct Fraction {
  DimExpr numerator;
  int64_t divisor = 1;
};

// Each function returns false where the text is no expression.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool Read(DimExpr* e) {
    Fraction value;
    if (!Sum(&value) || at_ != text_.size() || value.divisor != 1) return false;
    *e = value.numerator;
    return e->known();
  }

 private:
  bool Sum(Fraction* sum) {
    if (++depth_ > kMaxDepth) return false;
    const bool negative = Take("-");
    if (!Product(sum)) return false;
    if (negative) sum->numerator = sum->numerator * -1;
    for (;;) {
      const bool minus = Take(" - ");
      if (!minus && !TakeSpaced("+")) break;
      Fraction next;
      if (!Product(&next)) return false;
      const DimExpr right = next.numerator * (minus ? -sum->divisor : sum->divisor);
      sum->numerator = sum->numerator * next.divisor + right;
      if (!SetDivisor(sum, next.divisor)) return false;
    }
    --depth_;
    return true;
  }

  bool Product(Fraction* product) {
    if (!Power(product)) return false;
    for (;;) {
      const bool floors = TakeSpaced("//"), divides = !floors && TakeSpaced("/");
      const bool remainder = !floors && !divides && TakeSpaced("%");
      if (!floors && !divides && !remainder && !TakeSpaced("*")) return true;
      Fraction next;
      if (!Power(&next) || next.divisor != 1) return false;
      if (divides) {
        const auto divisor = next.numerator.number();
        if (!divisor || !SetDivisor(product, *divisor)) return false;
      } else if (floors || remainder) {
        if (product->divisor != 1) return false;
        product->numerator = Quotient(product->numerator, next.numerator, remainder);
      } else {
        product->numerator = product->numerator * next.numerator;
      }
      if (!product->numerator.known()) return false;
    }
  }

  bool Power(Fraction* power) {
    if (!Primary(power)) return false;
    if (!Take("**")) return true;
    int64_t exponent = 0;
    if (!Number(&exponent) || exponent < 1 || exponent > kMaxPower || power->divisor != 1)
      return false;
    const DimExpr base = power->numerator;
    for (int64_t i = 1; i < exponent; ++i) power->numerator = power->numerator * base;
    return true;
  }

  bool Primary(Fraction* value) {
    if (IsDigit(Peek())) {
      int64_t number = 0;
      if (!Number(&number)) return false;
      value->numerator = number;
      return true;
    }
    if (Take("(")) return Sum(value) && Take(")");
    if (Peek() == '\'') return QuotedSymbol(value);
    if (!IsNameStart(Peek())) return false;
    const size_t begin = at_;
    while (IsNameChar(Peek())) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (Take("(")) return Function(name, value);
    value->numerator = DimExpr::OfDim(SymbolicDim(name));
    return true;
  }

  // 'a name', where '' is a quote in it.
  bool QuotedSymbol(Fraction* value) {
    std::string name;
    for (++at_;;) {
      if (Take("''")) {
        name += '\'';
      } else if (Take("'")) {
        break;
      } else if (at_ == text_.size()) {
        return false;
      } else {
        name += text_[at_++];
      }
    }
    const int64_t symbol = SymbolicDim(name);
    value->numerator = DimExpr::OfDim(symbol);
    return !IsExpressionDim(symbol);
  }

  // name( has been read.
  bool Function(std::string_view name, Fraction* value) {
    if (name == "floor" || name == "ceiling") {
      if (!Sum(value) || !Take(")")) return false;
      value->numerator = name == "floor" ? FloorDiv(value->numerator, value->divisor)
                                         : CeilDiv(value->numerator, value->divisor);
      value->divisor = 1;
      return value->numerator.known();
    }
    const bool is_max = name == "max" || name == "Max", is_min = name == "min" || name == "Min";
    const bool is_mod = name == "Mod";
    if (!is_max && !is_min && !is_mod) return false;
    std::vector<DimExpr> arguments;
    do {
      Fraction next;
      if (!Sum(&next) || next.divisor != 1) return false;
      arguments.push_back(next.numerator);
    } while (Take(", ") || Take(","));
    if (!Take(")") || (is_mod && arguments.size() != 2)) return false;
    value->numerator = is_max   ? Max(arguments)
                       : is_min ? Min(arguments)
                                : Quotient(arguments[0], arguments[1], true);
    return value->numerator.known();
  }

  static DimExpr Quotient(const DimExpr& a, const DimExpr& b, bool remainder) {
    const DimExpr quotient = FloorDiv(a, b);
    return remainder ? a - b * quotient : quotient;
  }

  static bool SetDivisor(Fraction* value, int64_t factor) {
    if (factor < 1 || factor > kMaxDivisor || value->divisor * factor > kMaxDivisor) return false;
    value->divisor *= factor;
    return true;
  }

  bool Number(int64_t* number) {
    if (!IsDigit(Peek())) return false;
    *number = 0;
    for (; IsDigit(Peek()); ++at_)
      if (__builtin_mul_overflow(*number, 10, number) ||
          __builtin_add_overflow(*number, Peek() - '0', number))
        return false;
    return !IsNameChar(Peek());
  }

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool Take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  bool TakeSpaced(const std::string& token) { return Take(" " + token + " ") || Take(token); }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<DimExpr> ParseDimExpr(std::string_view text) {
  if (text.size() > DimExpr::kMaxText || text.find_first_of("+-*/%(") == text.npos)
    return std::nullopt;
  DimExpr e;
  if (!Reader(text).Read(&e) || !IsExpressionDim(e.ToDim())) return std::nullopt;
  return e;
}

}  // namespace weft::ir
