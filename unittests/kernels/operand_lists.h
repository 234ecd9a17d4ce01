// Lists of operands, for tests that make cases of ops from their definitions (op_cases.h). An op that
// none of them fits wants a line more.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/type.h"

namespace weft::kernels {

struct OperandSpec {
  ir::Shape dims = {};
  ir::DataType dtype = ir::DataType::kF32;
  std::vector<int64_t> contents = {};  // of a constant of i64, i32 or f32
  bool constant = false;
  bool positive = false;  // floats only: a variance

  bool IsFloat() const { return dtype == ir::DataType::kF32; }
};

inline const std::vector<std::vector<OperandSpec>>& OperandLists() {
  const auto ints = [](std::vector<int64_t> contents) {
    return OperandSpec{
        {static_cast<int64_t>(contents.size())}, ir::DataType::kI64, std::move(contents)};
  };
  const auto scalar = [](int64_t value) { return OperandSpec{{}, ir::DataType::kI64, {value}}; };
  const auto indices = [](ir::Shape dims) { return OperandSpec{dims, ir::DataType::kI64}; };
  const auto bytes = [](ir::Shape dims) { return OperandSpec{dims, ir::DataType::kU8}; };
  const OperandSpec scale = {.positive = true}, zero = bytes({});
  const OperandSpec x = {{3, 37}}, bools = {{3, 37}, ir::DataType::kBool};
  static const std::vector<std::vector<OperandSpec>> lists = {
      // elementwise, movement
      {x, x, x},
      {x, {{37}}, {{37}}, x},  // normalizations, broadcasts
      {x, {}, {}},
      {bools, x, x},
      {{{3, 1, 37}}},
      {{{2, 3, 5, 7}}, {{3, 1, 1}}},
      {x, ints({1})},
      {x, {{1}, ir::DataType::kI32, {5}}},
      {x, ints({37, 3})},
      {x, ints({3, 37})},
      {x, ints({2, 0})},
      {x, ints({1, 36})},
      {{{3, 1, 37}}, ints({1})},
      {x, ints({0}), ints({2}), ints({0}), ints({1})},
      {x, ints({1, 0, 0, 2}), {}},
      // products
      {{{5, 17}}, {{17, 33}}, {{33}}, {{5, 33}}},
      {{{9, 9}}, {{9, 9}}, {{9}}, {{9, 9}}},
      {{{1, 40}}, {{40, 33}}, {{33}}},
      {{{5, 20}}, bytes({1, 2, 8}), {{2}}, {{2}}},
      {{{5, 20}}, {{20, 3}, ir::DataType::kU8, {}, true}, {{2, 3}, ir::DataType::kF32, {}, true}},
      {{{2, 5, 17}}, {{2, 17, 6}}, {{2, 5, 6}}},
      {{{1, 2, 5, 16}}, {{1, 2, 7, 16}}, {{1, 2, 7, 24}}, {{5, 7}}},
      {{{1, 4, 4, 16}}, {{1, 4, 4, 16}}, {{1, 4, 4, 16}}, {{4, 4}}},
      // channels second: convolutions, normalizations
      {{{1, 6, 9, 9}}, {{10, 6, 3, 3}}, {{10}}},
      {{{1, 20, 9, 9}}, {{20, 1, 3, 3}}, {{20}}},
      {{{1, 6, 9, 9}}, {{10, 3, 3, 3}}, {{10}}},
      {{{2, 6, 5}}, {{6}}, {{6}}, {{6}}, {.dims = {6}, .positive = true}},
      // channels last, with a residual
      {{{1, 9, 9, 6}}, {{10, 6, 3, 3}}, {{10}}, {{1, 9, 9, 10}}},
      {{{1, 9, 9, 20}}, {{20, 1, 3, 3}}, {{20}}, {{1, 9, 9, 20}}},
      {{{1, 9, 9, 20}}, {{40, 1, 3, 3}}, {{40}}, {{1, 9, 9, 40}}},
      {{{1, 9, 9, 6}}, {{10, 3, 3, 3}}, {{10}}, {{1, 9, 9, 10}}},
      {{{1, 9, 9, 6}}, {{10, 6, 1, 1}}, {{10}}, {{1, 9, 9, 10}}},
      {{{1, 16, 16, 32}}, {{33, 32, 3, 3}}, {{33}}, {{1, 14, 14, 33}}},
      // not of floats
      {bools, bools},
      {bytes({3, 37}), bytes({3, 37})},
      {bytes({5, 17}), bytes({17, 33})},
      {bytes({1, 6, 9, 9}), bytes({10, 6, 3, 3})},
      {bytes({3, 37}), {}, bytes({})},
      {bytes({3, 37}), bytes({256})},
      {bytes({3, 37}), scale, zero, bytes({3, 37}), scale, zero, scale, zero},
      {bytes({5, 17}), scale, zero, bytes({17, 33}), scale, zero, scale, zero},
      {bytes({1, 6, 9, 9}), scale, zero, bytes({10, 6, 3, 3}), scale, zero, scale, zero},
      {bytes({1, 9, 9, 6}), scale, zero, bytes({10, 6, 3, 3}), scale, zero, scale, zero},
      {bytes({1, 9, 9, 6}), scale, zero, scale, zero},
      // indices and sizes
      {scalar(10)},
      {scalar(0), scalar(5), scalar(1)},
      {ints({2, 3})},
      {x, indices({3, 37}), x},
      {x, indices({2, 1}), {{2, 37}}},
      {{{3, 5}}, indices({3})},
      {indices({3}), scalar(10), {{2}}},
      {{{1, 1, 2, 2}}, indices({1, 1, 2, 2})},
      {indices({2, 3}),
       {{5, 33}},
       {{3, 33}},
       {{33}},
       {{33}},
       indices({1, 3}),
       {{2, 33}},
       indices({2, 3})},
      // images, signals
      {{{2, 2, 3}}, ints({2, 3, 4, 5})},
      {{{1, 5, 5}}, ints({5, 5}), ints({1, 5})},
      {{{1, 2, 5, 5}}, {{1, 3, 4, 2}}},
      {{{1, 2, 9, 9}},
       {{3, 5}, ir::DataType::kF32, {0, 1, 1, 7, 8, 0, 0, 0, 3, 3, 0, 5, 2, 12, 4}}},
      {{{1, 2, 9, 9}}, {{3, 4}}, indices({3})},
      {{{1, 2, 4, 4}}, {{8}}, {{0}}, ints({1, 2, 8, 8})},
      {{{1, 2, 4, 20}}, {{8}}, {{4}, ir::DataType::kF32, {1, 1, 2, 2}}},
      {{{1, 6, 5, 9}}, {{6, 4, 2, 2}}, {{4}}},
      {{{1, 6, 9, 9}}, {{10, 6, 3, 3}}, {{1, 18, 7, 7}}},
      {{{2, 9, 1}}},
      {{{2, 64, 1}}, scalar(8), {{16}}},
      {scalar(8), scalar(16), scalar(8000), {}, {}},
      // recurrent, attention
      {{{5, 2, 7}}, {{1, 8, 7}}, {{1, 8, 2}}},
      {{{5, 2, 7}}, {{1, 6, 7}}, {{1, 6, 2}}},
      {{{5, 2, 7}}, {{1, 2, 7}}, {{1, 2, 2}}},
      {{{2, 4, 3, 8}}, {{50, 4}}, {{50, 4}}, indices({2, 3})},
      {{{2, 6, 5}}, {{6, 1, 3}}},
  };
  return lists;
}

}  // namespace weft::kernels
