#include "drr/equivalence/normal_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/reduce.h"
#include "ir/dialects/onnx/shape.h"

namespace weft::drr::text {

using ir::Operation;
using ir::Value;

namespace {

constexpr double kRoundOff = 1e-12;  // of what a sum of coefficients cancels to

bool IsFloatTensor(ir::Type type) { return type.IsTensor() && ir::IsFloat(type.dtype()); }

bool IsPositiveInteger(double x) { return x > 0 && x < 64 && x == std::floor(x); }

// Whether a constant operand of this type acts on `other` as a mere number: broadcasting it does
// not change the rank.
bool IsScalarBeside(ir::Type type, ir::Type other) {
  if (!type.IsStatic() || type.NumElements() != 1) return false;
  return type.rank() == 0 || (other.HasRank() && type.rank() <= other.rank());
}

// f(c * x) is c * f(x), in each operand.
bool IsHomogeneous(Operation op) {
  namespace ops = ir::ops;
  return op.Is<ops::MatMul>() || op.Is<ops::Transpose>() || op.Is<ops::ReduceMean>();
}

// Only the shape changes, to one that is known.
bool IsReshape(Operation op) {
  namespace ops = ir::ops;
  const bool reshapes = op.Is<ops::Reshape>() || op.Is<ops::Flatten>() || op.Is<ops::Squeeze>() ||
                        op.Is<ops::Unsqueeze>();
  return reshapes && op.operand(0) && op.operand(0).type().IsStatic() &&
         op.result().type().IsStatic();
}
constexpr std::string_view kReshape = "reshape";

}  // namespace

NormalForms::NormalForms(ir::IrContext* context)
    : program_(context), builder_(&program_), terms_(1) {}

Value NormalForms::StandIn(Value value) {
  const ir::Type type = value.type();
  if (!type.HasRank() || type.dtype() == ir::DataType::kNull) return {};
  Value& stand_in = stand_ins_[value.id()];
  if (stand_in) return stand_in;
  const ir::Attribute dense = ir::ConstantValue(value);
  stand_in = dense ? builder_.Constant(dense) : builder_.AddInput("", type);
  known_[{true, stand_in.id()}] = known_[{false, value.id()}] = Leaf(
      fmt::format("value {}", value.id()), value.name().empty() ? "" : std::string(value.name()));
  return stand_in;
}

// --- terms ------------------------------------------------------------------------

int NormalForms::Intern(const std::string& key, Term term) {
  const auto [it, inserted] = by_key_.emplace(key, static_cast<int>(terms_.size()));
  if (inserted) terms_.push_back(std::move(term));
  work_ += key.size();
  gave_up_ |= terms_.size() > kMaxTerms;
  return it->second;
}

int NormalForms::NumberOf(double value) {
  const auto agrees = [&](double number) {
    return number == value || std::abs(number - value) <= kTolerance * std::abs(value);
  };
  const auto above = numbers_.lower_bound(value);
  if (above != numbers_.end() && agrees(above->first)) return above->second;
  if (above != numbers_.begin() && agrees(std::prev(above)->first)) return std::prev(above)->second;
  return numbers_.emplace_hint(above, value, static_cast<int>(numbers_.size()))->second;
}

Expression NormalForms::Leaf(const std::string& key, std::string name) {
  Term term;
  term.kind = Term::kLeaf;
  term.name = std::move(name);
  return {1, Intern(key, std::move(term))};
}

// A sum's first coefficient is 1: what it was divided by is the expression's coefficient.
Expression NormalForms::Sum(const std::vector<Expression>& summands) {
  std::map<int, double> parts;
  double constant = 0;
  const auto add = [](double* sum, double x) {
    const double size = std::max(std::abs(*sum), std::abs(x));
    *sum += x;
    if (std::abs(*sum) <= kRoundOff * size) *sum = 0;
  };
  for (const Expression& s : summands) {
    const Term& term = terms_[s.term];
    if (s.IsNumber()) {
      add(&constant, s.coefficient);
    } else if (term.kind == Term::kSum) {
      for (const Part& part : term.parts) add(&parts[part.term], s.coefficient * part.number);
      add(&constant, s.coefficient * term.constant);
    } else {
      add(&parts[s.term], s.coefficient);
    }
  }
  if (parts.empty()) return {constant, Expression::kOne};
  const double lead = parts.begin()->second;
  if (parts.size() == 1 && constant == 0) return {lead, parts.begin()->first};
  const double scale = lead == 0 ? 1 : lead;
  Term sum;
  sum.kind = Term::kSum;
  sum.constant = constant / scale;
  std::string key = fmt::format("sum {}", NumberOf(sum.constant));
  for (const auto& part : parts) {
    sum.parts.push_back({part.first, part.second / scale});
    key += fmt::format(" {}*{}", NumberOf(part.second / scale), part.first);
  }
  return {scale, Intern(key, std::move(sum))};
}

// Equal bases with whole exponents of the same sign are one factor: x^2 * x = x^3 holds wherever x
// does, unlike x * x^-1 = 1 or (x^0.5)^2 = x.
Expression NormalForms::MakeProduct(double coefficient, const std::vector<Part>& factors) {
  std::vector<Part> merged;
  for (const Part& f : factors) {
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const Part& m) {
      return m.term == f.term && ((IsPositiveInteger(m.number) && IsPositiveInteger(f.number)) ||
                                  (IsPositiveInteger(-m.number) && IsPositiveInteger(-f.number)));
    });
    if (same != merged.end()) {
      same->number += f.number;
    } else {
      merged.push_back(f);
    }
  }
  if (merged.empty()) return {coefficient, Expression::kOne};
  if (merged.size() == 1 && merged[0].number == 1) return {coefficient, merged[0].term};
  std::sort(merged.begin(), merged.end(), [](const Part& a, const Part& b) {
    return a.term != b.term ? a.term < b.term : a.number < b.number;
  });
  std::string key = "product";
  for (const Part& f : merged) key += fmt::format(" {}^{}", f.term, NumberOf(f.number));
  Term product;
  product.kind = Term::kProduct;
  product.parts = std::move(merged);
  return {coefficient, Intern(key, std::move(product))};
}

Expression NormalForms::Product(const Expression& a, const Expression& b) {
  std::vector<Part> factors;
  for (const Expression& e : {a, b}) {
    if (e.IsNumber()) continue;
    const Term& term = terms_[e.term];
    if (term.kind == Term::kProduct) {
      factors.insert(factors.end(), term.parts.begin(), term.parts.end());
    } else {
      factors.push_back({e.term, 1});
    }
  }
  return MakeProduct(a.coefficient * b.coefficient, factors);
}

Expression NormalForms::Power(const Expression& base, double exponent) {
  const bool whole = exponent == std::floor(exponent) && std::abs(exponent) < 64;
  if (exponent == 1) return base;
  if (base.IsNumber()) return {std::pow(base.coefficient, exponent), Expression::kOne};
  if (base.coefficient <= 0 && !whole) {  // a root of what may be negative stays as it is
    Term scaled;
    scaled.kind = Term::kSum;
    scaled.parts = {{base.term, base.coefficient}};
    const int term = Intern(fmt::format("scaled {}*{}", NumberOf(base.coefficient), base.term),
                            std::move(scaled));
    return MakeProduct(1, {{term, exponent}});
  }
  const double coefficient = std::pow(base.coefficient, exponent);
  const Term& term = terms_[base.term];
  const bool distributes =
      term.kind == Term::kProduct && whole &&
      std::all_of(term.parts.begin(), term.parts.end(), [&](const Part& f) {
        return exponent == -1 || (exponent > 0 && f.number == std::floor(f.number));
      });
  if (!distributes) return MakeProduct(coefficient, {{base.term, exponent}});
  std::vector<Part> factors = term.parts;
  for (Part& f : factors) f.number *= exponent;
  return MakeProduct(coefficient, factors);
}

// --- values -----------------------------------------------------------------------

Expression NormalForms::Of(Value value, std::span<const Operation> inside) {
  const bool in_scratch = value.program() == &program_;
  const std::pair<bool, uint32_t> key{in_scratch, value.id()};
  if (const auto it = known_.find(key); it != known_.end()) return it->second;
  const Operation op = value.DefiningOp();
  const bool look_inside =
      op && op.num_regions() == 0 && op.HasTrait(ir::kPure) && !op.HasTrait(ir::kRandom) &&
      (in_scratch || std::find(inside.begin(), inside.end(), op) != inside.end());
  gave_up_ |= depth_ > kMaxDepth;
  Expression result;
  if (const ir::Attribute dense = ir::ConstantValue(value)) {
    result = OfConstant(value, dense);
  } else if (look_inside && !gave_up_) {
    ++depth_;
    result = OfOperation(op, value.index(), inside);
    --depth_;
  } else {
    result = Leaf(fmt::format("value {} {}", in_scratch, value.id()), std::string(value.name()));
  }
  known_[key] = result;
  return result;
}

// Large weights are told apart by their buffer, small ones by what they hold. What is no number takes no
// part in arithmetic: any multiple of infinity is as near to it as any other.
Expression NormalForms::OfConstant(Value value, ir::Attribute dense) {
  const auto splat = ir::ConstantSplat(value);
  if (splat && std::isfinite(*splat) && dense.dense_type().NumElements() == 1 &&
      ir::IsFloat(dense.dense_type().dtype()))
    return {*splat, Expression::kOne};
  return Leaf(fmt::format("constant {}", dense.id()), "a constant");
}

Expression NormalForms::OfOperation(Operation op, uint32_t result,
                                    std::span<const Operation> inside) {
  std::vector<Expression> operands;
  for (Value v : op.operands()) operands.push_back(v ? Of(v, inside) : Expression());
  Expression expression;
  if (OfArithmetic(op, operands, &expression)) return expression;
  if (op.def() && op.def()->IsComposite() && OfBody(op, result, operands, &expression))
    return expression;
  if (IsReshape(op)) return OfReshape(op, operands[0]);
  Term term;
  term.kind = Term::kOp;
  term.name = std::string(op.name());
  term.head = fmt::format("{} {} {} {}", op.name(), result, AttributesKey(op),
                          op.result(result).type().id());
  term.commutative = op.HasTrait(ir::kCommutative);
  double coefficient = 1;
  for (uint32_t i = 0; i < op.num_operands(); ++i) {
    const Value v = op.operand(i);
    const bool pull = v && IsHomogeneous(op) && !operands[i].IsNumber();
    if (pull) coefficient *= operands[i].coefficient;
    term.parts.push_back({operands[i].term, pull ? 1 : operands[i].coefficient});
    term.types.push_back(v ? std::to_string(v.type().id()) : "none");
  }
  const Expression made = MakeOp(std::move(term));
  return {coefficient * made.coefficient, made.term};
}

Expression NormalForms::MakeOp(Term op) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < op.parts.size(); ++i)
    keys.push_back(
        fmt::format("{}*{}:{}", NumberOf(op.parts[i].number), op.parts[i].term, op.types[i]));
  if (op.commutative && keys.size() >= 2 && keys[1] < keys[0]) {
    std::swap(keys[0], keys[1]);
    std::swap(op.parts[0], op.parts[1]);
    std::swap(op.types[0], op.types[1]);
  }
  const std::string key = fmt::format("{} ({})", op.head, fmt::join(keys, ", "));
  return {1, Intern(key, std::move(op))};
}

// The last of several in a row, whatever gave the shape.
Expression NormalForms::OfReshape(Operation op, const Expression& operand) {
  Term term;
  term.kind = Term::kOp;
  term.name = kReshape;
  term.head = fmt::format("{} {}", kReshape, op.result().type().id());
  term.parts = {{operand.term, 1}};
  term.types = {std::to_string(op.operand(0).type().id())};
  const Term& inner = terms_[operand.term];
  if (inner.kind == Term::kOp && inner.name == kReshape) {
    term.parts = inner.parts;
    term.types = inner.types;
  }
  if (term.types[0] == std::to_string(op.result().type().id()))
    return {operand.coefficient, term.parts[0].term};
  const Expression made = MakeOp(std::move(term));
  return {operand.coefficient, made.term};
}

// Floating-point sums, products, quotients, roots and powers.
bool NormalForms::OfArithmetic(Operation op, const std::vector<Expression>& operands,
                               Expression* result) {
  namespace ops = ir::ops;
  if (op.num_results() != 1 || !IsFloatTensor(op.result().type())) return false;
  std::vector<Expression> in = operands;
  if (op.Is<ops::Pow>() && op.operand(1)) {  // the exponent may be of another type
    const Value exponent = op.operand(1);
    const auto splat = ir::ConstantSplat(exponent);
    if (splat && IsScalarBeside(exponent.type(), op.operand(0).type()) &&
        IsFloatTensor(op.operand(0).type())) {
      *result = Power(in[0], *splat);
      return std::isfinite(result->coefficient);
    }
  }
  for (Value v : op.operands())
    if (!v || !IsFloatTensor(v.type())) return false;
  if (in.size() == 2) {  // a constant that makes the rank larger is more than a number
    for (uint32_t i = 0; i < 2; ++i) {
      const Value v = op.operand(i);
      if (in[i].IsNumber() && !IsScalarBeside(v.type(), op.operand(1 - i).type()))
        in[i] =
            Leaf(fmt::format("number {} of type {}", NumberOf(in[i].coefficient), v.type().id()),
                 "a constant");
    }
  }
  if (op.Is<ops::Identity>()) {
    *result = in[0];
  } else if (op.Is<ops::Cast>()) {
    if (op.operand(0).type().dtype() != op.result().type().dtype()) return false;
    *result = in[0];
  } else if (op.Is<ops::Neg>()) {
    *result = {-in[0].coefficient, in[0].term};
  } else if (op.Is<ops::Sqrt>()) {
    *result = Power(in[0], 0.5);
  } else if (op.Is<ops::Reciprocal>()) {
    *result = Power(in[0], -1);
  } else if (op.Is<ops::Add>()) {
    *result = Sum({in[0], in[1]});
  } else if (op.Is<ops::Sub>()) {
    *result = Sum({in[0], {-in[1].coefficient, in[1].term}});
  } else if (op.Is<ops::Mul>()) {
    *result = Product(in[0], in[1]);
  } else if (op.Is<ops::Div>()) {
    *result = Product(in[0], Power(in[1], -1));
  } else {
    return false;
  }
  return std::isfinite(result->coefficient);  // of a quotient by 0 nothing more is said
}

bool NormalForms::OfBody(Operation op, uint32_t result, const std::vector<Expression>& operands,
                         Expression* expression) {
  std::vector<Value> inputs;
  for (uint32_t i = 0; i < op.num_operands(); ++i) {
    const Value v = op.operand(i);
    if (!v) {
      inputs.emplace_back();
      continue;
    }
    if (v.program() == &program_) {
      inputs.push_back(v);
      continue;
    }
    const ir::Type type = v.type();
    if (!type.HasRank() || type.dtype() == ir::DataType::kNull) return false;
    inputs.push_back(builder_.AddInput("", type));
    known_[{true, inputs.back().id()}] = operands[i];
  }
  const std::vector<Value> body =
      op.def()->decompose(builder_, inputs, op.attrs(), op.num_results());
  if (result >= body.size() || !body[result]) return false;
  *expression = Of(body[result]);
  return true;
}

// What is left out counts as its default; negative axes count from the front.
std::string NormalForms::AttributesKey(Operation op) const {
  const ir::OpDef* def = op.def();
  if (!def) return fmt::format("dict {}", op.attrs().id());
  ir::IrContext& context = *program_.context();
  const ir::Type type = op.num_operands() > 0 && op.operand(0) ? op.operand(0).type() : ir::Type();
  const bool counts = type.HasRank() && op.HasTrait(ir::kAxisOfOperand);
  std::string key;
  for (const ir::FieldDef& field : def->fields) {
    ir::Attribute value = op.attrs().Get(field.name);
    if (!value && field.make_default) value = field.make_default(context);
    const bool is_axis = field.name.str() == "axis" || field.name.str() == "axes";
    if (counts && is_axis && value.Is(ir::AttrKind::kInt))
      value = context.IntAttr(ir::NormalAxis(value.AsInt(), type.rank()));
    if (counts && is_axis && value.Is(ir::AttrKind::kInts)) {
      ir::Ints axes = value.AsInts();
      for (int64_t& axis : axes) axis = ir::NormalAxis(axis, type.rank());
      std::sort(axes.begin(), axes.end());
      value = context.IntsAttr(axes);
    }
    key += fmt::format("{} ", value.id());
  }
  return key;
}

// --- comparing and printing ---------------------------------------------------------

void NormalForms::AppendTerm(int id, size_t max_chars, std::string* out) const {
  const Term& term = terms_[id];
  if (out->size() > max_chars) return;
  switch (term.kind) {
    case Term::kOne:
      *out += "1";
      return;
    case Term::kLeaf:
      *out += term.name.empty() ? fmt::format("v{}", id) : term.name;
      return;
    case Term::kSum:
      *out += "(";
      for (const Part& part : term.parts) {
        if (&part != term.parts.data()) *out += " + ";
        Append({part.number, part.term}, max_chars, out);
      }
      if (term.constant != 0) *out += fmt::format(" + {:.7g}", term.constant);
      *out += ")";
      return;
    case Term::kProduct:
      for (const Part& part : term.parts) {
        if (&part != term.parts.data()) *out += " * ";
        AppendTerm(part.term, max_chars, out);
        if (part.number != 1) *out += fmt::format("^{:.7g}", part.number);
      }
      return;
    case Term::kOp:
      *out += term.name.substr(term.name.find('.') + 1) + "(";
      for (const Part& part : term.parts) {
        if (&part != term.parts.data()) *out += ", ";
        Append({part.number, part.term}, max_chars, out);
      }
      *out += ")";
      return;
  }
}

void NormalForms::Append(const Expression& expression, size_t max_chars, std::string* out) const {
  if (expression.IsNumber()) {
    *out += fmt::format("{:.7g}", expression.coefficient);
    return;
  }
  if (expression.coefficient != 1) *out += fmt::format("{:.7g} * ", expression.coefficient);
  AppendTerm(expression.term, max_chars, out);
}

std::string NormalForms::ToString(const Expression& expression, size_t max_chars) const {
  std::string text;
  Append(expression, max_chars, &text);
  if (text.size() > max_chars) {
    text.resize(max_chars);
    text += "...";
  }
  return text;
}

}  // namespace weft::drr::text
