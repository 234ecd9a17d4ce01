// One operator with operands and attributes that it accepts, by trial: either on values of the graph
// and what fits to them, or on one of the lists of operands that tests of kernels are made of.
#include <algorithm>
#include <numeric>

#include "unittests/fuzz/graphs/graph_maker.h"
#include "unittests/kernels/op_cases.h"

namespace weft::fuzz {
namespace {

// Those that can be computed and always give the same.
std::vector<const ir::OpDef*> OpsToDraw(const ir::IrContext& context) {
  std::vector<const ir::OpDef*> ops;
  for (const ir::OpDef* def : context.Ops())
    if (def->infer != nullptr && def->info->num_regions == 0 && def->Has(ir::kPure) &&
        !def->Has(ir::kRandom) && !def->name().starts_with("builtin."))
      ops.push_back(def);
  return ops;
}

// Axes, a permutation, a shape: what operands and attributes of integers hold.
std::vector<int64_t> RandomInts(ir::Value like, Random& random) {
  const ir::Shape dims = like && like.type().HasRank() ? like.type().shape() : ir::Shape{2, 3};
  const auto rank = static_cast<int64_t>(dims.size());
  switch (random.Below(6)) {
    case 0: {
      std::vector<int64_t> perm(dims.size());
      std::iota(perm.begin(), perm.end(), 0);
      for (size_t i = perm.size(); i > 1; --i) std::swap(perm[i - 1], perm[random.Below(i)]);
      return perm;
    }
    case 1:
      return {dims.begin(), dims.end()};
    case 2:
      return {-1};
    case 3:
      return std::vector<int64_t>(dims.size(), 1 + static_cast<int64_t>(random.Below(2)));
    case 4:
      return {rank == 0 ? 0 : static_cast<int64_t>(random.Below(dims.size()))};
    default:
      return {static_cast<int64_t>(random.Below(3)), static_cast<int64_t>(random.Below(4))};
  }
}

// The type of `like`, or one that broadcasts with it.
ir::Type TypeLike(ir::Value like, GraphMaker& maker) {
  Random& random = maker.random();
  ir::Shape dims = like.type().shape();
  if (random.Chance(25))
    dims.erase(dims.begin(),
               dims.begin() + static_cast<std::ptrdiff_t>(random.Below(dims.size() + 1)));
  if (!dims.empty() && random.Chance(20)) dims[random.Below(dims.size())] = 1;
  return maker.context().TensorType(like.type().dtype(), dims);
}

ir::Value DrawOperand(const ir::OpDef& def, size_t slot, ir::Value first, GraphMaker& maker) {
  Random& random = maker.random();
  const bool is_data = (def.info->data >> std::min<size_t>(slot, 31)) & 1;
  if (!is_data && random.Chance(80)) {
    const bool scalar =
        random.Chance(20);  // before the others: compilers order arguments differently
    return maker.AddInts(RandomInts(first, random), scalar);
  }
  if (!first) return maker.PickValue();
  if (random.Chance(50)) return maker.LeafOrValue(TypeLike(first, maker));
  const ir::Value same = maker.PickOfType(first.type().dtype());
  return same && random.Chance(85) ? same : maker.PickValue();
}

std::vector<ir::Value> DrawOperands(const ir::OpDef& def, GraphMaker& maker) {
  std::vector<ir::Value> operands;
  ir::Value first;
  for (const ir::OperandDef& operand : def.info->operands) {
    const size_t slot = operands.size();
    if (operand.arity == ir::Arity::kOptional && maker.random().Chance(50)) {
      operands.push_back({});
      continue;
    }
    const size_t count = operand.arity == ir::Arity::kVariadic ? 1 + maker.random().Below(3) : 1;
    for (size_t i = 0; i < count; ++i) operands.push_back(DrawOperand(def, slot, first, maker));
    if (!first) first = operands.back();
  }
  while (!operands.empty() && !operands.back()) operands.pop_back();
  return operands;
}

std::vector<ir::Value> OperandsFromList(const ir::OpDef& def, GraphMaker& maker) {
  const auto& list = maker.random().Pick(kernels::OperandLists());
  size_t listed = 0, fewest = 0, most = 0;
  for (const ir::OperandDef& operand : def.info->operands) {
    ++listed;
    if (operand.arity != ir::Arity::kOptional) fewest = listed;
    most += operand.arity == ir::Arity::kVariadic ? 3 : 1;
  }
  most = std::min(most, list.size());
  std::vector<ir::Value> operands;
  if (most < fewest) return operands;
  const size_t count = fewest + maker.random().Below(most - fewest + 1);
  for (size_t i = 0; i < count; ++i) {
    const kernels::OperandSpec& spec = list[i];
    const ir::Type type = maker.context().TensorType(spec.dtype, spec.dims);
    if (!spec.contents.empty()) {
      operands.push_back(maker.AddInts(spec.contents, spec.dims.empty()));
    } else if (spec.positive) {
      const std::vector<float> ones(static_cast<size_t>(type.NumElements()), 0.75f);
      operands.push_back(
          maker.AddConstant(maker.context().DenseAttrOf(type, std::span<const float>(ones))));
    } else {
      operands.push_back(maker.LeafOrValue(type));
    }
  }
  return operands;
}

ir::AttrDict DrawAttributes(const ir::OpDef& def, ir::Value first, GraphMaker& maker) {
  ir::IrContext& context = maker.context();
  Random& random = maker.random();
  ir::AttrDict attrs = kernels::BaseAttributes(context, def);
  for (const ir::FieldDef& field : def.fields) {
    const bool required = field.make_default == nullptr && !field.optional;
    if (!required && !random.Chance(30)) continue;
    const std::vector<ir::Attribute> some = kernels::Alternatives(context, field);
    if (field.kind == ir::AttrKind::kInts && random.Chance(60)) {
      attrs = context.With(attrs, field.name, context.IntsAttr(RandomInts(first, random)));
    } else if (field.kind == ir::AttrKind::kInt && random.Chance(50)) {
      attrs = context.With(attrs, field.name,
                           context.IntAttr(static_cast<int64_t>(random.Below(5)) - 2));
    } else if (!some.empty()) {
      attrs = context.With(attrs, field.name, random.Pick(some));
    }
  }
  return attrs;
}

size_t DrawNumResults(const ir::OpDef& def, Random& random) {
  size_t count = 0;
  bool more = true;
  for (const ir::OperandDef& result : def.info->results) {
    more = more && (result.arity == ir::Arity::kOne || random.Chance(30));
    if (more) count += result.arity == ir::Arity::kVariadic ? 1 + random.Below(3) : 1;
  }
  return std::max<size_t>(count, 1);
}

}  // namespace

bool AddRandomOp(GraphMaker& maker) {
  constexpr int kAttempts = 25;
  Random& random = maker.random();
  const std::vector<const ir::OpDef*> ops = OpsToDraw(maker.context());
  const ir::OpDef& def = *random.Pick(ops);
  for (int i = 0; i < kAttempts; ++i) {
    const bool from_list = random.Chance(i < 8 ? 15 : 60);
    ir::OperationState state{.opcode = def.opcode};
    state.operands = from_list ? OperandsFromList(def, maker) : DrawOperands(def, maker);
    // Element types without random numbers have no leaves.
    const ir::Value first = state.operands.empty() ? ir::Value() : state.operands[0];
    state.attrs = DrawAttributes(def, first, maker);
    ir::Operation added;
    if (maker.AddOp(std::move(state), DrawNumResults(def, random), &added)) return true;
  }
  return false;
}

}  // namespace weft::fuzz
