#include "ir/context.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "ir/base/check.h"
#include "ir/dialects/builtin.h"
#include "ir/infer.h"
#include "ir/op_def.h"

namespace weft::ir {
namespace {

constexpr size_t kSmallDense = 4096;  // up to here dense contents are uniqued by value
constexpr size_t kAlignment = 64;

// Keys are byte strings that spell the whole value: two values are equal iff their keys are.
class Key {
 public:
  template <class T>
  Key& Add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    text_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  Key& AddBytes(const void* data, size_t size) {
    Add(size);
    text_.append(static_cast<const char*>(data), size);
    return *this;
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string TypeKey(const TypeStorage& t) {
  Key key;
  key.Add(t.kind).Add(t.dtype).Add(t.ranked);
  key.AddBytes(t.dims.data(), t.dims.size() * sizeof(int64_t));
  for (Type e : t.elements) key.Add(e.id());
  key.AddBytes(t.text.data(), t.text.size());
  return key.Take();
}

std::string AttrKey(const AttributeStorage& a) {
  Key key;
  key.Add(a.kind).Add(a.integer).Add(a.real).Add(a.type.id());
  key.AddBytes(a.text.data(), a.text.size());
  key.AddBytes(a.ints.data(), a.ints.size() * sizeof(int64_t));
  key.AddBytes(a.floats.data(), a.floats.size() * sizeof(float));
  for (const std::string& s : a.strings) key.AddBytes(s.data(), s.size());
  if (a.size <= kSmallDense) {
    key.AddBytes(a.data, a.size);
  } else {
    key.Add(a.data).Add(a.size);
  }
  return key.Take();
}

}  // namespace

struct IrContext::Tables {
  std::unordered_map<std::string, uint32_t> types, attributes, dicts;
  std::vector<std::unique_ptr<WeightBuffer>> buffers;
};

IrContext::IrContext()
    : tables_(std::make_unique<Tables>()), inference_cache_(std::make_unique<InferenceCache>()) {
  types_.emplace_back();  // id 0 is the null handle of each kind
  attributes_.emplace_back();
  dicts_.emplace_back();
  LoadBuiltinDialect(*this);
}

IrContext::~IrContext() {
  for (const auto& buffer : tables_->buffers)
    if (buffer->release) buffer->release();
}

// --- types -----------------------------------------------------------------

Type IrContext::UniqueType(TypeStorage storage) {
  auto [it, is_new] = tables_->types.try_emplace(TypeKey(storage), types_.size());
  if (is_new) {
    storage.context = this;
    storage.id = it->second;
    types_.push_back(std::make_unique<TypeStorage>(std::move(storage)));
  }
  return Type(types_[it->second].get());
}

Type IrContext::NoneType() { return UniqueType({.kind = TypeKind::kNone}); }

Type IrContext::TensorType(DataType dtype, std::span<const int64_t> dims) {
  TypeStorage s{.kind = TypeKind::kTensor, .dtype = dtype, .ranked = true};
  s.dims.assign(dims.begin(), dims.end());
  s.is_static = std::all_of(dims.begin(), dims.end(), IsStaticDim);
  return UniqueType(std::move(s));
}

Type IrContext::UnrankedTensorType(DataType dtype) {
  return UniqueType({.kind = TypeKind::kTensor, .dtype = dtype});
}

Type IrContext::VectorType(std::span<const Type> elements) {
  TypeStorage s{.kind = TypeKind::kVector};
  s.elements.assign(elements.begin(), elements.end());
  return UniqueType(std::move(s));
}

Type IrContext::OpaqueType(std::string_view text) {
  TypeStorage s{.kind = TypeKind::kOpaque};
  s.text = text;
  return UniqueType(std::move(s));
}

// --- attributes ------------------------------------------------------------

Attribute IrContext::NewAttr(AttributeStorage storage) {
  storage.context = this;
  storage.id = static_cast<uint32_t>(attributes_.size());
  attributes_.push_back(std::make_unique<AttributeStorage>(std::move(storage)));
  return Attribute(attributes_.back().get());
}

Attribute IrContext::UniqueAttr(AttributeStorage storage) {
  auto [it, is_new] = tables_->attributes.try_emplace(AttrKey(storage), attributes_.size());
  if (is_new) return NewAttr(std::move(storage));
  return Attribute(attributes_[it->second].get());
}

Attribute IrContext::UnitAttr() { return UniqueAttr({.kind = AttrKind::kUnit}); }
Attribute IrContext::BoolAttr(bool value) {
  return UniqueAttr({.kind = AttrKind::kBool, .integer = value});
}
Attribute IrContext::IntAttr(int64_t value) {
  return UniqueAttr({.kind = AttrKind::kInt, .integer = value});
}
Attribute IrContext::FloatAttr(float value) {
  return UniqueAttr({.kind = AttrKind::kFloat, .real = value});
}
Attribute IrContext::DoubleAttr(double value) {
  return UniqueAttr({.kind = AttrKind::kDouble, .real = value});
}
Attribute IrContext::StringAttr(std::string_view value) {
  return UniqueAttr({.kind = AttrKind::kString, .text = std::string(value)});
}
Attribute IrContext::IntsAttr(std::span<const int64_t> value) {
  return UniqueAttr({.kind = AttrKind::kInts, .ints = Ints(value.begin(), value.end())});
}
Attribute IrContext::FloatsAttr(std::span<const float> value) {
  return UniqueAttr({.kind = AttrKind::kFloats, .floats = Floats(value.begin(), value.end())});
}
Attribute IrContext::StringsAttr(std::span<const std::string> value) {
  return UniqueAttr({.kind = AttrKind::kStrings, .strings = Strings(value.begin(), value.end())});
}
Attribute IrContext::DataTypeAttr(DataType value) {
  return UniqueAttr({.kind = AttrKind::kDataType, .integer = static_cast<int64_t>(value)});
}
Attribute IrContext::TypeAttr(Type value) {
  return UniqueAttr({.kind = AttrKind::kType, .type = value});
}
Attribute IrContext::VerbatimAttr(std::string_view text) {
  return UniqueAttr({.kind = AttrKind::kVerbatim, .text = std::string(text)});
}

WeightBuffer IrContext::AllocateWeightBuffer(size_t size, std::byte** writable) {
  const size_t rounded = (std::max<size_t>(size, 1) + kAlignment - 1) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, rounded);
  WEFT_CHECK(memory != nullptr, "out of memory");
  *writable = static_cast<std::byte*>(memory);
  return {*writable, size, [memory] { std::free(memory); }};
}

const WeightBuffer* IrContext::AddWeightBuffer(WeightBuffer buffer) {
  tables_->buffers.push_back(std::make_unique<WeightBuffer>(std::move(buffer)));
  return tables_->buffers.back().get();
}

Attribute IrContext::DenseAttrView(Type type, std::span<const std::byte> bytes) {
  WEFT_CHECK(type.NumBytes() == static_cast<int64_t>(bytes.size()),
             "dense contents do not fit their type " + type.ToString());
  return UniqueAttr(
      {.kind = AttrKind::kDense, .type = type, .data = bytes.data(), .size = bytes.size()});
}

Attribute IrContext::DenseAttrAdopt(Type type, WeightBuffer buffer) {
  const WeightBuffer* kept = AddWeightBuffer(std::move(buffer));
  return DenseAttrView(type, {kept->data, kept->size});
}

Attribute IrContext::DenseAttr(Type type, std::span<const std::byte> bytes) {
  if (bytes.size() <= kSmallDense) {  // look before copying: most small constants repeat
    const AttributeStorage probe{
        .kind = AttrKind::kDense, .type = type, .data = bytes.data(), .size = bytes.size()};
    auto it = tables_->attributes.find(AttrKey(probe));
    if (it != tables_->attributes.end()) return Attribute(attributes_[it->second].get());
  }
  std::byte* writable = nullptr;
  WeightBuffer buffer = AllocateWeightBuffer(bytes.size(), &writable);
  if (!bytes.empty()) std::memcpy(writable, bytes.data(), bytes.size());
  return DenseAttrAdopt(type, std::move(buffer));
}

Attribute IrContext::DenseStringsAttr(Type type, std::span<const std::string> values) {
  WEFT_CHECK(type.NumElements() == static_cast<int64_t>(values.size()),
             "dense strings do not fit their type " + type.ToString());
  return UniqueAttr(
      {.kind = AttrKind::kDense, .strings = Strings(values.begin(), values.end()), .type = type});
}

Attribute IrContext::ElidedDenseAttr(Type type, std::string_view label) {
  return UniqueAttr({.kind = AttrKind::kDense, .text = std::string(label), .type = type});
}

AttrDict IrContext::Dict(std::vector<NamedAttribute> entries) {
  if (entries.empty()) return {};
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.name.str() < b.name.str(); });
  std::vector<NamedAttribute> unique;
  for (const NamedAttribute& e : entries) {
    if (!unique.empty() && unique.back().name == e.name) unique.pop_back();
    unique.push_back(e);
  }
  Key key;
  for (const NamedAttribute& e : unique) key.Add(e.name.id()).Add(e.value.id());
  auto [it, is_new] = tables_->dicts.try_emplace(key.Take(), dicts_.size());
  if (is_new) {
    dicts_.push_back(std::make_unique<AttrDictStorage>());
    dicts_.back()->id = it->second;
    dicts_.back()->entries = std::move(unique);
  }
  return AttrDict(dicts_[it->second].get());
}

AttrDict IrContext::With(AttrDict dict, Name name, Attribute value) {
  std::vector<NamedAttribute> entries(dict.begin(), dict.end());
  entries.push_back({name, value});
  return Dict(std::move(entries));
}

AttrDict IrContext::Without(AttrDict dict, Name name) {
  std::vector<NamedAttribute> entries;
  for (const NamedAttribute& e : dict)
    if (!(e.name == name)) entries.push_back(e);
  return Dict(std::move(entries));
}

// --- ops -------------------------------------------------------------------

void IrContext::AddOp(const OpDef& def) {
  const uint16_t id = def.opcode.id();
  if (ops_.size() <= id) ops_.resize(id + 1);
  WEFT_CHECK(ops_[id] == nullptr || ops_[id] == &def,
             "two definitions of " + std::string(def.opcode.name()));
  ops_[id] = &def;
}

const OpDef* IrContext::FindOp(std::string_view name) const {
  return FindOp(Opcode::FindOrAdd(name));
}

std::vector<const OpDef*> IrContext::Ops() const {
  std::vector<const OpDef*> result;
  for (const OpDef* def : ops_)
    if (def) result.push_back(def);
  std::sort(result.begin(), result.end(),
            [](const OpDef* a, const OpDef* b) { return a->opcode.name() < b->opcode.name(); });
  return result;
}

}  // namespace weft::ir
