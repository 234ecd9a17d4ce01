// Builder: creates operations at an insertion point, inferring their result types.
//
//   Builder b(&program);
//   Value x = b.AddInput("x", context.TensorType(DataType::kF32, {2, 3}));
//   Value y = b.Make<ops::Transpose>({x}, {.perm = {1, 0}});
//   b.Return({{"y", y}});
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace weft::ir {

// Notified of every change: before it for erasures and releases, after it for insertions and
// modifications.
class RewriteListener {
 public:
  virtual ~RewriteListener() = default;
  virtual void OnInserted(Operation op) { (void)op; }
  virtual void OnReleased(Value value) { (void)value; }  // before an operand stops reading it
  virtual void OnModified(Operation op) { (void)op; }    // operands, attributes, types or regions
  // `op` has become another operation, those with the numbers `erased` are gone, and the values with
  // the numbers `released`, which they read, have lost a use; the new operation may read them again.
  virtual void OnReplacedInPlace(Operation op, std::span<const uint32_t> erased,
                                 std::span<const uint32_t> released) {
    (void)erased, (void)released, OnModified(op);
  }
  virtual void OnReplaced(Operation op, std::span<const Value> with) { (void)op, (void)with; }
  virtual void OnErased(Operation op) { (void)op; }
};

// The operands of a call: {x, y}, a vector or a span. For parameters only: it points to them.
class ValueList {
 public:
  ValueList() = default;
  ValueList(std::initializer_list<Value> values) : values_(values.begin(), values.size()) {}
  ValueList(const std::vector<Value>& values) : values_(values) {}
  ValueList(std::span<const Value> values) : values_(values) {}
  operator std::span<const Value>() const { return values_; }

 private:
  std::span<const Value> values_;
};

class Builder {
 public:
  // Inserts at the end of the program's body, before its terminator if it has one.
  explicit Builder(Program* program);

  Program* program() const { return program_; }
  IrContext* context() const { return program_->context(); }
  Block block() const { return block_; }
  void SetInsertionPoint(Operation before);
  void SetInsertionPointAfter(Operation after);
  void SetInsertionPointToEnd(Block block);
  void SetInsertionPointToStart(Block block);
  void set_listener(RewriteListener* listener) { listener_ = listener; }
  // Given to every op created from now on (unless its state has one).
  void set_location(Name location) { location_ = location; }

  // Creates with the types in `state`.
  Operation Create(OperationState state);
  // Infers the types (state.result_types is ignored); false and *error when they cannot be.
  bool TryCreate(OperationState state, size_t num_results, Operation* op, std::string* error);
  // The same without regions, for callers that keep their own buffers: `types` receives the types.
  bool TryCreate(Opcode opcode, std::span<const Value> operands, AttrDict attrs, Name location,
                 std::span<Type> types, Operation* op, std::string* error);

  // Typed creation. A wrong operand count or shape is a mistake of the caller and aborts with the
  // op's message; use TryCreate for outside input. num_results < 0: one per required result.
  template <class O>
  Operation Create(ValueList operands, const typename O::template Attrs<BuilderSlot>& attrs = {},
                   int num_results = -1) {
    constexpr uint32_t kRegions = O::kInfo.num_regions > 0 ? uint32_t(O::kInfo.num_regions) : 0;
    size_t count = 0;
    for (const OperandDef& r : O::kInfo.results) count += r.arity == Arity::kOne;
    return CreateChecked(kOpcodeOf<O>, operands, MakeAttrs<O>(*context(), attrs), kRegions,
                         num_results < 0 ? count : size_t(num_results));
  }
  template <class O>
  Value Make(ValueList operands, const typename O::template Attrs<BuilderSlot>& attrs = {}) {
    return Create<O>(operands, attrs).result(0);
  }

  Value Constant(Attribute dense);                      // builtin.constant
  Value ConstantInts(std::span<const int64_t> values);  // 1-D i64
  Value ConstantInts(std::initializer_list<int64_t> values) {
    return ConstantInts(std::span<const int64_t>(values.begin(), values.size()));
  }
  Value ConstantScalar(DataType dtype, double value);  // rank 0; f32 f64 f16 bf16 i32 i64 bool
  // Every element is `value`; the same types.
  Value ConstantFilled(DataType dtype, std::span<const int64_t> dims, double value);
  Value ConstantFloats(std::span<const float> values, std::span<const int64_t> dims);

  // A program input: a block argument of the module, and its name.
  Value AddInput(std::string_view name, Type type);
  // Ends the program's body.
  void Return(std::vector<std::pair<std::string, Value>> outputs);

 protected:
  Operation CreateChecked(Opcode opcode, std::span<const Value> operands, AttrDict attrs,
                          uint32_t num_regions, size_t num_results);
  Program* program_;
  Block block_;
  Operation before_;
  Name location_;
  RewriteListener* listener_ = nullptr;
};

// Bytes of one element of `dtype` holding `value`, for constants. Floats round to nearest even;
// integers drop the fraction, take the nearest that the type has, and 0 for NaN.
std::vector<std::byte> ElementBytes(DataType dtype, double value);

}  // namespace weft::ir
