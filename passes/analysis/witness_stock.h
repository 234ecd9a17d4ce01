// What the programs of rule_witness.h are made of: the decisions of an attempt, and a fixed stock of
// shapes, numbers and lists that they choose from.
#pragma once

#include <cstdint>
#include <iterator>
#include <random>
#include <span>
#include <vector>

#include "ir/op_def.h"
#include "ir/program.h"

namespace weft::passes {

// The decisions of one attempt. What is not decided yet is drawn.
class Genes {
 public:
  explicit Genes(uint64_t seed) : random_(seed) {}
  uint32_t Choose(size_t n) {
    if (n <= 1) return 0;
    if (next_ == genes_.size()) genes_.push_back(static_cast<uint32_t>(random_()));
    return static_cast<uint32_t>(genes_[next_++] % n);
  }
  template <class List>
  const auto& Pick(const List& list) {
    return list[Choose(std::size(list))];
  }
  void Rewind() { next_ = 0; }
  void Forget() { genes_.clear(); }
  void Mutate();
  std::vector<uint32_t>& genes() { return genes_; }

 private:
  std::mt19937_64 random_;
  std::vector<uint32_t> genes_;
  size_t next_ = 0;
};

// Draws from the stock, by the decisions of `genes`. `there` are the values made so far, null ones
// among them: new ones are like them more often than not, so that they fit together.
class Stock {
 public:
  Stock(ir::IrContext* context, Genes* genes) : context_(*context), genes_(*genes) {}

  ir::DataType DrawType(std::span<const ir::Value> there);
  ir::Shape DrawShape(std::span<const ir::Value> there);
  ir::Attribute DrawConstant(std::span<const ir::Value> there);
  // An attribute for this field, as often as not its default.
  ir::Attribute DrawAttr(const ir::FieldDef& field, std::span<const ir::Value> there);

 private:
  ir::Attribute DrawOfKind(const ir::FieldDef& field, std::span<const ir::Value> there);

  ir::IrContext& context_;
  Genes& genes_;
};

}  // namespace weft::passes
