// The evaluator of pd_evaluate.h, and tests that it computes what the ops mean.
#include "unittests/passes/pd_evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/constant.h"
#include "ir/dialects/builtin.h"
#include "ir/dialects/pd.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;
using ir::Ints;
using ir::Operation;
using ir::Shape;
using ir::Value;

int64_t Count(const Shape& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

// The element of `t` that broadcasting puts at `index` of a larger shape.
double At(const PdTensor& t, const Shape& index) {
  int64_t offset = 0;
  const size_t skip = index.size() - t.dims.size();
  for (size_t i = 0; i < t.dims.size(); ++i)
    offset = offset * t.dims[i] + (t.dims[i] == 1 ? 0 : index[skip + i]);
  return t.data[static_cast<size_t>(offset)];
}

template <class F>
PdTensor Generate(const Shape& dims, F&& f) {
  PdTensor t{dims, {}};
  Shape index(dims.size(), 0);
  for (int64_t n = Count(dims); n > 0; --n) {
    t.data.push_back(f(index));
    for (size_t axis = dims.size(); axis > 0 && ++index[axis - 1] == dims[axis - 1]; --axis)
      index[axis - 1] = 0;
  }
  return t;
}

Shape Broadcast(Shape a, Shape b) {
  while (a.size() < b.size()) a.insert(a.begin(), 1);
  while (b.size() < a.size()) b.insert(b.begin(), 1);
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::max(a[i], b[i]);
  return a;
}

PdTensor Transpose(const PdTensor& x, const Ints& perm) {
  Shape dims;
  for (int64_t p : perm) dims.push_back(x.dims[p]);
  return Generate(dims, [&](const Shape& index) {
    Shape from(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) from[perm[i]] = index[i];
    return At(x, from);
  });
}

PdTensor SwapLast(const PdTensor& x) {
  Ints perm(x.dims.size());
  for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
  std::swap(perm.back(), perm[perm.size() - 2]);
  return Transpose(x, perm);
}

PdTensor MatMul(const PdTensor& x, const PdTensor& y) {  // both of rank 2 at least
  Shape dims =
      Broadcast(Shape(x.dims.begin(), x.dims.end() - 2), Shape(y.dims.begin(), y.dims.end() - 2));
  dims.push_back(x.dims.end()[-2]);
  dims.push_back(y.dims.back());
  return Generate(dims, [&](const Shape& index) {
    double sum = 0;
    Shape i = index, j = index;
    for (int64_t k = 0; k < x.dims.back(); ++k) {
      i.back() = k;
      j.end()[-2] = k;
      sum += At(x, i) * At(y, j);
    }
    return sum;
  });
}

PdTensor Add(const PdTensor& x, const PdTensor& y) {
  return Generate(Broadcast(x.dims, y.dims),
                  [&](const Shape& index) { return At(x, index) + At(y, index); });
}

PdTensor Softmax(const PdTensor& x) {  // of the last axis
  PdTensor t = x;
  const auto n = static_cast<size_t>(x.dims.back());
  for (size_t row = 0; row < t.data.size(); row += n) {
    double sum = 0;
    for (size_t i = row; i < row + n; ++i) sum += t.data[i] = std::exp(t.data[i]);
    for (size_t i = row; i < row + n; ++i) t.data[i] /= sum;
  }
  return t;
}

PdTensor Concat(const std::vector<PdTensor>& parts, int64_t axis) {
  Shape dims = parts[0].dims;
  for (size_t i = 1; i < parts.size(); ++i) dims[axis] += parts[i].dims[axis];
  return Generate(dims, [&](Shape index) {
    size_t i = 0;
    for (; index[axis] >= parts[i].dims[axis]; ++i) index[axis] -= parts[i].dims[axis];
    return At(parts[i], index);
  });
}

// As ir/dialects/pd/nn.h states it: w is [D, 3, N], bias [3, N].
PdTensor MultiheadMatmul(const std::vector<PdTensor>& in,
                         const ir::pd::MultiheadMatmul::Attrs<ir::Plain>& attrs) {
  const PdTensor &x = in[0], &w = in[1], &bias = in[2];
  const int64_t batch = x.dims[0], seq = x.dims[1], width = w.dims[2], heads = attrs.head_number;
  const int64_t each = width / heads;
  auto project = [&](int64_t which) {  // [B, H, S, N / H]
    return Generate({batch, heads, seq, each}, [&](const Shape& i) {
      const int64_t column = i[1] * each + i[3];
      double sum = At(bias, {which, column});
      for (int64_t d = 0; d < x.dims[2]; ++d)
        sum += At(x, {i[0], i[2], d}) * At(w, {d, which, column});
      return sum;
    });
  };
  PdTensor logits = MatMul(project(0), SwapLast(project(1)));
  for (double& v : logits.data) v *= attrs.alpha;
  if (in.size() > 3) logits = Add(logits, in[3]);
  const PdTensor out = MatMul(Softmax(logits), project(2));
  PdTensor merged = Transpose(out, {0, 2, 1, 3});
  merged.dims = {batch, seq, width};
  return merged;
}

PdTensor Dense(ir::Attribute dense) {
  PdTensor t{dense.dense_type().shape(), {}};
  for (int64_t i = 0; i < Count(t.dims); ++i) t.data.push_back(ir::DenseElement(dense, i));
  return t;
}

class Evaluator {
 public:
  std::vector<PdTensor> Run(ir::Program& program, const std::vector<PdTensor>& inputs) {
    for (uint32_t i = 0; i < program.body().num_arguments(); ++i)
      values_[program.body().argument(i).id()] = inputs[i];
    std::vector<PdTensor> outputs;
    for (Operation op : program.body()) {
      std::vector<PdTensor> in;
      for (Value v : op.operands())
        if (v && !v.type().IsVector()) in.push_back(values_[v.id()]);
      if (op.HasTrait(ir::kTerminator)) return in;
      if (op.Is<ir::CombineOp>()) {
        vectors_[op.result().id()] = in;
      } else {
        values_[op.result().id()] = Evaluate(op, in);
      }
    }
    return outputs;
  }

 private:
  PdTensor Evaluate(Operation op, const std::vector<PdTensor>& in) {
    if (op.Is<ir::ConstantOp>()) return Dense(op.attr("value"));
    if (op.Is<pd::Full>()) {
      const auto attrs = op.attrs_of<pd::Full>();
      return Generate(attrs.shape, [&](const Shape&) { return attrs.value; });
    }
    if (op.Is<pd::FullIntArray>()) {
      const Ints value = op.attrs_of<pd::FullIntArray>().value;
      return {{static_cast<int64_t>(value.size())}, {value.begin(), value.end()}};
    }
    if (op.Is<pd::MatMul>()) {
      const auto attrs = op.attrs_of<pd::MatMul>();
      return MatMul(attrs.transpose_x ? SwapLast(in[0]) : in[0],
                    attrs.transpose_y ? SwapLast(in[1]) : in[1]);
    }
    if (op.Is<pd::Add>()) return Add(in[0], in[1]);
    if (op.Is<pd::Softmax>()) return Softmax(in[0]);
    if (op.Is<pd::Transpose>()) return Transpose(in[0], op.attrs_of<pd::Transpose>().perm);
    if (op.Is<pd::Reshape>()) return {op.result().type().shape(), in[0].data};
    if (op.Is<pd::Scale>()) {
      const auto attrs = op.attrs_of<pd::Scale>();
      PdTensor t = in[0];
      for (double& v : t.data)
        v = attrs.bias_after_scale ? v * in[1].data[0] + attrs.bias
                                   : (v + attrs.bias) * in[1].data[0];
      return t;
    }
    if (op.Is<pd::Concat>())
      return Concat(vectors_[op.operand(0).id()], static_cast<int64_t>(in[0].data[0]));
    if (op.Is<pd::MultiheadMatmul>())
      return MultiheadMatmul(in, op.attrs_of<pd::MultiheadMatmul>());
    ADD_FAILURE() << "no evaluation of " << op.name();
    return {};
  }

  std::unordered_map<uint32_t, PdTensor> values_;
  std::unordered_map<uint32_t, std::vector<PdTensor>> vectors_;
};

}  // namespace

std::vector<PdTensor> EvaluatePd(ir::Program& program, const std::vector<PdTensor>& inputs) {
  return Evaluator().Run(program, inputs);
}

namespace {

TEST(EvaluatePd, ComputesSmallExamplesByHand) {
  ir::IrContext context;
  ir::LoadPdDialect(context);
  ir::Program program(&context);
  ir::Builder b(&program);
  const Value x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {2, 2}));
  const Value y = b.ConstantFloats(std::vector<float>{5, 6, 7, 8}, Shape{2, 2});
  const Value axis = b.Make<pd::Full>({}, {.shape = {1}, .value = 1});
  const Value joined = b.Make<pd::Concat>({b.Make<ir::CombineOp>({x, y}), axis});
  const Value half = b.Make<pd::Full>({}, {.shape = {1}, .value = 0.5f});
  b.Return({{"product", b.Make<pd::MatMul>({x, y}, {.transpose_y = true})},
            {"joined", joined},
            {"scaled", b.Make<pd::Scale>({x, half}, {.bias = 1, .bias_after_scale = false})},
            {"turned", b.Make<pd::Transpose>({x}, {.perm = {1, 0}})},
            {"softmax", b.Make<pd::Softmax>({b.Make<pd::Add>({x, x})})}});
  const auto out = EvaluatePd(program, {{{2, 2}, {1, 2, 3, 4}}});
  EXPECT_EQ(out[0].data, (std::vector<double>{17, 23, 39, 53}));
  EXPECT_EQ(out[1].data, (std::vector<double>{1, 2, 5, 6, 3, 4, 7, 8}));
  EXPECT_EQ(out[2].data, (std::vector<double>{1, 1.5, 2, 2.5}));
  EXPECT_EQ(out[3].data, (std::vector<double>{1, 3, 2, 4}));
  EXPECT_NEAR(out[4].data[1], 1 / (1 + std::exp(-2.0)), 1e-12);
}

}  // namespace
}  // namespace weft::passes
