// Passes and pipelines by name, for tools. A pass file registers itself:
//
//   WEFT_REGISTER_PASS(DeadCodeElimination);
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace weft::passes {

struct RegisteredPass {
  std::string name;
  std::unique_ptr<Pass> (*make)() = nullptr;
  drr::SourceLoc loc;  // of its registration
};
// Sorted by name.
std::vector<RegisteredPass> RegisteredPasses();
std::unique_ptr<Pass> MakePass(std::string_view name);  // null if there is none

// The passes of a named pipeline, in order; every name is a registered pass. "none" has no passes,
// "paddle" is of the pd dialect, "ascend" and "litert" simplify and then rewrite for Ascend NPUs and
// for LiteRT, and of the others:
//   simplify  ONNX to ONNX; layout  + NHWC convolutions and pools: what running unfused needs
//   fuse      what ONNX Runtime and ONNX say of attention in one op becomes its parts; then simplify
//             and layout, with fused ops between and after its passes
struct Pipeline {
  std::string_view name;
  std::string_view description;
  std::vector<std::string> passes;
  bool target = false;  // what only it runs is opt-in for the others
};
const std::vector<Pipeline>& Pipelines();
const Pipeline* FindPipeline(std::string_view name);

namespace internal {
bool AddPassFactory(std::unique_ptr<Pass> (*make)(), drr::SourceLoc loc);
}

#define WEFT_REGISTER_PASS(P)                                                              \
  [[maybe_unused]] static const bool weft_registered_##P =                                 \
      ::weft::passes::internal::AddPassFactory(                                            \
          []() -> std::unique_ptr<::weft::passes::Pass> { return std::make_unique<P>(); }, \
          {__FILE__, __LINE__})

}  // namespace weft::passes
