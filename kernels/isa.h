// The instruction sets that our own kernels are compiled for, and the one in use.
//
// Every kernel body is compiled once per Isa and picked at run time, so one binary runs on every
// CPU of the architecture. On other architectures than x86-64 there is kPortable alone (vector
// extensions of the compiler).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace weft::kernels {

enum class Isa {
  kPortable,  // 4 floats: what the compiler may assume anyway (SSE2 on x86-64)
  kAvx2,      // 8 floats, AVX2, FMA and F16C
  kAvx512,    // 16 floats, AVX-512 F, BW, DQ and VL
  kAmx,       // kAvx512, and larger products on AMX tiles (kernels/native/simd/amx_gemm.h)
  // kPortable, with the products of kAmx on tiles in plain code: for tests on every machine. Not
  // among SupportedIsas().
  kEmulatedAmx,
};

std::string_view IsaName(Isa isa);

// Of the factors of products and convolutions on AMX tiles, where they are sums of bf16 terms
// (kernels/native/simd/amx_gemm.h). Other instruction sets, and products that are too small for tiles,
// know f32 alone.
enum class MatmulPrecision {
  kFloat32,  // three terms
  kBf16x2,   // two: 16 bits
  kBf16,     // one: 8 bits
};

inline constexpr std::array kMatmulPrecisions = {MatmulPrecision::kFloat32,
                                                 MatmulPrecision::kBf16x2, MatmulPrecision::kBf16};

// "float32", "bf16x2", "bf16".
std::string_view MatmulPrecisionName(MatmulPrecision precision);
std::optional<MatmulPrecision> FindMatmulPrecision(std::string_view name);

// The instruction sets this machine has, best last. Asks the system, once per process, for
// permission to use AMX tiles; where it refuses there is no kAmx.
std::span<const Isa> SupportedIsas();
// Of those; nullopt for other names.
std::optional<Isa> FindIsa(std::string_view name);
// Of machines with kAvx512, and with kAmx: whether they have dot products of bytes too (AVX512-VNNI,
// AMX-INT8).
bool HasVnni();
bool HasInt8Tiles();
// The best whose products are one chain of multiply-adds in f32: not kAmx.
Isa BestChainIsa();

// The one in use on this thread: of the innermost scope below, or else of the process, which is the
// best unless SetIsa chose another.
Isa CurrentIsa();
// Of the innermost ScopedComputeMode, or else kFloat32.
MatmulPrecision CurrentMatmulPrecision();

// For tests and comparisons. `isa` must be supported. Weights packed before keep working.
void SetIsa(Isa isa);

// How kernels compute.
struct ComputeMode {
  Isa isa = CurrentIsa();
  MatmulPrecision precision = CurrentMatmulPrecision();
};

// Sets the instruction set of this thread while it lives; nullopt leaves it as it is. A loop on a
// ThreadPool runs in the mode of the thread that started it.
class ScopedIsa {
 public:
  explicit ScopedIsa(std::optional<Isa> isa);
  ~ScopedIsa();
  ScopedIsa(const ScopedIsa&) = delete;
  ScopedIsa& operator=(const ScopedIsa&) = delete;

 private:
  std::optional<Isa> before_;
};

// Sets both while it lives.
class ScopedComputeMode {
 public:
  explicit ScopedComputeMode(const ComputeMode& mode);
  ~ScopedComputeMode();
  ScopedComputeMode(const ScopedComputeMode&) = delete;
  ScopedComputeMode& operator=(const ScopedComputeMode&) = delete;

 private:
  ScopedIsa isa_;
  MatmulPrecision before_;
};

}  // namespace weft::kernels
