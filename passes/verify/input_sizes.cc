#include "passes/verify/input_sizes.h"

#include <algorithm>
#include <map>
#include <random>

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

}  // namespace

std::vector<std::vector<ir::Type>> InputTypesOf(const RuleInstance& instance, uint64_t seed) {
  constexpr int kMixed = 4;
  constexpr int64_t kSizes[] = {0, 1, 1, 2, 3};
  const std::vector<ir::Value> inputs = instance.program->body().arguments().vec();
  const SizeOfSymbol found = FoundSizes(inputs, instance.types);
  std::vector<std::vector<ir::Type>> all;
  const auto add = [&](const SizeOfSymbol& sizes) {
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

}  // namespace weft::passes
