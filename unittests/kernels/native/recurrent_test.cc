// The recurrent layers against the reference, with weights that are constant and that are not.
#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using ir::ops::RecurrentDirection;

struct Case {
  RecurrentDirection direction = RecurrentDirection::kForward;
  bool constant = true, bias = true, initial = true;
  int64_t directions() const { return direction == RecurrentDirection::kBidirectional ? 2 : 1; }
};

constexpr int64_t kTime = 7, kBatch = 3, kInput = 5, kHidden = 18;

std::vector<Operand> Operands(const Case& c, int64_t gates, bool cell) {
  const int64_t d = c.directions(), columns = gates * kHidden;
  const auto weights = [&](ir::Shape dims, uint64_t seed) -> Operand {
    Tensor t = RandomIn(std::move(dims), seed, -0.5f, 0.5f);
    return c.constant ? Constant(std::move(t)) : Operand(std::move(t));
  };
  std::vector<Operand> operands = {Random({kTime, kBatch, kInput}, 1),
                                   weights({d, columns, kInput}, 2),
                                   weights({d, columns, kHidden}, 3),
                                   {},
                                   {},
                                   {}};
  if (c.bias) operands[3] = weights({d, 2 * columns}, 4);
  if (c.initial) operands[5] = Random({d, kBatch, kHidden}, 5);
  if (cell) operands.emplace_back();
  if (cell && c.initial) operands[6] = Random({d, kBatch, kHidden}, 6);
  return operands;
}

std::vector<ResultType> Results(const Case& c, bool cell) {
  const int64_t d = c.directions();
  std::vector<ResultType> results = {FloatResult({kTime, d, kBatch, kHidden}),
                                     FloatResult({d, kBatch, kHidden})};
  if (cell) results.push_back(FloatResult({d, kBatch, kHidden}));
  return results;
}

std::vector<Case> Cases() {
  return {{},
          {.direction = RecurrentDirection::kReverse},
          {.direction = RecurrentDirection::kBidirectional},
          {.direction = RecurrentDirection::kBidirectional, .constant = false},
          {.bias = false},
          {.constant = false, .bias = false, .initial = false}};
}

TEST(NativeRecurrent, RunsAnLstm) {
  for (const Case& c : Cases())
    Agreement<ops::LSTM>(Operands(c, 4, true), {.direction = c.direction}, Results(c, true))
        .Of("native");
}

TEST(NativeRecurrent, RunsAGruThatResetsBeforeAndAfterItsProduct) {
  for (const Case& c : Cases())
    for (const int64_t linear : {0, 1})
      Agreement<ops::GRU>(Operands(c, 3, false),
                          {.direction = c.direction, .linear_before_reset = linear},
                          Results(c, false))
          .Of("native");
}

TEST(NativeRecurrent, RunsAnRnnWithEitherActivation) {
  for (const Case& c : Cases()) {
    const std::vector<Operand> operands = Operands(c, 1, false);
    Agreement<ops::RNN>(operands, {.direction = c.direction}, Results(c, false)).Of("native");
    const ir::Strings relu(static_cast<size_t>(c.directions()), "Relu");
    Agreement<ops::RNN>(operands, {.activations = relu, .direction = c.direction},
                        Results(c, false))
        .Of("native");
  }
}

TEST(NativeRecurrent, KeepsPackedWeightsOfOneSizeApart) {
  const Case c;
  for (const uint64_t seed : {20, 30}) {
    std::vector<Operand> operands = Operands(c, 3, false);
    operands[2] = Constant(RandomIn({1, 3 * kHidden, kHidden}, seed, -0.5f, 0.5f));
    Agreement<ops::GRU>(operands, {}, Results(c, false)).Of("native");
  }
}

TEST(NativeRecurrent, LeavesTheRestToTheReference) {
  const Case c;
  Agreement<ops::LSTM>(Operands(c, 4, true), {.clip = 0.5f}, Results(c, true)).Of("reference");
  Agreement<ops::LSTM>(Operands(c, 4, true), {.input_forget = 1}, Results(c, true)).Of("reference");
  Agreement<ops::LSTM>(Operands(c, 4, true),
                       {.activations = ir::Strings{"HardSigmoid", "Tanh", "Tanh"}},
                       Results(c, true))
      .Of("reference");
  std::vector<Operand> operands = Operands(c, 4, true);
  operands.push_back(Random({1, 3 * kHidden}, 9));  // peepholes
  Agreement<ops::LSTM>(operands, {}, Results(c, true)).Of("reference");
  operands = Operands(c, 3, false);
  operands[4] = I32({kBatch}, {7, 2, 0});
  Agreement<ops::GRU>(operands, {}, Results(c, false)).Of("reference");
}

}  // namespace
}  // namespace weft::kernels
