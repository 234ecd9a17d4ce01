// One step of each recurrent layer.
#include "kernels/reference/recurrent/cell.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;
using ops::GateActivation;

absl::Status RNN(const AttrsOf<ops::RNN>& attrs, const KernelArgs& args) {
  const RecurrentRun run(OptionsOf(attrs), args);
  const std::vector<Gate> f =
      MakeGates(SettingsOf(attrs, {GateActivation::kTanh}), run.directions());
  return run.Run(args, [&](int64_t direction, const double* x, RecurrentRun::States& states) {
    std::vector<double> next;
    for (int64_t i = 0; i < run.hidden(); ++i)
      next.push_back(f[direction](
          run.Clip(run.OfInput(direction, i, x) + run.OfState(direction, i, states[0].data()))));
    states[0] = next;
  });
}
const RegisterReference<ops::RNN> kRnn(&RNN, &CheckRecurrent);

absl::Status GRU(const AttrsOf<ops::GRU>& attrs, const KernelArgs& args) {
  const RecurrentRun run(OptionsOf(attrs), args);
  const std::vector<Gate> gates = MakeGates(
      SettingsOf(attrs, {GateActivation::kSigmoid, GateActivation::kTanh}), run.directions());
  const int64_t n = run.hidden();
  return run.Run(args, [&](int64_t direction, const double* x, RecurrentRun::States& states) {
    const Gate &f = gates[2 * direction], &g = gates[2 * direction + 1];
    std::vector<double>& h = states[0];
    std::vector<double> update, reset, reset_h;
    for (int64_t i = 0; i < n; ++i) {
      const auto gate = [&](int64_t row) {
        return f(run.Clip(run.OfInput(direction, row, x) + run.OfState(direction, row, h.data())));
      };
      update.push_back(gate(i));
      reset.push_back(gate(n + i));
      reset_h.push_back(reset[i] * h[i]);
    }
    std::vector<double> next;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = 2 * n + i;
      const double state = attrs.linear_before_reset != 0
                               ? reset[i] * run.OfState(direction, row, h.data())
                               : run.OfState(direction, row, reset_h.data());
      const double hidden = g(run.Clip(run.OfInput(direction, row, x) + state));
      next.push_back((1 - update[i]) * hidden + update[i] * h[i]);
    }
    h = next;
  });
}
const RegisterReference<ops::GRU> kGru(&GRU, &CheckRecurrent);

absl::Status LSTM(const AttrsOf<ops::LSTM>& attrs, const KernelArgs& args) {
  const RecurrentRun run(OptionsOf(attrs), args);
  const std::vector<Gate> gates = MakeGates(
      SettingsOf(attrs, {GateActivation::kSigmoid, GateActivation::kTanh, GateActivation::kTanh}),
      run.directions());
  const int64_t n = run.hidden();
  const std::vector<double> peepholes = args.HasInput(7)
                                            ? ReadDoubles(args.inputs[7])
                                            : std::vector<double>(run.directions() * 3 * n);
  return run.Run(args, [&](int64_t direction, const double* x, RecurrentRun::States& states) {
    const Gate *f = &gates[3 * direction], &g = f[1], &last = f[2];
    const double* p = peepholes.data() + direction * 3 * n;  // of the gates i, o, f
    std::vector<double> next_h, next_c;
    for (int64_t i = 0; i < n; ++i) {
      const auto sum = [&](int64_t row) {
        return run.OfInput(direction, row, x) + run.OfState(direction, row, states[0].data());
      };
      const double c = states[1][i];
      const double input = (*f)(run.Clip(sum(i) + p[i] * c));
      const double forget =
          attrs.input_forget != 0 ? 1 - input : (*f)(run.Clip(sum(2 * n + i) + p[2 * n + i] * c));
      const double cell = forget * c + input * g(run.Clip(sum(3 * n + i)));
      const double output = (*f)(run.Clip(sum(n + i) + p[n + i] * cell));
      next_c.push_back(cell);
      next_h.push_back(output * last(cell));
    }
    states = {next_h, next_c};
  });
}
const RegisterReference<ops::LSTM> kLstm(&LSTM, &CheckRecurrent);

}  // namespace
}  // namespace weft::kernels::reference
