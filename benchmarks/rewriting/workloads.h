// The programs of the rewriting benchmark, the same that peers/mlir builds: one graph op with one
// block; N counts the ops of its body without sinks and return. All division is C's.
//
//   transpose_pairs  N/2 pairs transpose(transpose(arg)), eight results to a sink
//   wide_return      the same pairs, all results operands of one return
//   cascade          one chain of N transposes
//   matmul_add_relu  a chain of N/3 relu(add(matmul(x, w), b))
//   no_match         N/6 groups of six ops in which neither rule fits
//   many_patterns    N/10 groups of ten unary ops, one match of 100 patterns in each
//   many_patterns_1000  the same with 1000 patterns
//   cse              N/3 times x = add(relu(x), relu(x))
//   dead             a chain of N relus that nothing reads
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "ir/program.h"

namespace weft::bench {

// Pattern i of P: k_r(m_s(x)) where i is even, k_r(m_s(m_t(x))) where it is odd.
struct UnaryChain {
  int r, s, t;
};
constexpr UnaryChain ChainOf(int pattern, int num_patterns) {
  const int s = num_patterns <= 100 ? (7 * pattern + 3) % 60 : (pattern / 40 + 7 * pattern) % 60;
  return {pattern % 40, s, (s + 11) % 60};
}

struct Workload {
  std::unique_ptr<ir::Program> program;
  int64_t body_ops = 0;  // sinks and return not counted
  // What rewriting with the workload's patterns must do.
  int64_t rewrites = 0;
  int64_t body_ops_after = 0;
  int64_t sinks = 0;
};

const std::vector<std::string_view>& WorkloadNames();
// No program for an unknown name.
Workload MakeWorkload(ir::IrContext& context, std::string_view name, int64_t n);

}  // namespace weft::bench
