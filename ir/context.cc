#include "ir/context.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>

#include "ir/base/check.h"
#include "ir/base/large_memory.h"
#include "ir/base/registration.h"
#include "ir/base/unique_table.h"
#include "ir/dialects/builtin.h"
#include "ir/infer.h"
#include "ir/op_def.h"

namespace weft::ir {
namespace {

constexpr size_t kSmallDense = 4096;  // up to here dense contents are uniqued by value

uint64_t HashOf(const TypeStorage& t, std::span<const int64_t> dims) {
  Hasher h;
  h.Add(static_cast<uint64_t>(t.kind) << 16 | static_cast<uint64_t>(t.dtype) << 8 | t.ranked);
  h.AddBytes(dims.data(), dims.size_bytes());
  for (Type e : t.elements) h.Add(e.id());
  if (!t.text.empty()) h.AddBytes(t.text.data(), t.text.size());
  return h.hash();
}

bool Same(const TypeStorage& a, const TypeStorage& b, std::span<const int64_t> b_dims) {
  return a.kind == b.kind && a.dtype == b.dtype && a.ranked == b.ranked &&
         std::ranges::equal(a.dims, b_dims) && a.elements == b.elements && a.text == b.text;
}

// Dense contents up to kSmallDense bytes are part of the value; larger ones stand for themselves.
uint64_t HashOf(const AttributeStorage& a, std::span<const int64_t> ints) {
  Hasher h;
  h.Add(static_cast<uint64_t>(a.kind)).Add(static_cast<uint64_t>(a.integer));
  h.Add(std::bit_cast<uint64_t>(a.real)).Add(a.type.id());
  h.AddBytes(ints.data(), ints.size_bytes());
  if (!a.text.empty()) h.AddBytes(a.text.data(), a.text.size());
  if (!a.floats.empty()) h.AddBytes(a.floats.data(), a.floats.size() * sizeof(float));
  for (const std::string& s : a.strings) h.AddBytes(s.data(), s.size());
  if (a.size > kSmallDense) {
    h.Add(reinterpret_cast<uintptr_t>(a.data)).Add(a.size);
    h.Add(reinterpret_cast<uintptr_t>(a.computed));
  } else if (a.size > 0) {
    h.AddBytes(a.data, a.size);
  }
  return h.hash();
}

bool SameBytes(const void* a, const void* b, size_t size) {
  return a == b || size == 0 || std::memcmp(a, b, size) == 0;
}

bool Same(const AttributeStorage& a, const AttributeStorage& b, std::span<const int64_t> b_ints) {
  return a.kind == b.kind && a.integer == b.integer &&
         std::bit_cast<uint64_t>(a.real) == std::bit_cast<uint64_t>(b.real) && a.type == b.type &&
         std::ranges::equal(a.ints, b_ints) && a.text == b.text &&
         a.floats.size() == b.floats.size() &&
         SameBytes(a.floats.data(), b.floats.data(), a.floats.size() * sizeof(float)) &&
         a.strings == b.strings && a.size == b.size &&
         (a.size > kSmallDense ? a.data == b.data && a.computed == b.computed
                               : SameBytes(a.data, b.data, a.size));
}

}  // namespace

struct ComputedContents {
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  Function<void(size_t first, std::span<std::byte> to)> compute;
  mutable std::once_flag once;
  mutable std::atomic<bool> is_made = false;
  mutable std::unique_ptr<std::byte, Free> bytes;
};

struct IrContext::Tables {
  std::deque<TypeStorage> type_storage;
  std::deque<AttributeStorage> attribute_storage;  // by id; the first is nobody's
  std::deque<AttrDictStorage> dict_storage;
  UniqueTable types, attributes, dicts;
  std::vector<std::unique_ptr<WeightBuffer>> buffers;
  std::vector<const WeightBuffer*> maps;  // those of them that are maps of files
  std::deque<ComputedContents> computed;

  const WeightBuffer* MapOf(const std::byte* data) const {
    const std::less<> before;
    for (const WeightBuffer* const map : maps)
      if (!before(data, map->data) && before(data, map->data + map->size)) return map;
    return nullptr;
  }
};

IrContext::IrContext() : tables_(new Tables), inference_cache_(new InferenceCache) {
  types_.push_back(nullptr);  // id 0 is the null handle of each kind
  tables_->attribute_storage.emplace_back();
  dicts_.push_back(nullptr);
  LoadBuiltinDialect(*this);
}

IrContext::~IrContext() {
  for (const auto& buffer : tables_->buffers)
    if (buffer->release) buffer->release();
}

// --- contents that are not in memory ------------------------------------------

std::span<const std::byte> Attribute::ComputedBytes() const {
  const ComputedContents& contents = *storage_->computed;
  std::call_once(contents.once, [&] {
    void* const memory = AllocateForWriting(storage_->size);
    if (memory == nullptr) throw std::bad_alloc();
    contents.bytes.reset(static_cast<std::byte*>(memory));
    contents.compute(0, {contents.bytes.get(), storage_->size});
    contents.is_made = true;
  });
  return {contents.bytes.get(), storage_->size};
}

void Attribute::Read(size_t offset, std::span<std::byte> to) const {
  WEFT_CHECK(offset <= storage_->size && to.size() <= storage_->size - offset,
             "reads past the end of a dense tensor");
  if (to.empty()) return;
  const ComputedContents* const computed = storage_->computed;
  if (computed != nullptr && !computed->is_made) return computed->compute(offset, to);
  const std::byte* const from = bytes().data() + offset;
  const WeightBuffer* const map = storage_->map;
  if (map != nullptr && ReadFile(map->file, static_cast<size_t>(from - map->data), to)) return;
  std::memcpy(to.data(), from, to.size());
}

void Attribute::DropPages() const {
  if (storage_->map != nullptr) DropFilePages(bytes());
}

// --- types -----------------------------------------------------------------

Type IrContext::UniqueType(TypeStorage storage, std::span<const int64_t> dims) {
  const uint64_t hash = HashOf(storage, dims);
  uint32_t id =
      tables_->types.Find(hash, [&](uint32_t i) { return Same(*types_[i], storage, dims); });
  if (id == 0) {
    id = static_cast<uint32_t>(types_.size());
    storage.context = this;
    storage.id = id;
    storage.dims.assign(dims.begin(), dims.end());
    types_.push_back(&tables_->type_storage.emplace_back(std::move(storage)));
    tables_->types.Add(hash, id);
  }
  return Type(types_[id]);
}

Type IrContext::NoneType() { return UniqueType({.kind = TypeKind::kNone}); }

Type IrContext::TensorType(DataType dtype, std::span<const int64_t> dims) {
  TypeStorage s{.kind = TypeKind::kTensor, .dtype = dtype, .ranked = true};
  s.is_static = std::all_of(dims.begin(), dims.end(), IsStaticDim);
  return UniqueType(std::move(s), dims);
}

Type IrContext::UnrankedTensorType(DataType dtype) {
  return UniqueType({.kind = TypeKind::kTensor, .dtype = dtype});
}

Type IrContext::VectorType(std::span<const Type> elements) {
  TypeStorage s{.kind = TypeKind::kVector};
  s.elements.assign(elements.begin(), elements.end());
  return UniqueType(std::move(s));
}

Type IrContext::SequenceType(Type element) {
  TypeStorage s{.kind = TypeKind::kSequence};
  s.elements.push_back(element);
  return UniqueType(std::move(s));
}

Type IrContext::OptionalType(Type element) {
  TypeStorage s{.kind = TypeKind::kOptional};
  s.elements.push_back(element);
  return UniqueType(std::move(s));
}

Type IrContext::OpaqueType(std::string_view text) {
  TypeStorage s{.kind = TypeKind::kOpaque};
  s.text = text;
  return UniqueType(std::move(s));
}

// --- attributes ------------------------------------------------------------

Attribute IrContext::UniqueAttr(AttributeStorage storage, std::span<const int64_t> ints) {
  auto& all = tables_->attribute_storage;
  const uint64_t hash = HashOf(storage, ints);
  uint32_t id =
      tables_->attributes.Find(hash, [&](uint32_t i) { return Same(all[i], storage, ints); });
  if (id == 0) {
    id = static_cast<uint32_t>(all.size());
    storage.context = this;
    storage.id = id;
    storage.ints.assign(ints.begin(), ints.end());
    all.push_back(std::move(storage));
    tables_->attributes.Add(hash, id);
  }
  return Attribute(&all[id]);
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
  return UniqueAttr({.kind = AttrKind::kInts}, value);
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
  void* memory = AllocateForWriting(size);
  if (memory == nullptr) throw std::bad_alloc();
  *writable = static_cast<std::byte*>(memory);
  return {*writable, size, [memory] { std::free(memory); }};
}

const WeightBuffer* IrContext::AddWeightBuffer(WeightBuffer buffer) {
  tables_->buffers.push_back(std::make_unique<WeightBuffer>(std::move(buffer)));
  const WeightBuffer* const kept = tables_->buffers.back().get();
  if (kept->file >= 0) tables_->maps.push_back(kept);
  return kept;
}

void IrContext::DropPages() {
  for (const WeightBuffer* const map : tables_->maps) DropFilePages({map->data, map->size});
}

Attribute IrContext::DenseAttrView(Type type, std::span<const std::byte> bytes) {
  WEFT_CHECK(type.NumBytes() == static_cast<int64_t>(bytes.size()),
             "dense contents do not fit their type " + type.ToString());
  return UniqueAttr({.kind = AttrKind::kDense,
                     .type = type,
                     .data = bytes.data(),
                     .size = bytes.size(),
                     .map = tables_->MapOf(bytes.data())});
}

Attribute IrContext::DenseAttrAdopt(Type type, WeightBuffer buffer) {
  const WeightBuffer* kept = AddWeightBuffer(std::move(buffer));
  return DenseAttrView(type, {kept->data, kept->size});
}

Attribute IrContext::DenseAttr(Type type, std::span<const std::byte> bytes) {
  if (bytes.size() <= kSmallDense) {  // look before copying: most small constants repeat
    const AttributeStorage probe{
        .kind = AttrKind::kDense, .type = type, .data = bytes.data(), .size = bytes.size()};
    const auto& all = tables_->attribute_storage;
    const uint32_t id = tables_->attributes.Find(
        HashOf(probe, {}), [&](uint32_t i) { return Same(all[i], probe, {}); });
    if (id != 0) return Attribute(&all[id]);
  }
  std::byte* writable = nullptr;
  WeightBuffer buffer = AllocateWeightBuffer(bytes.size(), &writable);
  if (!bytes.empty()) std::memcpy(writable, bytes.data(), bytes.size());
  return DenseAttrAdopt(type, std::move(buffer));
}

Attribute IrContext::ComputedDenseAttr(
    Type type, Function<void(size_t first, std::span<std::byte> to)> compute) {
  const auto size = static_cast<size_t>(type.NumBytes());
  if (size <= kSmallDense) {
    std::vector<std::byte> bytes(size);
    if (size > 0) compute(0, bytes);
    return DenseAttr(type, bytes);
  }
  ComputedContents& contents = tables_->computed.emplace_back();
  contents.compute = std::move(compute);
  return UniqueAttr({.kind = AttrKind::kDense, .type = type, .size = size, .computed = &contents});
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

namespace {

// Sorts by name; the last of equal names stays. The number of those that are left, at the front.
size_t SortByName(std::span<NamedAttribute> entries) {
  constexpr size_t kFew = 32;
  if (entries.size() > kFew)
    std::ranges::stable_sort(entries, std::ranges::less(),
                             [](const NamedAttribute& e) { return e.name.str(); });
  // Insertion sort: it is stable, takes no memory, and is quick for few entries and for sorted ones.
  size_t size = 0;
  for (const NamedAttribute e : entries) {
    size_t at = size;
    while (at > 0 && e.name.str() < entries[at - 1].name.str()) --at;
    if (at > 0 && entries[at - 1].name == e.name) {
      entries[at - 1] = e;
      continue;
    }
    std::move_backward(entries.begin() + at, entries.begin() + size, entries.begin() + size + 1);
    entries[at] = e;
    ++size;
  }
  return size;
}

}  // namespace

AttrDict IrContext::DictInPlace(std::span<NamedAttribute> entries) {
  if (entries.empty()) return {};
  const size_t size = SortByName(entries);
  entries = entries.first(size);
  Hasher h;
  for (const NamedAttribute& e : entries) h.Add(uint64_t{e.name.id()} << 32 | e.value.id());
  uint32_t id = tables_->dicts.Find(h.hash(), [&](uint32_t i) {
    return std::ranges::equal(dicts_[i]->entries, entries, [](const auto& a, const auto& b) {
      return a.name == b.name && a.value == b.value;
    });
  });
  if (id == 0) {
    id = static_cast<uint32_t>(dicts_.size());
    dicts_.push_back(&tables_->dict_storage.emplace_back(
        AttrDictStorage{.id = id, .entries = {entries.begin(), entries.end()}}));
    tables_->dicts.Add(h.hash(), id);
  }
  return AttrDict(dicts_[id]);
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
  if (ops_[id] != nullptr && ops_[id] != &def)
    return RegistrationFailed(__FILE__, __LINE__,
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
