// IrContext: uniques types, attributes and attribute dictionaries, keeps weight buffers alive, and
// knows which ops the loaded dialects define. Outlives every Program made with it. Not thread safe:
// one thread works with a context at a time.
//
//   IrContext context;               // has the builtin dialect
//   LoadOnnxDialect(context);
//   Type t = context.TensorType(DataType::kF32, {2, 3});
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attribute.h"
#include "ir/base/owned.h"
#include "ir/name.h"
#include "ir/type.h"

namespace weft::ir {

struct OpDef;
class InferenceCache;

class IrContext {
 public:
  IrContext();
  ~IrContext();
  IrContext(const IrContext&) = delete;
  IrContext& operator=(const IrContext&) = delete;

  // --- types ---
  Type NoneType();
  Type TensorType(DataType dtype, std::span<const int64_t> dims);
  Type TensorType(DataType dtype, std::initializer_list<int64_t> dims) {
    return TensorType(dtype, std::span<const int64_t>(dims.begin(), dims.size()));
  }
  Type UnrankedTensorType(DataType dtype);
  Type VectorType(std::span<const Type> elements);
  Type SequenceType(Type element);  // any number of elements of that type
  Type OptionalType(Type element);  // one or none
  Type OpaqueType(std::string_view text);
  Type TypeFromId(uint32_t id) const { return Type(types_[id]); }

  // --- attributes ---
  Attribute UnitAttr();
  Attribute BoolAttr(bool value);
  Attribute IntAttr(int64_t value);
  Attribute FloatAttr(float value);
  Attribute DoubleAttr(double value);
  Attribute StringAttr(std::string_view value);
  Attribute IntsAttr(std::span<const int64_t> value);
  Attribute FloatsAttr(std::span<const float> value);
  Attribute StringsAttr(std::span<const std::string> value);
  Attribute DataTypeAttr(DataType value);
  Attribute TypeAttr(Type value);
  Attribute VerbatimAttr(std::string_view text);

  // Dense tensors; `type` must be a static tensor type and bytes.size() == type.NumBytes().
  // DenseAttr copies into an aligned (64 B) buffer; equal small contents give the same attribute.
  Attribute DenseAttr(Type type, std::span<const std::byte> bytes);
  template <class T>
  Attribute DenseAttrOf(Type type, std::span<const T> values) {
    return DenseAttr(type, std::as_bytes(values));
  }
  // No copy: takes over the buffer, or points into a buffer that AddWeightBuffer made known.
  Attribute DenseAttrAdopt(Type type, WeightBuffer buffer);
  const WeightBuffer* AddWeightBuffer(WeightBuffer buffer);
  Attribute DenseAttrView(Type type, std::span<const std::byte> bytes_in_known_buffer);
  void DropPages();  // of all contents that lie in files: see Attribute::DropPages
  // `compute` writes the elements from byte `first` on, whenever somebody reads them: the same each time, on any thread.
  // bytes() has it compute all, once, into memory that is kept.
  Attribute ComputedDenseAttr(Type type,
                              Function<void(size_t first, std::span<std::byte> to)> compute);
  Attribute DenseStringsAttr(Type type, std::span<const std::string> values);
  Attribute ElidedDenseAttr(Type type, std::string_view label);
  // An aligned buffer of `size` bytes that the caller fills before passing it to DenseAttrAdopt.
  static WeightBuffer AllocateWeightBuffer(size_t size, std::byte** writable);

  AttrDict Dict(std::vector<NamedAttribute> entries) {  // sorts; later duplicates win
    return DictInPlace(entries);
  }
  AttrDict DictInPlace(std::span<NamedAttribute> entries);  // changes `entries`
  AttrDict DictFromId(uint32_t id) const { return AttrDict(dicts_[id]); }
  AttrDict With(AttrDict dict, Name name, Attribute value);
  AttrDict Without(AttrDict dict, Name name);

  // --- ops ---
  // Makes ops known; a second definition of the same name must be the same definition.
  void AddOp(const OpDef& def);
  const OpDef* FindOp(Opcode code) const {  // null for an op nobody defined
    return code.id() < ops_.size() ? ops_[code.id()] : nullptr;
  }
  const OpDef* FindOp(std::string_view name) const;
  std::vector<const OpDef*> Ops() const;                           // sorted by name
  InferenceCache& inference_cache() { return *inference_cache_; }  // see ir/infer.h

 private:
  struct Tables;
  // The lists are given apart, so that looking for what is there allocates nothing.
  Type UniqueType(TypeStorage storage, std::span<const int64_t> dims = {});
  Attribute UniqueAttr(AttributeStorage storage, std::span<const int64_t> ints = {});

  std::vector<const TypeStorage*> types_;      // by id; they belong to tables_
  std::vector<const AttrDictStorage*> dicts_;  // by id
  std::vector<const OpDef*> ops_;              // by opcode
  Owned<Tables> tables_;
  Owned<InferenceCache> inference_cache_;
};

}  // namespace weft::ir
