// Expressions in a normal form, to see whether two pieces of graph compute the same: products of
// powers and sums with coefficients for floating-point arithmetic (so x * x is x^2, a / b is
// a * b^-1, operand orders and brackets do not matter, and constants agree to 1e-6), reference
// bodies in place of the ops that have one, the new shape in place of reshapes, and the op itself,
// on operands of the same types, for everything else. Forms are equal if they are so once products
// of sums are multiplied out, as long as that makes at most kMaxMonomials summands: what makes more
// stays a product. Equal forms compute the same in real arithmetic; different forms prove nothing.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/program.h"

namespace weft::drr::text {

// coefficient * term, where kOne is the term of plain numbers.
struct Expression {
  static constexpr int kOne = 0;
  double coefficient = 1;
  int term = kOne;
  bool IsNumber() const { return term == kOne; }
};

class NormalForms {
 public:
  // Bodies are built in a scratch program of this context.
  explicit NormalForms(ir::IrContext* context);

  // A value of the scratch program that stands for `value`: equal values, equal expressions. Null
  // when its type is not a ranked tensor of known element type.
  ir::Value StandIn(ir::Value value);
  ir::Builder& scratch() { return builder_; }

  // Of a value of the scratch program, or of one outside of it: there only `inside` are looked
  // into, everything else but constants stands for itself.
  Expression Of(ir::Value value, std::span<const ir::Operation> inside = {});

  bool Equal(const Expression& a, const Expression& b);
  std::string ToString(const Expression& expression, size_t max_chars) const;
  // "", or the bound that kept an expression from being looked at in full: it may then differ from
  // an equal one.
  std::string WhyNotInFull() const;
  // Characters of all keys that were made, which the time goes into.
  size_t work() const { return work_; }

 private:
  static constexpr int kMaxDepth = 200;  // of ops
  static constexpr size_t kMaxTerms = 50'000;
  static constexpr size_t kMaxMonomials = 1000;
  static constexpr double kTolerance = 1e-6;  // within which constants are one

  struct Part {  // of a sum: coefficient * term; of a product: term to the power of a number
    int term;
    double number;
  };
  struct Term {
    enum Kind : uint8_t { kOne, kLeaf, kSum, kProduct, kOp };
    Kind kind = kOne;
    std::string name;         // of an op or leaf
    std::vector<Part> parts;  // of an op: its operands, with their coefficients
    double constant = 0;      // of a sum
    // Of an op: all that tells it from others but its operands, and their types.
    std::string head;
    std::vector<std::string> types;
    bool commutative = false;
  };

  int Intern(const std::string& key, Term term);
  int NumberOf(double value);  // the same for numbers that agree to 1e-6
  Expression Leaf(const std::string& key, std::string name);
  Expression Sum(const std::vector<Expression>& summands);
  Expression Product(const Expression& a, const Expression& b);
  Expression Power(const Expression& base, double exponent);
  Expression MakeProduct(double coefficient, const std::vector<Part>& factors);
  // (x + y) * (a + b) becomes x * a + x * b + y * a + y * b, in all of the expression.
  Expression Expanded(const Expression& expression);
  Expression ExpandedTerm(const Term& term);
  Expression ExpandedProduct(const Term& product);
  std::vector<Expression> Summands(const Expression& expression) const;
  bool Same(const Expression& a, const Expression& b) const;

  Expression MakeOp(Term op);
  Expression OfReshape(ir::Operation op, const Expression& operand);
  Expression OfConstant(ir::Value value, ir::Attribute dense);
  Expression OfOperation(ir::Operation op, uint32_t result, std::span<const ir::Operation> inside);
  bool OfArithmetic(ir::Operation op, const std::vector<Expression>& operands, Expression* result);
  bool OfBody(ir::Operation op, uint32_t result, const std::vector<Expression>& operands,
              Expression* expression);
  std::string AttributesKey(ir::Operation op) const;
  void Append(const Expression& expression, size_t max_chars, std::string* out) const;
  void AppendTerm(int term, size_t max_chars, std::string* out) const;

  ir::Program program_;
  ir::Builder builder_;
  std::vector<Term> terms_;
  std::map<std::string, int> by_key_;
  std::map<double, int> numbers_;
  std::map<int, Expression> expanded_;                     // by term
  std::map<std::pair<bool, uint32_t>, Expression> known_;  // by: in the scratch program, value id
  std::map<uint32_t, ir::Value> stand_ins_;                // by value id
  int depth_ = 0;
  size_t work_ = 0;
  bool gave_up_ = false;             // an expression is not known in full: nothing is equal to it
  bool too_many_monomials_ = false;  // some product was not multiplied out
};

}  // namespace weft::drr::text
