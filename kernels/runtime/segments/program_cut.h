// Where a program is cut whose sizes are not all known before it runs: into what one plan runs, ops
// whose kernels size their results, and the rest, which waits for the sizes that those tell.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/program.h"
#include "kernels/runtime/value_type.h"

namespace weft::kernels {

// Whether every value of a specialised program is a tensor of static type, and none of strings: then
// one plan runs it.
bool HasKnownSizes(ir::Program& program);

bool AreInPlans(const auto&... values) {
  const auto is_in_plans = [](ir::Value v) { return !v || IsInPlans(v.type()); };
  return (std::all_of(values.begin(), values.end(), is_in_plans) && ...);
}

std::vector<ir::Operation> OpsOf(ir::Program& program);
bool IsConstantOp(ir::Operation op);

// Ops by their place in the body, values by number: the program's inputs, what its planned ops give
// away, results of dynamic ops.
struct ProgramCut {
  enum class Role { kConstant, kPlanned, kDynamic, kWaiting, kReturn };
  static constexpr int64_t kMaxLearnedBytes = 64 << 10;  // of an operand that says sizes

  std::vector<Role> roles;
  std::vector<ir::Operation> ops;
  bool is_progress = false;  // whether a value that somebody waits for will be known
  std::vector<ir::Value> values;
  size_t num_inputs = 0, num_planned = 0;                // of values
  std::unordered_map<uint32_t, size_t> number_of_value;  // looked up only
  std::unordered_map<uint32_t, bool> needed_by_rest;     // by value; whether it is learned

  ProgramCut(ir::Program& program, const std::vector<std::string>& providers);

 private:
  Role RoleOf(ir::Operation op, const std::vector<std::string>& providers);
  void Add(ir::Value value) {
    number_of_value.emplace(value.id(), values.size());
    values.push_back(value);
  }
  std::unordered_map<uint32_t, bool> ready_;  // values that this segment plans
  // Results of its dynamic ops whose types are known all the same: sequences, tensors of strings and
  // those of static type. Other dynamic ops may read them.
  std::unordered_map<uint32_t, bool> given_;
};

}  // namespace weft::kernels
