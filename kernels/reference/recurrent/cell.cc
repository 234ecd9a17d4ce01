#include "kernels/reference/recurrent/cell.h"

#include <algorithm>

namespace weft::kernels::reference {
namespace {

using ir::ops::GateActivation;
using ir::ops::RecurrentDirection;

constexpr size_t kBias = 3, kLengths = 4, kInitialH = 5, kInitialC = 6;  // operands

struct Parameters {
  bool alpha = false, beta = false;  // whether there is one
  double default_alpha = 0, default_beta = 0;
};
Parameters ParametersOf(GateActivation kind) {
  switch (kind) {
    case GateActivation::kAffine:
      return {true, true, 1, 0};
    case GateActivation::kLeakyRelu:
      return {true, false, 0.01f, 0};
    case GateActivation::kThresholdedRelu:
    case GateActivation::kElu:
      return {true, false, 1, 0};
    case GateActivation::kScaledTanh:
      return {true, true, 1, 1};
    case GateActivation::kHardSigmoid:
      return {true, true, 0.2f, 0.5};
    default:
      return {};
  }
}

GateActivation KindOf(const std::string& name) {
  const auto names = EnumNames(GateActivation());
  const auto it = std::find(names.begin(), names.end(), name);  // inference has checked it
  return static_cast<GateActivation>(it - names.begin());
}

double Dot(const double* a, const double* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

double Gate::operator()(double x) const {
  switch (kind) {
    case GateActivation::kRelu:
      return x > 0 || std::isnan(x) ? x : 0;
    case GateActivation::kTanh:
      return std::tanh(x);
    case GateActivation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case GateActivation::kAffine:
      return alpha * x + beta;
    case GateActivation::kLeakyRelu:
      return x >= 0 ? x : alpha * x;
    case GateActivation::kThresholdedRelu:
      return x >= alpha || std::isnan(x) ? x : 0;
    case GateActivation::kScaledTanh:
      return alpha * std::tanh(beta * x);
    case GateActivation::kHardSigmoid:
      return std::isnan(x) ? x : std::clamp(alpha * x + beta, 0.0, 1.0);
    case GateActivation::kElu:
      return x >= 0 ? x : alpha * std::expm1(x);
    case GateActivation::kSoftsign:
      return x / (1 + std::fabs(x));
    case GateActivation::kSoftplus:
      break;
  }
  return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
}

std::vector<Gate> MakeGates(const GateSettings& settings, size_t directions) {
  std::vector<Gate> gates;
  size_t alphas = 0, betas = 0;
  const auto next = [](const std::optional<ir::Floats>& list, size_t* used, double fallback) {
    return list && *used < list->size() ? double{(*list)[(*used)++]} : fallback;
  };
  for (size_t i = 0; i < settings.defaults.size() * directions; ++i) {
    const GateActivation kind = settings.activations
                                    ? KindOf((*settings.activations)[i])
                                    : settings.defaults[i % settings.defaults.size()];
    const Parameters has = ParametersOf(kind);
    Gate gate = {kind, has.default_alpha, has.default_beta};
    if (has.alpha) gate.alpha = next(settings.alpha, &alphas, has.default_alpha);
    if (has.beta) gate.beta = next(settings.beta, &betas, has.default_beta);
    gates.push_back(gate);
  }
  return gates;
}

RecurrentRun::RecurrentRun(const Options& options, const KernelArgs& args)
    : batch_first_(options.batch_first),
      only_reverse_(options.direction == RecurrentDirection::kReverse),
      clip_(options.clip),
      time_(args.inputs[0].dims[options.batch_first ? 1 : 0]),
      batch_(args.inputs[0].dims[options.batch_first ? 0 : 1]),
      input_(args.inputs[0].dims[2]),
      hidden_(args.inputs[2].dims[2]),
      directions_(options.direction == RecurrentDirection::kBidirectional ? 2 : 1),
      rows_(args.inputs[1].dims[1]),
      x_(ReadDoubles(args.inputs[0])),
      w_(ReadDoubles(args.inputs[1])),
      r_(ReadDoubles(args.inputs[2])) {
  b_ = args.HasInput(kBias) ? ReadDoubles(args.inputs[kBias])
                            : std::vector<double>(static_cast<size_t>(directions_ * 2 * rows_));
  lengths_ = args.HasInput(kLengths) ? ReadInts(args.inputs[kLengths])
                                     : std::vector<int64_t>(static_cast<size_t>(batch_), time_);
}

double RecurrentRun::OfInput(int64_t direction, int64_t row, const double* x) const {
  return Dot(x, w_.data() + (direction * rows_ + row) * input_, input_) +
         b_[direction * 2 * rows_ + row];
}
double RecurrentRun::OfState(int64_t direction, int64_t row, const double* h) const {
  return Dot(h, r_.data() + (direction * rows_ + row) * hidden_, hidden_) +
         b_[(direction * 2 + 1) * rows_ + row];
}

struct RecurrentRun::Results {
  std::vector<double> y, h, c;
};

int64_t RecurrentRun::StateAt(int64_t direction, int64_t b) const {
  return (batch_first_ ? b * directions_ + direction : direction * batch_ + b) * hidden_;
}

std::vector<double> RecurrentRun::Initial(const KernelArgs& args, size_t i) const {
  if (args.HasInput(i)) return ReadDoubles(args.inputs[i]);
  return std::vector<double>(static_cast<size_t>(directions_ * batch_ * hidden_));
}

void RecurrentRun::RunSequence(int64_t direction, int64_t b, const Step& step,
                               Results* results) const {
  const int64_t at = StateAt(direction, b), length = lengths_[b];
  States states = {std::vector<double>(results->h.begin() + at, results->h.begin() + at + hidden_),
                   std::vector<double>(results->c.begin() + at, results->c.begin() + at + hidden_)};
  const bool backwards = only_reverse_ || direction == 1;
  for (int64_t i = 0; i < length; ++i) {
    const int64_t t = backwards ? length - 1 - i : i;
    step(direction, x_.data() + (batch_first_ ? b * time_ + t : t * batch_ + b) * input_, states);
    const int64_t row = batch_first_ ? (b * time_ + t) * directions_ + direction
                                     : (t * directions_ + direction) * batch_ + b;
    std::copy(states[0].begin(), states[0].end(), results->y.begin() + row * hidden_);
  }
  std::copy(states[0].begin(), states[0].end(), results->h.begin() + at);
  std::copy(states[1].begin(), states[1].end(), results->c.begin() + at);
}

absl::Status RecurrentRun::Run(const KernelArgs& args, const Step& step) const {
  for (const int64_t length : lengths_)
    if (length < 0 || length > time_)
      return ir::InvalidArgument("a sequence has " + std::to_string(length) + " of " +
                                 std::to_string(time_) + " steps");
  Results results = {
      std::vector<double>(static_cast<size_t>(time_ * directions_ * batch_ * hidden_)),
      Initial(args, kInitialH), Initial(args, kInitialC)};
  for (int64_t direction = 0; direction < directions_; ++direction)
    for (int64_t b = 0; b < batch_; ++b) RunSequence(direction, b, step, &results);
  const std::vector<double>* values[] = {&results.y, &results.h, &results.c};
  for (size_t i = 0; i < args.outputs.size(); ++i)
    if (args.outputs[i]) WriteDoubles(*values[i], args.outputs[i]);
  return absl::OkStatus();
}

absl::Status CheckRecurrent(const KernelContext& context) {
  return CheckInferredFloats(context, {0, 1, 2, kBias, kInitialH, kInitialC, 7});
}

}  // namespace weft::kernels::reference
