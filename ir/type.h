// Types: tensors with static, symbolic or unknown dimensions, sequences and optionals, vectors of
// types, none, and opaque types (kept as text). Types are uniqued by IrContext: equality is pointer
// equality.
//
//   Type t = context.TensorType(DataType::kF32, {1, 300, 256});
//   t.dims()[1] == 300;  t.NumElements() == 76800;
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::ir {

class IrContext;

// Element types, numbered as ONNX TensorProto.DataType.
enum class DataType : uint8_t {
  kNull = 0,
  kF32 = 1,
  kU8 = 2,
  kI8 = 3,
  kU16 = 4,
  kI16 = 5,
  kI32 = 6,
  kI64 = 7,
  kString = 8,
  kBool = 9,
  kF16 = 10,
  kF64 = 11,
  kU32 = 12,
  kU64 = 13,
  kC64 = 14,
  kC128 = 15,
  kBF16 = 16,
  // Of low precision: ir/element/low_precision.h has their values. E and M are the bits of exponent
  // and mantissa; FN has no infinities, UZ no -0.
  kF8E4M3FN = 17,
  kF8E4M3FNUZ = 18,
  kF8E5M2 = 19,
  kF8E5M2FNUZ = 20,
  kU4 = 21,
  kI4 = 22,
  kF4E2M1 = 23,
  kF8E8M0 = 24,
  kU2 = 25,
  kI2 = 26,
};

std::string_view DataTypeName(DataType type);               // "f32", "i64", "bool", ...
std::string_view DataTypeLongName(DataType type);           // "float32", "int64", "bool", ...
bool ParseDataType(std::string_view name, DataType* type);  // also "float32", "int64", ...
size_t ElementSize(DataType type);  // bytes in memory; 0 for strings and null
size_t ElementBits(DataType type);  // 8 for each byte but 4 and 2 where a file packs elements
// The types of arithmetic: IsFloat and IsInteger (signed or unsigned, not bool). Those of low
// precision are for storing numbers: they are converted, quantized and moved.
bool IsFloat(DataType type);
bool IsInteger(DataType type);
bool IsLowPrecision(DataType type);
bool IsLowPrecisionInteger(DataType type);

// A dimension is its size when >= 0, kUnknownDim, or a symbol (<= -2): equal ones are the same size
// at run time. SymbolicDim("N") is a name, SymbolicDim("2*N + 1") an expression (ir/dim/dim_expr.h).
using Shape = std::vector<int64_t>;
inline constexpr int64_t kUnknownDim = -1;
int64_t SymbolicDim(std::string_view name);
std::string_view SymbolName(int64_t dim);
inline bool IsStaticDim(int64_t dim) { return dim >= 0; }
inline bool IsSymbolicDim(int64_t dim) { return dim <= -2; }
// True only when both are provably the same size (a symbol equals itself; unknown equals nothing).
inline bool SameDim(int64_t a, int64_t b) { return a == b && a != kUnknownDim; }
// An axis in [-rank, rank), where -1 is the last, as one in [0, rank).
constexpr int64_t NormalAxis(int64_t axis, size_t rank) {
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

enum class TypeKind : uint8_t { kNone, kTensor, kVector, kOpaque, kSequence, kOptional };
inline constexpr int kMaxTypeDepth = 64;  // of types in types, where they come from a file

class Type;
struct TypeStorage {
  IrContext* context = nullptr;
  uint32_t id = 0;
  TypeKind kind = TypeKind::kNone;
  DataType dtype = DataType::kNull;
  bool ranked = false;
  bool is_static = false;
  Shape dims{};
  std::vector<Type> elements;  // no {}: clang 14 would need Type complete here
  std::string text{};
};

class Type {
 public:
  constexpr Type() = default;
  explicit constexpr Type(const TypeStorage* storage) : storage_(storage) {}

  explicit operator bool() const { return storage_ != nullptr; }
  TypeKind kind() const { return storage_->kind; }
  bool IsTensor() const { return storage_ && storage_->kind == TypeKind::kTensor; }
  bool IsNone() const { return !storage_ || storage_->kind == TypeKind::kNone; }
  bool IsVector() const { return storage_ && storage_->kind == TypeKind::kVector; }
  bool IsSequence() const { return storage_ && storage_->kind == TypeKind::kSequence; }
  bool IsOptional() const { return storage_ && storage_->kind == TypeKind::kOptional; }
  bool HasElement() const { return IsSequence() || IsOptional(); }

  // Tensors.
  DataType dtype() const { return storage_->dtype; }
  bool HasRank() const { return IsTensor() && storage_->ranked; }
  bool IsStatic() const { return IsTensor() && storage_->is_static; }  // ranked, every dim a number
  std::span<const int64_t> dims() const { return storage_->dims; }
  Shape shape() const { return storage_->dims; }
  size_t rank() const { return storage_->dims.size(); }
  int64_t dim(int64_t axis) const {  // negative axes count from the end
    return storage_->dims[NormalAxis(axis, storage_->dims.size())];
  }
  int64_t NumElements() const;  // -1 unless IsStatic()
  int64_t NumBytes() const;     // -1 unless IsStatic() and the element size is fixed

  std::span<const Type> elements() const { return storage_->elements; }  // vectors
  Type element() const { return storage_->elements[0]; }                 // sequences, optionals
  std::string_view text() const { return storage_->text; }               // opaque types

  IrContext* context() const { return storage_->context; }
  uint32_t id() const { return storage_ ? storage_->id : 0; }
  const TypeStorage* storage() const { return storage_; }
  std::string ToString() const;  // the text form, e.g. tensor<1x300x256xf32>
  friend bool operator==(Type a, Type b) { return a.storage_ == b.storage_; }

 private:
  const TypeStorage* storage_ = nullptr;
};

// Whether two tensor types are one at run time, whatever the inputs: the proof that a rewrite needs
// before one value stands for the other. Both have the same rank, and each dimension the same
// static size or the same symbol; an unknown dimension is equal to nothing, not even to another
// unknown one. ProvablySameType wants one known element type as well. False when either is no
// tensor.
bool ProvablySameShape(Type a, Type b);
bool ProvablySameType(Type a, Type b);

// Text of dims alone, e.g. [1,300,256]; symbols by name, unknown as ?.
std::string ToString(std::span<const int64_t> dims);

}  // namespace weft::ir
