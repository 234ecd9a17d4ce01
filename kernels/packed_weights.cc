#include "kernels/packed_weights.h"

#include <algorithm>
#include <cstring>

#include "ir/analysis/constant.h"
#include "ir/context.h"
#include "ir/program.h"
#include "ir/walk.h"

namespace weft::kernels {

std::set<uint32_t> LargeConstantsOf(ir::Program& program) {
  std::set<uint32_t> ids;
  ir::Walk(program, [&](ir::Operation op) {
    if (op.num_results() != 1) return;
    const ir::Attribute dense = ir::ConstantValue(op.result());
    if (dense && dense.num_bytes() > PackedWeights::kSmall) ids.insert(dense.id());
  });
  return ids;
}

// Packed first: the next constant may lie at the same address, and then is the same attribute.
PackedWeights::~PackedWeights() {
  entries_.clear();
  for (const auto& [id, buffer] : own_)
    if (buffer.release) buffer.release();
}

std::string PackedWeights::Key(std::string_view how, const std::vector<ir::Attribute>& of) {
  std::string key(how);
  for (const ir::Attribute constant : of)
    key += constant ? " " + std::to_string(constant.id()) : " -";
  return key;
}

PackedWeights& PackedWeights::KeeperOf(const std::vector<ir::Attribute>& of) {
  PackedWeights* keeper = this;
  const auto owns = [&](ir::Attribute constant) { return keeper->own_.count(constant.id()) > 0; };
  while (keeper->around_ != nullptr && !std::any_of(of.begin(), of.end(), owns))
    keeper = keeper->around_;
  return *keeper;
}

void PackedWeights::Own(ir::Attribute constant) {
  if (around_ != nullptr && constant.num_bytes() > kSmall) own_.try_emplace(constant.id());
}

ir::Attribute PackedWeights::WithDims(ir::Attribute dense, std::span<const int64_t> dims) {
  if (std::ranges::equal(dims, dense.dense_type().dims())) return dense;
  return Derive("dims=" + ir::ToString(dims), dense, [&] {
    ir::IrContext& context = *dense.dense_type().context();
    const ir::Type type = context.TensorType(dense.dense_type().dtype(), dims);
    if (dense.storage()->computed == nullptr) return context.DenseAttrView(type, dense.bytes());
    return context.ComputedDenseAttr(
        type, [dense](size_t first, std::span<std::byte> to) { dense.Read(first, to); });
  });
}

// The contents end before the context does, which nobody notices: it finds large ones by their address.
ir::Attribute PackedWeights::Adopt(ir::Type type, ir::WeightBuffer buffer) {
  ir::IrContext& context = *type.context();
  const std::span<const std::byte> bytes(buffer.data, buffer.size);
  if (bytes.size() <= kSmall) {
    const ir::Attribute dense = context.DenseAttr(type, bytes);
    if (buffer.release) buffer.release();
    return dense;
  }
  const ir::Attribute dense = context.DenseAttrView(type, bytes);
  own_[dense.id()] = std::move(buffer);
  return dense;
}

ir::Attribute PackedWeights::AdoptCopy(ir::Type type, std::span<const std::byte> bytes) {
  std::byte* writable = nullptr;
  ir::WeightBuffer buffer = ir::IrContext::AllocateWeightBuffer(bytes.size(), &writable);
  if (!bytes.empty()) std::memcpy(writable, bytes.data(), bytes.size());
  return Adopt(type, std::move(buffer));
}

void PackedWeights::KeepConstantsOf(ir::Program& program) {
  const std::set<uint32_t> used = LargeConstantsOf(program);
  std::erase_if(own_, [&](const auto& own) {
    const ir::WeightBuffer& buffer = own.second;
    if (buffer.data == nullptr || used.count(own.first) > 0) return false;
    if (buffer.release) buffer.release();
    return true;
  });
}

void PackedWeights::OwnConstantsOf(ir::Program& program, const std::set<uint32_t>& others) {
  for (const uint32_t id : LargeConstantsOf(program))
    if (others.count(id) == 0) own_.try_emplace(id);
}

size_t PackedWeights::bytes_adopted() const {
  size_t bytes = 0;
  for (const auto& [id, buffer] : own_) bytes += buffer.size;
  return bytes;
}

}  // namespace weft::kernels
