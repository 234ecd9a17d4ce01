// fused.attention.
#pragma once

#include <array>

#include "ir/op_def.h"

namespace weft::ir::fused {

// Order of the dimensions batch, heads, sequence, depth.
enum class AttentionLayout : uint8_t { kBhsd, kBshd };
constexpr std::array<std::string_view, 2> EnumNames(AttentionLayout) { return {"bhsd", "bshd"}; }

// softmax(scale * q . k^T + mask) . v over the last dimension. In bhsd: q [B, H, S, D], k
// [B, H, T, D], v [B, H, T, Dv]; the result is [B, H, S, Dv]. bshd swaps H with S or T in all of
// them. mask broadcasts to [B, H, S, T] in either layout.
struct Attention {
  static constexpr OpInfo kInfo = {.name = "fused.attention",
                                   .operands = {"q", "k", "v", Optional("mask")},
                                   .doc = "scaled dot-product attention"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> scale{};
    Slot<AttentionLayout> layout{};
    static constexpr auto Fields() {
      return std::tuple(Field{"scale", &Attrs::scale},
                        Field{"layout", &Attrs::layout, AttentionLayout::kBhsd});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

}  // namespace weft::ir::fused
