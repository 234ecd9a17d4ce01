// Z3 as the solver of proofs (passes/verify/proof/solver.h). No other file names it.
#include <z3++.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "passes/verify/proof/solver.h"

namespace weft::tools {
namespace {

using passes::Sort;
using passes::Term;
using passes::TermNode;
using passes::Terms;
using z3::expr;

// An exact fraction; nothing for what is no number, or a very large or small one.
std::optional<std::string> Fraction(double number) {
  int exponent = 0;
  const double mantissa = std::frexp(number, &exponent);
  constexpr int kBits = 53, kMost = 62;
  if (!std::isfinite(number)) return std::nullopt;
  auto numerator = static_cast<int64_t>(std::ldexp(mantissa, kBits));
  exponent -= kBits;
  while (exponent < 0 && numerator % 2 == 0 && numerator != 0) {
    numerator /= 2;
    ++exponent;
  }
  if (numerator == 0) return "0";
  if (exponent < -kMost || exponent > kMost - kBits) return std::nullopt;
  if (exponent >= 0) return std::to_string(numerator * (int64_t{1} << exponent));
  return std::to_string(numerator) + "/" + std::to_string(int64_t{1} << -exponent);
}

// How elements are read: as values of an unknown kind, as real numbers, or as those of a type.
struct Theory {
  enum Kind : uint8_t { kUnknown, kReals, kFloats, kIntegers, kTruth };
  Kind kind = kUnknown;
  unsigned exponent = 0, significand = 0;  // bits of a float
  unsigned bits = 0;                       // of an integer
  bool is_signed = true;
};

std::optional<Theory> TheoryOf(std::optional<ir::DataType> type) {
  if (!type) return Theory{Theory::kReals};
  switch (*type) {
    case ir::DataType::kF16:
      return Theory{Theory::kFloats, 5, 11};
    case ir::DataType::kBF16:
      return Theory{Theory::kFloats, 8, 8};
    case ir::DataType::kF32:
      return Theory{Theory::kFloats, 8, 24};
    case ir::DataType::kF64:
      return Theory{Theory::kFloats, 11, 53};
    case ir::DataType::kBool:
      return Theory{Theory::kTruth};
    default:
      break;
  }
  if (!ir::IsInteger(*type)) return std::nullopt;
  Theory theory{Theory::kIntegers};
  theory.bits = static_cast<unsigned>(8 * ir::ElementSize(*type));
  theory.is_signed = ir::DataTypeName(*type)[0] == 'i';
  return theory;
}

// Terms as expressions of Z3, elements by one theory. What a theory does not have is reported by
// ok(), and stands for anything.
class Translation {
 public:
  Translation(z3::context& context, const Terms& terms, Theory theory)
      : context_(context), terms_(terms), theory_(theory), element_(ElementSort()) {
    context_.set_rounding_mode(z3::RNE);
  }
  expr Of(Term term) {
    if (made_.size() < terms_.size()) made_.resize(terms_.size());
    if (!made_[term.id]) made_[term.id] = Make(terms_[term]);
    return *made_[term.id];
  }
  bool ok() const { return ok_; }
  // What real numbers are divided by.
  const std::vector<expr>& divisors() const { return divisors_; }

 private:
  z3::sort ElementSort() {
    switch (theory_.kind) {
      case Theory::kReals:
        return context_.real_sort();
      case Theory::kFloats:
        return context_.fpa_sort(theory_.exponent, theory_.significand);
      case Theory::kIntegers:
        return context_.bv_sort(theory_.bits);
      case Theory::kTruth:
        return context_.bool_sort();
      case Theory::kUnknown:
        break;
    }
    return context_.uninterpreted_sort("Element");
  }
  z3::sort SortOf(Sort sort) {
    if (sort == Sort::kElement) return element_;
    return sort == Sort::kInt ? context_.int_sort() : context_.bool_sort();
  }
  expr Anything(Sort sort) {
    ok_ = false;
    return context_.constant("anything", SortOf(sort));
  }

  expr Make(const TermNode& node) {
    std::vector<expr> arguments;
    for (const Term argument : node.arguments) arguments.push_back(Of(argument));
    const auto fold = [&](auto&& join) {
      expr all = arguments[0];
      for (size_t i = 1; i < arguments.size(); ++i) all = join(all, arguments[i]);
      return all;
    };
    switch (node.kind) {
      case TermNode::kInteger:
        return node.sort == Sort::kBool ? context_.bool_val(node.integer != 0)
                                        : context_.int_val(node.integer);
      case TermNode::kNumber:
        return MakeNumber(node.number);
      case TermNode::kVariable:
        return context_.constant(node.name.c_str(), SortOf(node.sort));
      case TermNode::kSum: {
        expr sum = context_.int_val(node.integer);
        for (size_t i = 0; i < arguments.size(); ++i)
          sum = sum + context_.int_val(node.factors[i]) * arguments[i];
        return sum;
      }
      case TermNode::kProduct:
        return fold([](const expr& a, const expr& b) { return a * b; });
      case TermNode::kQuotient:
        return arguments[0] / arguments[1];
      case TermNode::kRemainder:
        return z3::mod(arguments[0], arguments[1]);
      case TermNode::kEqual:
        return expr(context_, Z3_mk_eq(context_, arguments[0], arguments[1]));
      case TermNode::kAtMost:
        return arguments[0] <= arguments[1];
      case TermNode::kNot:
        return !arguments[0];
      case TermNode::kAnd:
        return fold([](const expr& a, const expr& b) { return a && b; });
      case TermNode::kIf:
        return z3::ite(arguments[0], arguments[1], arguments[2]);
      case TermNode::kApply:
        break;
    }
    return MakeApply(node, arguments);
  }

  expr MakeNumber(double number) {
    switch (theory_.kind) {
      case Theory::kUnknown:
        return context_.constant(
            ("number " + std::to_string(std::bit_cast<uint64_t>(number))).c_str(), element_);
      case Theory::kReals: {
        const auto fraction = Fraction(number);
        return fraction ? context_.real_val(fraction->c_str()) : Anything(Sort::kElement);
      }
      case Theory::kFloats:
        return expr(context_, Z3_mk_fpa_numeral_double(context_, number, element_));
      case Theory::kIntegers:
        if (std::trunc(number) != number || std::fabs(number) > 100)
          return Anything(Sort::kElement);
        return context_.bv_val(static_cast<int64_t>(number), theory_.bits);
      case Theory::kTruth:
        return context_.bool_val(number != 0);
    }
    return Anything(Sort::kElement);
  }

  expr MakeApply(const TermNode& node, const std::vector<expr>& arguments) {
    const bool of_elements =
        theory_.kind != Theory::kUnknown && node.sort == Sort::kElement && !arguments.empty();
    if (of_elements && theory_.kind == Theory::kTruth) return MakeLogic(node, arguments);
    if (of_elements) {
      if (const auto known = MakeArithmetic(node.name, arguments)) return *known;
      if (!passes::IsArithmetic(node.name)) return Anything(Sort::kElement);
    }
    z3::sort_vector domain(context_);
    z3::expr_vector values(context_);
    for (const expr& argument : arguments) {
      domain.push_back(argument.get_sort());
      values.push_back(argument);
    }
    return context_.function(node.name.c_str(), domain, SortOf(node.sort))(values);
  }

  // Nothing where what the function computes is not known.
  std::optional<expr> MakeArithmetic(const std::string& name, const std::vector<expr>& arguments) {
    const bool reals = theory_.kind == Theory::kReals;
    if (arguments.size() == 1) {
      if (name == "onnx.Neg") return -arguments[0];
      if (name == "onnx.Reciprocal" && reals) return Quotient(context_.real_val(1), arguments[0]);
    }
    if (reals && (name == "onnx.Min" || name == "onnx.Max")) {
      expr most = arguments[0];
      for (const expr& other : std::span(arguments).subspan(1))
        most = z3::ite(name == "onnx.Min" ? other < most : most < other, other, most);
      return most;
    }
    if (arguments.size() != 2) return std::nullopt;
    const expr &a = arguments[0], &b = arguments[1];
    if (name == "onnx.Add") return a + b;
    if (name == "onnx.Sub") return a - b;
    if (name == "onnx.Mul") return a * b;
    if (name == "onnx.Div") return Quotient(a, b);
    return std::nullopt;
  }
  expr Quotient(const expr& a, const expr& b) {
    if (theory_.kind == Theory::kReals) divisors_.push_back(b);
    const bool is_unsigned = theory_.kind == Theory::kIntegers && !theory_.is_signed;
    return is_unsigned ? z3::udiv(a, b) : a / b;
  }
  expr MakeLogic(const TermNode& node, const std::vector<expr>& arguments) {
    if (node.name == "onnx.Not" && arguments.size() == 1) return !arguments[0];
    if (arguments.size() == 2) {
      if (node.name == "onnx.And") return arguments[0] && arguments[1];
      if (node.name == "onnx.Or") return arguments[0] || arguments[1];
      if (node.name == "onnx.Xor") return arguments[0] != arguments[1];
    }
    return Anything(Sort::kElement);
  }

  z3::context& context_;
  const Terms& terms_;
  const Theory theory_;
  z3::sort element_;
  std::vector<std::optional<expr>> made_;
  std::vector<expr> divisors_;
  bool ok_ = true;
};

class Z3Solver final : public passes::Solver {
 public:
  Z3Solver(const Terms& terms, unsigned milliseconds)
      : terms_(terms), milliseconds_(milliseconds), unknown_(context_, terms, Theory()) {}

  // Z3 reports what it cannot do by exceptions; then nothing is proved.
  bool Proves(const std::vector<Term>& facts, Term goal) override {
    try {
      return Check(facts, goal) == z3::unsat;
    } catch (const z3::exception&) {
      ForgetSolvers();
      return false;
    }
  }
  bool CanHold(const std::vector<Term>& facts) override {
    try {
      return Check(facts, Term()) == z3::sat;
    } catch (const z3::exception&) {
      ForgetSolvers();
      return false;
    }
  }
  std::optional<std::vector<int64_t>> Find(const std::vector<Term>& facts,
                                           const std::vector<Term>& wishes,
                                           const std::vector<Term>& integers) override {
    try {
      return FindModel(facts, wishes, integers);
    } catch (const z3::exception&) {
      ForgetSolvers();
      return std::nullopt;
    }
  }
  bool ProvesEqual(Term before, Term after, std::optional<ir::DataType> type) override {
    const auto theory = TheoryOf(type);
    if (!theory) return false;
    try {
      return AreEqual(before, after, *theory);
    } catch (const z3::exception&) {
      return false;
    }
  }

 private:
  // Steps, not time, which a busy machine has less of, and which Z3 takes by a thread for each question.
  static constexpr unsigned kStepsOfAMillisecond = 4000;

  void ForgetSolvers() {
    linear_.reset();
    nonlinear_.reset();
  }

  // That answers questions, above whose first level facts stand.
  struct Asked {
    z3::solver solver;
    std::vector<Term> facts{};
  };

  // By one solver, because a new one costs more than most questions; facts stay for the next question.
  z3::check_result Check(const std::vector<Term>& facts, Term goal) {
    const bool is_linear =
        (!goal || terms_[goal].is_linear) &&
        std::all_of(facts.begin(), facts.end(), [&](Term fact) { return terms_[fact].is_linear; });
    std::optional<Asked>& asked = is_linear ? linear_ : nonlinear_;
    if (!asked) {
      asked.emplace(Asked{NewSolver(is_linear ? 0 : milliseconds_)});
      asked->solver.push();
    }
    if (asked->facts != facts) {
      asked->solver.pop();
      asked->solver.push();
      asked->facts.clear();
      for (const Term fact : facts) asked->solver.add(unknown_.Of(fact));
      asked->facts = facts;
    }
    if (!goal) return asked->solver.check();
    asked->solver.push();
    asked->solver.add(!unknown_.Of(goal));
    const z3::check_result result = asked->solver.check();
    asked->solver.pop();
    return result;
  }
  std::optional<std::vector<int64_t>> FindModel(const std::vector<Term>& facts,
                                                const std::vector<Term>& wishes,
                                                const std::vector<Term>& integers) {
    constexpr unsigned kSlowest = 20;
    z3::solver solver = NewSolver(kSlowest * milliseconds_);
    for (const Term fact : facts) solver.add(unknown_.Of(fact));
    std::optional<z3::model> model;
    int tries = static_cast<int>(wishes.size());  // fewer questions than wishes, most often
    Grant(wishes, solver, &model, &tries);
    if (!model && solver.check() == z3::sat) model = solver.get_model();
    if (!model) return std::nullopt;
    std::vector<int64_t> values;
    for (const Term integer : integers) {
      int64_t value = 0;
      if (!model->eval(unknown_.Of(integer), true).is_numeral_i64(value)) return std::nullopt;
      values.push_back(value);
    }
    return values;
  }
  // All at once, which makes products of sizes easy, or else first one half of them.
  void Grant(std::span<const Term> wishes, z3::solver& solver, std::optional<z3::model>* model,
             int* tries) {
    if (wishes.empty() || --*tries < 0) return;
    expr all = context_.bool_val(true);
    for (const Term wish : wishes) all = all && unknown_.Of(wish);
    const bool holds = *model && (*model)->eval(all, true).is_true();
    solver.push();
    solver.add(all);
    if (holds) return;
    if (solver.check() == z3::sat) {
      *model = solver.get_model();
      return;
    }
    solver.pop();
    if (wishes.size() == 1) return;
    const size_t half = wishes.size() / 2;
    Grant(wishes.first(half), solver, model, tries);
    Grant(wishes.subspan(half), solver, model, tries);
  }
  bool AreEqual(Term before, Term after, const Theory& theory) {
    Translation translation(context_, terms_, theory);
    const expr x = translation.Of(before);
    const std::vector<expr> divisors = translation.divisors();
    const expr y = translation.Of(after);
    if (!translation.ok()) return false;
    z3::solver solver = NewSolver(milliseconds_);
    for (const expr& divisor : divisors) solver.add(divisor != context_.real_val(0));
    // Nothing is said of what always divides by 0.
    if (!divisors.empty() && solver.check() == z3::unsat) return false;
    solver.add(!expr(context_, Z3_mk_eq(context_, x, y)));
    return solver.check() == z3::unsat;
  }
  // Where some steps take seconds, as those of products of integers, time is a limit, too; 0: no limit.
  z3::solver NewSolver(unsigned milliseconds) {
    z3::solver solver(context_);
    z3::params params(context_);
    if (milliseconds > 0) params.set("timeout", milliseconds);
    params.set("rlimit", kStepsOfAMillisecond * milliseconds_);
    params.set("random_seed", 0u);
    solver.set(params);
    return solver;
  }

  z3::context context_;
  const Terms& terms_;
  const unsigned milliseconds_;
  Translation unknown_;
  std::optional<Asked> linear_, nonlinear_;
};

const passes::SolverRegistrar registrar(+[](const Terms& terms, unsigned milliseconds) {
  return std::unique_ptr<passes::Solver>(std::make_unique<Z3Solver>(terms, milliseconds));
});

}  // namespace
}  // namespace weft::tools
