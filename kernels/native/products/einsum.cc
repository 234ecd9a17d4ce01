// onnx.Einsum as a body of other operators: diagonals and sums of single operands first, then products of two at a time in
// the order that multiplies least, each a product of matrices or, where nothing is summed, of elements.
#include "ir/dialects/onnx/infer/einsum.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/dialects/fused/matmul.h"
#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"
#include "kernels/runtime/decomposed.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;
using ir::Ints;
using Labels = std::vector<int>;

constexpr size_t kMostOperands = 12;       // whose orders are compared, all of them
constexpr double kMostElements = 1 << 28;  // of a product that is not the result

bool Has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}
int64_t At(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) - labels.begin();
}
template <class Test>
Labels Filter(const Labels& labels, const Test& test) {
  Labels some;
  std::copy_if(labels.begin(), labels.end(), std::back_inserter(some), test);
  return some;
}
Labels Join(Labels labels, const Labels& more) {
  labels.insert(labels.end(), more.begin(), more.end());
  return labels;
}

// An equation for operands of known sizes. Dimensions of size 1 are left out: they have no say.
struct Equation {
  std::vector<Labels> operands;  // a label may stand twice
  Labels result;
  std::map<int, int64_t> sizes;

  Ints SizesOf(const Labels& labels) const {
    Ints dims;
    for (const int label : labels) dims.push_back(sizes.at(label));
    return dims;
  }
  double CountOf(const Labels& labels) const {
    double count = 1;
    for (const int label : labels) count *= static_cast<double>(sizes.at(label));
    return count;
  }
  // The labels of the product of some operands (as bits), each once: those that the result or others have too.
  Labels LabelsOf(uint32_t some) const {
    Labels labels;
    for (size_t i = 0; i < operands.size(); ++i)
      if ((some >> i & 1) != 0)
        for (const int label : operands[i])
          if (!Has(labels, label) && IsKept(label, some)) labels.push_back(label);
    return labels;
  }

 private:
  bool IsKept(int label, uint32_t some) const {
    if (Has(result, label)) return true;
    for (size_t i = 0; i < operands.size(); ++i)
      if ((some >> i & 1) == 0 && Has(operands[i], label)) return true;
    return false;
  }
};

absl::StatusOr<Equation> Read(const KernelContext& context) {
  std::vector<size_t> ranks;
  for (size_t i = 0; i < context.num_inputs(); ++i) ranks.push_back(context.dims(i).size());
  ir::EinsumLabels labels;
  std::string error;
  if (!ir::ReadEinsum(context.attrs_of<ops::Einsum>().equation, ranks, &labels, &error))
    return context.InvalidArgument(error);
  Equation equation;
  for (size_t i = 0; i < ranks.size(); ++i) {
    equation.operands.emplace_back();
    for (size_t d = 0; d < ranks[i]; ++d) {
      const int64_t size = context.dims(i)[d];
      const int label = labels.operands[i][d];
      if (size == 1) continue;
      if (equation.sizes.try_emplace(label, size).first->second != size)
        return context.InvalidArgument("operands of different sizes for one label");
      equation.operands[i].push_back(label);
    }
  }
  Ints dims;
  for (const int label : labels.result) {
    const auto size = equation.sizes.find(label);
    dims.push_back(size == equation.sizes.end() ? 1 : size->second);
    if (size != equation.sizes.end()) equation.result.push_back(label);
  }
  const std::span<const int64_t> result = context.result_dims(0);
  if (!std::equal(dims.begin(), dims.end(), result.begin(), result.end()))
    return context.InvalidArgument("the result has another shape than the equation says");
  return equation;
}

// For some operands (as bits), the ones of them that are multiplied with each other first, and so are the others.
using Splits = std::vector<uint32_t>;

// Of fewest multiplications; empty where every order has a product of too many elements on its way.
Splits CheapestSplits(const Equation& equation) {
  const uint32_t all = (1u << equation.operands.size()) - 1;
  constexpr double kNever = std::numeric_limits<double>::infinity();
  Splits splits(all + 1, 0);
  std::vector<double> costs(all + 1, 0);
  std::vector<Labels> labels(all + 1);
  for (uint32_t some = 1; some <= all; ++some) labels[some] = equation.LabelsOf(some);
  for (uint32_t some = 1; some <= all; ++some) {
    if (std::has_single_bit(some)) continue;
    costs[some] = kNever;
    const double elements = equation.CountOf(labels[some]);
    if (some != all && elements > kMostElements) continue;
    for (uint32_t first = (some - 1) & some; first > 0; first = (first - 1) & some) {
      const uint32_t second = some ^ first;
      if (first < second) break;  // seen the other way round
      const Labels others =
          Filter(labels[second], [&](int label) { return !Has(labels[first], label); });
      const double cost =
          costs[first] + costs[second] + elements + equation.CountOf(Join(labels[first], others));
      if (cost < costs[some]) costs[some] = cost, splits[some] = first;
    }
  }
  return costs[all] < kNever ? splits : Splits();
}

// A value and the labels of its dimensions, each once.
struct Term {
  ir::Value value;
  Labels labels;
  bool is_constant = false;
};

// Builds the body.
class Body {
 public:
  Body(const KernelContext& context, const Equation& equation, const Splits& splits,
       ir::Builder& builder, std::span<const ir::Value> operands)
      : context_(context),
        equation_(equation),
        splits_(splits),
        b_(builder),
        operands_(operands),
        all_((1u << operands.size()) - 1) {}

  ir::Value Build() {
    const Term product = ProductOf(all_);
    const std::span<const int64_t> dims = context_.result_dims(0);
    return Reshape(Transposed(product, equation_.result), Ints(dims.begin(), dims.end()));
  }

 private:
  Term ProductOf(uint32_t some) {
    if (std::has_single_bit(some))
      return Operand(static_cast<size_t>(std::countr_zero(some)), equation_.LabelsOf(some));
    Term a = ProductOf(some ^ splits_[some]), c = ProductOf(splits_[some]);
    return Contract(std::move(a), std::move(c),
                    some == all_ ? equation_.result : equation_.LabelsOf(some));
  }

  Term Operand(size_t i, const Labels& kept) {
    Term x = {operands_[i], equation_.operands[i], static_cast<bool>(context_.constant(i))};
    x.value = Reshape(x.value, equation_.SizesOf(x.labels));
    for (const int label : equation_.operands[i])
      while (std::count(x.labels.begin(), x.labels.end(), label) > 1) x = Diagonal(x, label);
    Ints summed;
    for (size_t d = 0; d < x.labels.size(); ++d)
      if (!Has(kept, x.labels[d])) summed.push_back(static_cast<int64_t>(d));
    if (summed.empty()) return x;
    x.value = b_.Make<ops::ReduceSum>({x.value}, {.axes = summed, .keepdims = 0});
    x.labels = Filter(x.labels, [&](int label) { return Has(kept, label); });
    return x;
  }

  // Of the first two dimensions that have this label: as one dimension, every n + 1st element.
  Term Diagonal(Term x, int label) {
    const int64_t first = At(x.labels, label), n = equation_.sizes.at(label);
    Labels rest = x.labels;
    rest.erase(rest.begin() + first);
    const int64_t second = At(rest, label);
    Ints dims = equation_.SizesOf(x.labels);
    if (second > first) {  // one next to the other
      Ints perm;
      for (size_t d = 0; d < dims.size(); ++d) perm.push_back(static_cast<int64_t>(d));
      std::rotate(perm.begin() + first + 1, perm.begin() + second + 1, perm.begin() + second + 2);
      x.value = Transpose(x.value, perm);
      rest.erase(rest.begin() + second);
      rest.insert(rest.begin() + first, label);
    }
    dims = equation_.SizesOf(rest);
    Ints flat = dims;
    flat[static_cast<size_t>(first)] = n * n;
    x.value =
        b_.Make<ops::Slice>({Reshape(x.value, flat), b_.ConstantInts({0}), b_.ConstantInts({n * n}),
                             b_.ConstantInts({first}), b_.ConstantInts({n + 1})});
    return {x.value, rest, x.is_constant};
  }

  // The product of both with these labels, in an order near that of `wanted`.
  Term Contract(Term a, Term c, const Labels& wanted) {
    const auto in_both = [&](int label) { return Has(a.labels, label) && Has(c.labels, label); };
    const auto is_summed = [&](int label) { return in_both(label) && !Has(wanted, label); };
    if (Filter(a.labels, is_summed).empty())
      return {b_.Make<ops::Mul>({Aligned(a, wanted), Aligned(c, wanted)}), wanted};
    const Labels batch = Filter(wanted, in_both);
    const auto own = [&](const Term& x) {
      return Filter(wanted, [&](int label) { return Has(x.labels, label) && !in_both(label); });
    };
    Labels rows = own(a), columns = own(c);
    // A product with a vector has it on the left, and else rows are what the result has first.
    if (columns.empty() || (!rows.empty() && At(wanted, rows[0]) > At(wanted, columns[0]))) {
      std::swap(a, c);
      std::swap(rows, columns);
    }
    // In an order in which the larger of the two need not be moved.
    const bool c_is_larger = equation_.CountOf(a.labels) < equation_.CountOf(c.labels);
    const Labels summed = Filter(c_is_larger ? c.labels : a.labels, is_summed);
    Ints perm_a, perm_c;
    const ir::Value left = Matrices(a, batch, rows, summed, &perm_a);
    const ir::Value right = Matrices(c, batch, summed, columns, &perm_c);
    const bool is_packed = batch.empty() && c.is_constant;  // after its transposition
    const ir::Value product =
        context_.AllFloat32() && !is_packed
            ? b_.Make<ir::fused::BatchMatMul>({left, right}, {.perm_a = perm_a, .perm_b = perm_c})
            : b_.Make<ops::MatMul>({Transpose(left, perm_a), Transpose(right, perm_c)});
    const Labels labels = Join(Join(batch, rows), columns);
    return {Reshape(product, equation_.SizesOf(labels)), labels};
  }

  // x as matrices of these rows and columns, after a permutation. Labels that lie next to each other in that order become
  // one dimension where they are; others are moved there first.
  ir::Value Matrices(const Term& x, const Labels& batch, const Labels& rows, const Labels& columns,
                     Ints* perm) {
    Term lying = x;
    if (!IsBlock(x.labels, rows) || !IsBlock(x.labels, columns)) {
      lying.labels = Join(Join(batch, rows), columns);
      lying.value = Transposed(x, lying.labels);
    }
    // Dimensions as they lie, each named by its first label; -1: of size 1, where there are no rows or columns.
    Labels names;
    Ints dims;
    if (rows.empty() || columns.empty()) names.push_back(-1), dims.push_back(1);
    for (const int label : lying.labels) {
      const bool goes_on =
          (Has(rows, label) && label != rows[0]) || (Has(columns, label) && label != columns[0]);
      const int64_t size = equation_.sizes.at(label);
      if (goes_on) {
        dims.back() *= size;
      } else {
        names.push_back(label), dims.push_back(size);
      }
    }
    perm->clear();
    for (const int label : batch) perm->push_back(At(names, label));
    perm->push_back(At(names, rows.empty() ? -1 : rows[0]));
    perm->push_back(At(names, columns.empty() ? -1 : columns[0]));
    return Reshape(lying.value, dims);
  }
  static bool IsBlock(const Labels& labels, const Labels& block) {
    return block.empty() ||
           std::search(labels.begin(), labels.end(), block.begin(), block.end()) != labels.end();
  }

  // x with its labels in the order of `wanted`, of which those that it lacks are dimensions of size 1.
  ir::Value Aligned(const Term& x, const Labels& wanted) {
    Ints dims;
    for (const int label : wanted)
      dims.push_back(Has(x.labels, label) ? equation_.sizes.at(label) : 1);
    return Reshape(Transposed(x, Filter(wanted, [&](int label) { return Has(x.labels, label); })),
                   dims);
  }

  ir::Value Transposed(const Term& x, const Labels& order) {
    Ints perm;
    for (const int label : order) perm.push_back(At(x.labels, label));
    return Transpose(x.value, perm);
  }
  ir::Value Transpose(ir::Value x, const Ints& perm) {
    return std::is_sorted(perm.begin(), perm.end()) ? x
                                                    : b_.Make<ops::Transpose>({x}, {.perm = perm});
  }
  ir::Value Reshape(ir::Value x, const Ints& dims) {
    const std::span<const int64_t> now = x.type().dims();
    return std::equal(now.begin(), now.end(), dims.begin(), dims.end())
               ? x
               : b_.Make<ops::Reshape>({x, b_.ConstantInts(dims)});
  }

  const KernelContext& context_;
  const Equation& equation_;
  const Splits& splits_;
  ir::Builder& b_;
  const std::span<const ir::Value> operands_;
  const uint32_t all_;
};

Made MakeEinsum(const KernelContext& context) {
  const ir::DataType dtype = context.result_type(0).dtype();
  for (size_t i = 0; i < context.num_inputs(); ++i)
    if (context.input_type(i).dtype() != dtype) return context.Unsupported("different types");
  switch (dtype) {
    case ir::DataType::kF32:
    case ir::DataType::kF64:
    case ir::DataType::kI32:
    case ir::DataType::kI64:
    case ir::DataType::kU32:
    case ir::DataType::kU64:
      break;
    default:
      return context.Unsupported("elements of type " + std::string(ir::DataTypeName(dtype)));
  }
  if (context.num_inputs() > kMostOperands) return context.Unsupported("so many operands");
  WEFT_ASSIGN_OR_RETURN(const Equation equation, Read(context));
  const Splits splits = CheapestSplits(equation);
  if (splits.empty()) return context.Unsupported("products of so many elements");
  return MakeFromBody(context, "einsum by products of two", {"native", "reference"},
                      [&](ir::Builder& builder, std::span<const ir::Value> operands) {
                        Body body(context, equation, splits, builder, operands);
                        return std::vector<ir::Value>{body.Build()};
                      });
}
const RegisterKernel<ops::Einsum> kEinsum("native", &MakeEinsum);

}  // namespace
}  // namespace weft::kernels::native
