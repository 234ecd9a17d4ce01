// What the pipelines of passes/pass_registry.h have in common.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace weft::passes {

// With these every pipeline of ONNX operators begins, fuse and ort after lowering some: they fold constants,
// canonicalize, merge equal operations and drop dead ones. Weights are in their final form after them.
const std::vector<std::string>& CommonPasses();
bool BeginsWithCommonPasses(std::span<const std::string> passes);

}  // namespace weft::passes
