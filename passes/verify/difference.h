// How far two results are apart.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/program.h"

namespace weft::passes {

struct Difference {
  // Infinite where types or shapes differ, or where one side is NaN or infinite and the other is not
  // the same; else the largest over all elements.
  double absolute = 0;
  double relative = 0;  // over the largest expected element of the tensor (over 1 where that is 0)
  // Over the unit in the last place of each expected element, or of 1/1024 of the largest where the
  // element is smaller.
  double ulps = 0;
  double sum_of_ulps = 0;
  int64_t elements = 0;
  int64_t differing = 0;  // elements that are not the same number; -0 and 0 are, a NaN is any other
  bool same_bits = true;  // but for the payload of a NaN

  double mean_ulps() const { return elements == 0 ? 0 : sum_of_ulps / double(elements); }
  void Add(const Difference& other);
};

// Of dense tensors of real types.
Difference Compare(ir::Attribute expected, ir::Attribute actual);
// Of all outputs of two programs; infinite where their numbers differ.
Difference CompareAll(const std::vector<ir::Attribute>& expected,
                      const std::vector<ir::Attribute>& actual);

bool IsQuantized(ir::Attribute dense);  // of 8-bit integers

// Outputs of a program, and of another that should give the same.
struct Results {
  std::vector<ir::Attribute> before, after;
};
// "", or how they differ: floats by more than `relative` of the largest element of an output and, where
// there are any, than `absolute`, for each output; integers of 8 bits by more than a step, others at all.
// Those of 8 bits that differ by a step are counted in `steps`.
std::string WhyNotSame(const Results& results, double relative, Difference* steps,
                       std::span<const double> absolute = {});
// Whether steps in so few elements are those of numbers between two integers that were rounded either way.
bool AreTies(const Difference& steps);

// Elements that are no numbers before, as 0 on both sides: where the original function is not
// defined, real arithmetic says nothing.
void IgnoreUndefined(std::vector<ir::Attribute>* expected, std::vector<ir::Attribute>* actual);

}  // namespace weft::passes
