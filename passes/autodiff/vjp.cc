#include "passes/autodiff/vjp.h"

#include <map>

#include "ir/base/check.h"

namespace weft::passes {
namespace {

std::map<std::string_view, Vjp>& Vjps() {
  static auto* vjps = new std::map<std::string_view, Vjp>;
  return *vjps;
}

}  // namespace

namespace internal {
bool AddVjp(std::string_view op_name, Vjp vjp) {
  WEFT_CHECK(Vjps().emplace(op_name, vjp).second, "an op has two gradients");
  return true;
}
}  // namespace internal

const Vjp* FindVjp(std::string_view op_name) {
  const auto found = Vjps().find(op_name);
  return found == Vjps().end() ? nullptr : &found->second;
}

std::vector<ir::Value> VjpContext::Create(const ir::OpDef& def, ir::ValueList operands,
                                          ir::AttrDict attrs, size_t num_results) {
  const std::span<const ir::Value> values = operands;
  ir::Operation created;
  std::string error;
  ir::OperationState state{
      .opcode = def.opcode, .operands = {values.begin(), values.end()}, .attrs = attrs};
  if (status_.ok() && builder_.TryCreate(std::move(state), num_results, &created, &error))
    return created.results().vec();
  if (status_.ok()) status_ = ir::InvalidArgument(error);
  return std::vector<ir::Value>(num_results);
}

void VjpContext::SetGrads(const ir::OpDef& def, ir::ValueList operands,
                          std::initializer_list<uint32_t> of) {
  bool any = false;
  for (const uint32_t i : of) any |= wants(i);
  if (!any) return;
  std::vector<ir::NamedAttribute> shared;
  for (const ir::NamedAttribute& attr : op_.attrs())
    if (def.FindField(attr.name)) shared.push_back(attr);
  const auto results =
      Create(def, operands, builder_.context()->Dict(std::move(shared)), def.info->results.size());
  size_t next = 0;
  for (const uint32_t i : of) SetGrad(i, results[next++]);
}

}  // namespace weft::passes
