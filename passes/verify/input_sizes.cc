#include "passes/verify/input_sizes.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "ir/analysis/constant.h"
#include "ir/analysis/shape_inference.h"
#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/dialects/builtin.h"

namespace weft::passes {
namespace {

using SizeOfSymbol = std::map<int64_t, int64_t>;

// As the instance was found.
SizeOfSymbol FoundSizes(const std::vector<ir::Value>& inputs, const std::vector<ir::Type>& types) {
  SizeOfSymbol sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].type().HasRank()) continue;
    const ir::Shape shape = inputs[i].type().shape();
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (ir::IsSymbolicDim(shape[axis])) sizes[shape[axis]] = types[i].dims()[axis];
  }
  return sizes;
}

std::vector<ir::Type> TypesWith(const std::vector<ir::Value>& inputs,
                                const std::vector<ir::Type>& types, const SizeOfSymbol& sizes) {
  std::vector<ir::Type> bound;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Type type = inputs[i].type();
    ir::Shape shape = type.HasRank() ? type.shape() : types[i].shape();
    for (int64_t& size : shape)
      if (ir::IsSymbolicDim(size)) size = sizes.at(size);
    bound.push_back(type.context()->TensorType(type.dtype(), shape));
  }
  return bound;
}

using ir::Operation;
using ir::Program;
using ir::Value;

// Whether no op of the program forbids these sizes: a fused norm's scale of 3 elements for an x of 1 column,
// which its reference body would broadcast.
bool AreAllowed(const Program& program, const SizeOfSymbol& sizes) {
  const std::unique_ptr<Program> bound = program.Clone();
  for (const auto& [symbol, size] : sizes)
    if (!ir::SetDim(*bound, ir::SymbolName(symbol), size).ok()) return false;
  return ir::PropagateTypes(*bound).ok();
}

class Opening {
 public:
  Opening(Program& program, const std::set<int64_t>& sizes)
      : from_(program),
        sizes_(sizes),
        to_(std::make_unique<Program>(program.context())),
        b_(to_.get()) {}

  std::unique_ptr<Program> Make() {
    const Operation end = from_.body().Terminator();
    if (!end || !end.Is<ir::ReturnOp>()) return nullptr;
    int inputs = 0;
    for (const Value input : from_.body().arguments())
      made_[input.id()] = b_.AddInput("x" + std::to_string(inputs++), Opened(input.type()));
    for (const Operation op : from_.body())
      if (op != end && !Add(op)) return nullptr;
    std::vector<std::pair<std::string, Value>> outputs;
    for (const Value v : end.operands())
      outputs.emplace_back("y" + std::to_string(outputs.size()), made_.at(v.id()));
    b_.Return(std::move(outputs));
    return ir::Verify(*to_).ok() ? std::move(to_) : nullptr;
  }

 private:
  ir::Type Opened(ir::Type type) const {
    if (!type.IsTensor() || !type.HasRank()) return type;
    ir::Shape shape = type.shape();
    for (int64_t& size : shape)
      if (sizes_.count(size) > 0) size = ir::SymbolicDim("s" + std::to_string(size));
    return to_->context()->TensorType(type.dtype(), shape);
  }

  bool Add(Operation op) {
    if (op.num_regions() > 0) return false;
    ir::OperationState state{.opcode = op.opcode(), .operands = {}, .attrs = op.attrs()};
    for (const Value v : op.operands()) state.operands.push_back(v ? made_.at(v.id()) : Value());
    if (op.num_operands() == 2 && op.name() == "onnx.Reshape" && ir::Contents(op.operand(1)))
      state.operands[1] = ListFor(op, state.operands[0]);
    Operation made;
    std::string ignored;
    if (!b_.TryCreate(std::move(state), op.num_results(), &made, &ignored)) return false;
    for (uint32_t i = 0; i < op.num_results(); ++i) made_[op.result(i).id()] = made.result(i);
    return true;
  }
  // What a Reshape lists: 0 for a size of x at its place, -1 for one other that is open.
  Value ListFor(Operation reshape, Value x) {
    const ir::Attribute dense = ir::Contents(reshape.operand(1));
    ir::Ints list;
    bool has_rest = false;
    for (int64_t i = 0; i < dense.dense_type().NumElements(); ++i) {
      list.push_back(static_cast<int64_t>(ir::DenseElement(dense, i)));
      has_rest |= list.back() == -1;
    }
    for (size_t i = 0; i < list.size(); ++i) {
      if (sizes_.count(list[i]) == 0) continue;
      const std::string symbol = "s" + std::to_string(list[i]);
      if (x.type().HasRank() && i < x.type().rank() &&
          x.type().dims()[i] == ir::SymbolicDim(symbol)) {
        list[i] = 0;
      } else if (!has_rest) {
        list[i] = -1;
        has_rest = true;
      }
    }
    return b_.Constant(
        b_.context()->DenseAttrOf(dense.dense_type(), std::span<const int64_t>(list)));
  }

  Program& from_;
  const std::set<int64_t>& sizes_;
  std::unique_ptr<Program> to_;
  ir::Builder b_;
  std::map<uint32_t, Value> made_;  // by value
};

// Of s2 and so on; of larger ones no program is made.
std::optional<int64_t> NumberOf(int64_t symbol) {
  constexpr int64_t kLargest = 1000;
  const std::string_view name = ir::SymbolName(symbol);
  if (name.size() < 2 || name[0] != 's') return std::nullopt;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  const bool is_number = error == std::errc() && end == name.data() + name.size();
  return is_number && number >= 2 && number <= kLargest ? std::optional(number) : std::nullopt;
}

}  // namespace

std::vector<std::vector<ir::Type>> InputTypesOf(const RuleInstance& instance, uint64_t seed) {
  constexpr int kMixed = 4;
  constexpr int64_t kSizes[] = {0, 1, 1, 2, 3};
  const std::vector<ir::Value> inputs = instance.program->body().arguments().vec();
  const SizeOfSymbol found = FoundSizes(inputs, instance.types);
  std::vector<std::vector<ir::Type>> all;
  const auto add = [&](const SizeOfSymbol& sizes) {
    if (sizes != found && !AreAllowed(*instance.program, sizes)) return;
    std::vector<ir::Type> types = TypesWith(inputs, instance.types, sizes);
    if (std::find(all.begin(), all.end(), types) == all.end()) all.push_back(std::move(types));
  };
  const auto change = [&](const auto& size_for) {
    SizeOfSymbol sizes = found;
    for (auto& [symbol, size] : sizes) size = size_for(size);
    add(sizes);
  };
  change([](int64_t size) { return size == 5 ? 2 : size + 1; });
  add(found);
  change([](int64_t) { return int64_t{1}; });
  std::mt19937_64 random(seed);
  for (int i = 0; i < kMixed && !found.empty(); ++i)
    change([&](int64_t size) {
      return random() % 2 == 0 ? size : kSizes[random() % std::size(kSizes)];
    });
  return all;
}

std::unique_ptr<Program> WithOpenSizes(Program& program, const std::set<int64_t>& sizes) {
  return Opening(program, sizes).Make();
}

bool HasOpenSizes(Program& program) {
  const std::vector<Value> inputs = program.body().arguments().vec();
  return std::any_of(inputs.begin(), inputs.end(),
                     [](Value input) { return !input.type().IsStatic(); });
}

std::optional<std::vector<ir::Type>> ClosedInputTypes(Program& program) {
  const std::vector<Value> inputs = program.body().arguments().vec();
  std::vector<ir::Type> ranked;
  SizeOfSymbol sizes;
  std::vector<int64_t> nameless;  // whose name says no number
  for (const Value input : inputs) {
    const ir::Type type = input.type();
    if (!type.IsStatic() && (!type.IsTensor() || !type.HasRank())) return std::nullopt;
    ranked.push_back(type);
    if (type.IsStatic()) continue;
    for (const int64_t size : type.shape()) {
      if (ir::IsStaticDim(size)) continue;
      if (!ir::IsSymbolicDim(size)) return std::nullopt;
      const std::optional<int64_t> number = NumberOf(size);
      if (sizes.emplace(size, number.value_or(0)).second && !number) nameless.push_back(size);
    }
  }
  if (nameless.empty()) return TypesWith(inputs, ranked, sizes);
  constexpr int64_t kSizes[] = {2, 3, 4, 1};
  for (size_t attempt = 0; attempt < 64; ++attempt) {  // all of three symbols
    for (size_t i = 0; i < nameless.size(); ++i)
      sizes[nameless[i]] = kSizes[(i + (i < 3 ? attempt >> (2 * i) : 0)) % 4];
    if (AreAllowed(program, sizes)) return TypesWith(inputs, ranked, sizes);
  }
  return std::nullopt;
}

}  // namespace weft::passes
