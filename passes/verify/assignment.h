// The decisions that make one instance of a rule: what its leaves are, which alternative stands for
// an op, what attributes hold. What is not decided is drawn while the instance is built, and kept.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drr/rule/pattern_graph.h"

namespace weft::passes {

// A value of the pattern that no op of it makes: an input of the program, or a constant.
struct Leaf {
  ir::Type type;           // a tensor of known sizes
  ir::Attribute constant;  // its contents; null: an input
};

constexpr int64_t kMaxElements = 2000;  // of a leaf

struct Assignment {
  // By value: the leaf (of a list, each element has its type), or which of several it is: of an
  // Either() the alternative, of an optional operand 1 where it is absent, of a list its length, of
  // a value with skipped ops the number of those.
  drr::IdVector<drr::SourceValue, std::optional<Leaf>> leaves;
  drr::IdVector<drr::SourceValue, std::optional<uint32_t>> choices;
  drr::IdVector<drr::SourceOp, std::optional<uint32_t>> alternatives;
  drr::IdVector<drr::SourceOp, std::optional<bool>> swapped;  // the first two operands
  drr::IdVector<drr::AttrVariable, ir::Attribute> variables;
  std::map<std::pair<size_t, std::string_view>, std::optional<ir::Attribute>> fields;  // by op

  Assignment() = default;
  explicit Assignment(const drr::PatternGraph& graph)
      : leaves(graph.values.size()),
        choices(graph.values.size()),
        alternatives(graph.ops.size()),
        swapped(graph.ops.size()),
        variables(graph.attrs.size()) {}
  // Undoes some decisions, at random.
  void Forget(std::mt19937_64& random, int count);
};

// The leaves that a value is computed from, itself included, of those that are decided.
std::vector<drr::ValueId> LeavesBelow(const drr::PatternGraph& graph, drr::ValueId value,
                                      const Assignment& assignment);

// Draws what an assignment leaves open. Sizes are 0, 1, 2, 3 and 5 and ranks 0 to 5; numbers are
// small integers, so that f32 computes with them exactly, and those that the rule names. Values fit
// together more often than not, because each is like one that is there.
class Draw {
 public:
  Draw(const drr::PatternGraph& graph, uint64_t seed);

  std::mt19937_64& random() { return random_; }
  uint32_t Below(size_t n) { return n <= 1 ? 0 : static_cast<uint32_t>(random_() % n); }
  bool OneIn(size_t n) { return Below(n) == 0; }
  template <class List>
  const auto& OneOf(const List& list) {
    return list[Below(std::size(list))];
  }

  // `near`: values that are read by the same op, or else were made before; null ones among them.
  Leaf DrawLeaf(std::span<const ir::Value> near);
  ir::Type DrawType(std::span<const ir::Value> near);
  ir::DataType DrawDtype(std::span<const ir::Value> near);
  ir::Shape DrawShape(std::span<const ir::Value> near);
  ir::Attribute DrawContents(ir::Type type);
  // Lists as permutations, axes, shapes and pads are.
  ir::Ints DrawInts(std::span<const ir::Value> near);
  // Null: not given.
  ir::Attribute DrawField(const ir::FieldDef& field, std::span<const ir::Value> near);
  double DrawNumber();
  int64_t DrawSize();
  // A tensor of as many elements in another shape, or of a list of integers another one with the same product,
  // as what is reshaped has it.
  void Regroup(Leaf* leaf);
  // From now on most sizes are this one: permutations of equal sizes, and axes that stand for each
  // other, fit by their types alone. None: any sizes again.
  void PreferSize(std::optional<int64_t> size) { preferred_size_ = size; }
  // The constant with NaN, an infinity, -0 or the largest number somewhere, or everywhere where all its
  // elements are equal; null where it has no floats.
  ir::Attribute DrawSpecial(ir::Attribute dense);
  // A tensor of any type with these numbers, one for all or one each.
  ir::Attribute Dense(ir::Type type, std::span<const double> numbers) const;

 private:
  void AddNumbers(ir::Attribute value);
  void AddSizes(int64_t number);
  // Sizes of an op's result that are not known are drawn.
  ir::Shape ShapeOf(ir::Value value);
  ir::Shape Vary(ir::Shape shape);
  void RegroupSizes(ir::Ints* sizes, bool may_have_more);
  // Of Einsum, whose terms are as long as the ranks of what it reads.
  std::string DrawEquation(std::span<const ir::Value> near);
  ir::Attribute DrawOfKind(const ir::FieldDef& field, std::span<const ir::Value> near);

  ir::IrContext& context_;
  std::mt19937_64 random_;
  std::vector<double> numbers_;  // that the rule names
  // About as large as whole numbers that the rule names, where those are large.
  std::vector<int64_t> sizes_;
  std::optional<int64_t> preferred_size_;
};

}  // namespace weft::passes
