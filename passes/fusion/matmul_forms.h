// The three ways of making one matrix product of several, for fuse-matmuls.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/rewriter.h"

namespace weft::passes {

// A product with constant weights on the right.
struct Product {
  ir::Operation op{};        // a MatMul or Gemm
  ir::Attribute weights{};   // with contents
  ir::Operation bias_add{};  // its only user, if that adds a constant to every row; else none
  ir::Attribute bias{};      // that constant, or the one that Gemm adds: one number per column
  // What the one product takes the place of.
  ir::Operation end() const { return bias_add ? bias_add : op; }
};

// Nothing for other ops, and for a Gemm that adds anything but one constant to every row.
std::optional<Product> ProductOf(ir::Operation op);

struct MatmulForm {
  std::string_view name;
  // Products of one block with equal keys can be made one when they are independent. Without a key
  // a product takes no part.
  std::optional<ir::Ints> (*key)(const Product& product);
  // Makes the one product, and from it a value for the end() of each. Additions that cannot be one
  // stay: then bias_add is cleared.
  std::vector<ir::Value> (*build)(ir::Rewriter& rewriter, std::vector<Product>& products);
};

//   x . w1, x . w2  =>  split(x . [w1 w2]), by columns
extern const MatmulForm kSharedInput;
//   x1 . w, x2 . w  =>  split([x1; x2] . w), by rows
extern const MatmulForm kSharedWeights;
//   x1 . w1, x2 . w2, of the same shapes  =>  split(stack(x1, x2) . stack(w1, w2))
extern const MatmulForm kBatched;

}  // namespace weft::passes
