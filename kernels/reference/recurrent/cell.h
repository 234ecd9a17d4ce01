// What the recurrent layers share: activations, and the walk over time and directions.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "ir/dialects/onnx/nn/recurrent.h"
#include "kernels/reference/inferred.h"

namespace weft::kernels::reference {

// An activation function with its parameters.
struct Gate {
  ir::ops::GateActivation kind;
  double alpha = 0, beta = 0;
  double operator()(double x) const;
};

struct GateSettings {
  std::optional<ir::Floats> alpha, beta;
  std::optional<ir::Strings> activations;
  std::vector<ir::ops::GateActivation> defaults;  // of one direction
};

// All activations of all directions. A parameter is the next of the list, or that of the ONNX op.
std::vector<Gate> MakeGates(const GateSettings& settings, size_t directions);

// The operands in double, of one layer with `gates` blocks of weights per direction.
class RecurrentRun {
 public:
  struct Options {
    ir::ops::RecurrentDirection direction;
    bool batch_first;
    double clip;  // infinity: none
  };
  RecurrentRun(const Options& options, const KernelArgs& args);

  int64_t hidden() const { return hidden_; }
  size_t directions() const { return static_cast<size_t>(directions_); }
  double Clip(double x) const { return std::clamp(x, -clip_, clip_); }  // a NaN stays
  // Row i of all gates for input x: x . w^T + wb, and h . r^T + rb.
  double OfInput(int64_t direction, int64_t row, const double* x) const;
  double OfState(int64_t direction, int64_t row, const double* h) const;

  // state[0] is h, which y gets; state[1] the cell of an LSTM. Step computes the next states of one
  // element of the batch in place.
  using States = std::array<std::vector<double>, 2>;
  using Step = std::function<void(int64_t direction, const double* x, States& states)>;
  absl::Status Run(const KernelArgs& args, const Step& step) const;

 private:
  struct Results;
  // Offset of the state of a direction and an element of the batch in tensors of states.
  int64_t StateAt(int64_t direction, int64_t b) const;
  void RunSequence(int64_t direction, int64_t b, const Step& step, Results* results) const;
  std::vector<double> Initial(const KernelArgs& args, size_t i) const;

  bool batch_first_;
  bool only_reverse_;
  double clip_;
  int64_t time_, batch_, input_, hidden_, directions_, rows_;
  std::vector<double> x_, w_, r_, b_;
  std::vector<int64_t> lengths_;
};

// An attribute struct of a layer as settings.
template <class Attrs>
RecurrentRun::Options OptionsOf(const Attrs& attrs) {
  return {.direction = attrs.direction,
          .batch_first = attrs.layout == 1,
          .clip = attrs.clip ? double{*attrs.clip} : HUGE_VAL};
}
template <class Attrs>
GateSettings SettingsOf(const Attrs& attrs, std::vector<ir::ops::GateActivation> defaults) {
  return {attrs.activation_alpha, attrs.activation_beta, attrs.activations, std::move(defaults)};
}

absl::Status CheckRecurrent(const KernelContext& context);

}  // namespace weft::kernels::reference
