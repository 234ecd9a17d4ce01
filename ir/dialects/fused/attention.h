// fused.attention.
#pragma once

#include <array>

#include "ir/op_def.h"

namespace weft::ir::fused {

// Order of the dimensions batch, heads, sequence, depth.
enum class AttentionLayout : uint8_t { kBhsd, kBshd };
constexpr std::array<std::string_view, 2> EnumNames(AttentionLayout) { return {"bhsd", "bshd"}; }

// softmax(scale * q . k^T + mask) . v over the last dimension. In bhsd: q [B, H, S, D], k
// [B, G, T, D], v [B, G, T, Dv]; the result is [B, H, S, Dv]. bshd swaps H with S, or G with T, in
// all of them. H is a multiple of G: each head of k and v serves H / G heads of q, which lie next to
// each other. mask broadcasts to [B, H, S, T] in either layout, and so does keep: where that is
// false, `fill` takes the place of a score before the mask is added. With `zero_nan` weights that
// are NaN, as all of a row are whose scores are all minus infinity, become 0.
struct Attention {
  static constexpr OpInfo kInfo = {.name = "fused.attention",
                                   .operands = {"q", "k", "v", Optional("mask"), Optional("keep")},
                                   .doc = "scaled dot-product attention"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> scale{};
    Slot<AttentionLayout> layout{};
    Slot<float> fill{};
    Slot<bool> zero_nan{};
    static constexpr auto Fields() {
      return std::tuple(
          Field{"scale", &Attrs::scale}, Field{"layout", &Attrs::layout, AttentionLayout::kBhsd},
          Field{"fill", &Attrs::fill, 0.0f}, Field{"zero_nan", &Attrs::zero_nan, false});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

}  // namespace weft::ir::fused
