// If, Loop and Scan in random graphs: what is inside of them reads values from outside, and loops carry
// values from round to round.
#include <algorithm>

#include "ir/dialects/onnx/control.h"
#include "unittests/fuzz/graphs/graph_maker.h"

namespace weft::fuzz {
namespace {

namespace ops = ir::ops;
using Step = std::function<void()>;

void AddSteps(GraphMaker& maker, const Step& step) {
  for (size_t i = 1 + maker.random().Below(4); i > 0; --i) step();
}

bool HasNumbers(ir::Value value) {
  Random random(0);
  return MakeTensor(value.type().dtype(), {}, Contents::kTame, random).ok();
}

// The first value is an input, which has numbers.
ir::Value PickNumbers(GraphMaker& maker) {
  const ir::Value value = maker.PickValue();
  return HasNumbers(value) ? value : maker.values()[0];
}

ir::Value PickCondition(GraphMaker& maker) {
  std::vector<ir::Value> conditions;
  for (const ir::Value value : maker.values())
    if (const ir::Type type = value.type();
        type.dtype() == ir::DataType::kBool && type.rank() <= 1 && type.NumElements() == 1)
      conditions.push_back(value);
  const bool is_new = conditions.empty() || maker.random().Chance(30);
  return is_new ? maker.AddLeaf(maker.context().TensorType(ir::DataType::kBool, {}))
                : maker.random().Pick(conditions);
}

ir::Value AddTrue(GraphMaker& maker) {
  const bool yes[] = {true};
  return maker.AddConstant(maker.context().DenseAttrOf(
      maker.context().TensorType(ir::DataType::kBool, {}), std::span<const bool>(yes)));
}

bool AddIf(GraphMaker& maker, const Step& step) {
  const size_t num_results = 1 + maker.random().Below(2);
  const ir::Operation op = maker.BeginControl(
      {.opcode = ir::kOpcodeOf<ops::If>, .operands = {PickCondition(maker)}, .num_regions = 2},
      num_results);
  std::vector<ir::Type> types;
  for (uint32_t region = 0; region < 2; ++region) {
    maker.BeginBlock(op, region, {});
    AddSteps(maker, step);
    std::vector<ir::Value> returned;
    for (size_t i = 0; i < num_results; ++i) {
      returned.push_back(region == 0 ? PickNumbers(maker) : maker.LeafOrValue(types[i]));
      types.push_back(returned[i].type());
    }
    maker.EndBlock(returned);
  }
  return maker.EndControl(op);
}

// The number of rounds is known, or a condition of the body ends it earlier. Then nothing is gathered:
// it would be of a size that is not known.
bool AddLoop(GraphMaker& maker, const Step& step) {
  Random& random = maker.random();
  const bool is_fixed = random.Chance(60);
  const auto rounds = static_cast<int64_t>(random.Below(5));
  ir::OperationState state{.opcode = ir::kOpcodeOf<ops::Loop>,
                           .operands = {maker.AddInts({rounds}, true), {}},
                           .num_regions = 1};
  if (!is_fixed) {
    state.operands[1] = PickCondition(maker);
  } else if (random.Chance(50)) {
    state.operands[1] = AddTrue(maker);
  }
  const ir::Type condition = maker.context().TensorType(ir::DataType::kBool, {});
  std::vector<ir::Type> arguments = {maker.context().TensorType(ir::DataType::kI64, {}), condition};
  const size_t carried = random.Below(3), gathered = is_fixed ? random.Below(3) : 0;
  for (size_t i = 0; i < carried; ++i) {
    state.operands.push_back(PickNumbers(maker));
    arguments.push_back(state.operands.back().type());
  }
  if (carried + gathered == 0) return false;
  const ir::Operation op = maker.BeginControl(std::move(state), carried + gathered);
  const std::vector<ir::Value> inside = maker.BeginBlock(op, 0, arguments);
  AddSteps(maker, step);
  std::vector<ir::Value> returned = {is_fixed ? inside[1] : maker.LeafOrValue(condition)};
  for (size_t i = 0; i < carried; ++i) returned.push_back(maker.LeafOrValue(arguments[2 + i]));
  for (size_t i = 0; i < gathered; ++i) returned.push_back(PickNumbers(maker));
  maker.EndBlock(returned);
  return maker.EndControl(op);
}

// Values with an axis of one size, and those axes.
struct Scanned {
  std::vector<ir::Value> values;
  std::vector<int64_t> axes;
};

Scanned PickScanned(GraphMaker& maker) {
  Random& random = maker.random();
  Scanned scanned;
  int64_t length = 0;
  for (size_t i = 1 + random.Below(2); i > 0; --i) {
    const ir::Value value = PickNumbers(maker);
    if (value.type().rank() == 0) continue;
    const size_t axis = random.Below(value.type().rank());
    const int64_t size = value.type().dims()[axis];
    if (!scanned.values.empty() && size != length) continue;
    length = size;
    scanned.values.push_back(value);
    scanned.axes.push_back(static_cast<int64_t>(axis));
  }
  return scanned;
}

std::vector<int64_t> Directions(size_t count, Random& random) {
  std::vector<int64_t> directions(count);
  for (int64_t& direction : directions) direction = random.Chance(40);
  return directions;
}

bool AddScan(GraphMaker& maker, const Step& step) {
  Random& random = maker.random();
  const Scanned scanned = PickScanned(maker);
  if (scanned.values.empty()) return false;
  ir::OperationState state{.opcode = ir::kOpcodeOf<ops::Scan>, .num_regions = 1};
  std::vector<ir::Type> arguments;
  const size_t states = random.Below(3), outputs = random.Below(3);
  for (size_t i = 0; i < states; ++i) {
    state.operands.push_back(PickNumbers(maker));
    arguments.push_back(state.operands.back().type());
  }
  for (size_t i = 0; i < scanned.values.size(); ++i) {
    const ir::Type type = scanned.values[i].type();
    ir::Shape dims = type.shape();
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(scanned.axes[i]));
    state.operands.push_back(scanned.values[i]);
    arguments.push_back(maker.context().TensorType(type.dtype(), dims));
  }
  if (states + outputs == 0) return false;
  ops::Scan::Attrs<ir::BuilderSlot> attrs{
      .num_scan_inputs = static_cast<int64_t>(scanned.values.size()),
      .scan_input_axes = ir::Ints(scanned.axes)};
  if (random.Chance(40)) attrs.scan_input_directions = Directions(scanned.values.size(), random);
  if (random.Chance(40)) attrs.scan_output_directions = Directions(outputs, random);
  state.attrs = ir::MakeAttrs<ops::Scan>(maker.context(), attrs);
  const ir::Operation op = maker.BeginControl(std::move(state), states + outputs);
  maker.BeginBlock(op, 0, arguments);
  AddSteps(maker, step);
  std::vector<ir::Value> returned;
  for (size_t i = 0; i < states; ++i) returned.push_back(maker.LeafOrValue(arguments[i]));
  for (size_t i = 0; i < outputs; ++i) returned.push_back(PickNumbers(maker));
  maker.EndBlock(returned);
  return maker.EndControl(op);
}

}  // namespace

void AddControlFlow(GraphMaker& maker, const Step& step) {
  constexpr int kAttempts = 4;
  constexpr bool (*kKinds[])(GraphMaker&, const Step&) = {AddIf, AddLoop, AddScan};
  for (int i = 0; i < kAttempts; ++i)
    if (maker.random().Pick(kKinds)(maker, step)) return;
}

}  // namespace weft::fuzz
