// What a model, its clones and their sessions share.
#pragma once

#include <memory>
#include <utility>

#include "ir/context.h"
#include "ir/program.h"
#include "kernels/packed_weights.h"
#include "weft/base/disposing_mutex.h"
#include "weft/weft.h"

namespace weft {

struct Context {
  ir::IrContext ir;
  // Held by whoever uses `ir` or `packed`, which serve one thread at a time.
  DisposingMutex mutex;
  const std::shared_ptr<kernels::PackedWeights> packed = std::make_shared<kernels::PackedWeights>();
};

// Packed weights inside of others, which live as long.
inline std::shared_ptr<kernels::PackedWeights> PackedInside(
    std::shared_ptr<kernels::PackedWeights> around) {
  struct Nested {
    explicit Nested(std::shared_ptr<kernels::PackedWeights> of)
        : around(std::move(of)), own(around.get()) {}
    const std::shared_ptr<kernels::PackedWeights> around;
    kernels::PackedWeights own;
  };
  const auto nested = std::make_shared<Nested>(std::move(around));
  return {nested, &nested->own};
}

struct Model::State {
  State(std::shared_ptr<Context> of, std::unique_ptr<ir::Program> read)
      : context(std::move(of)), program(std::move(read)), packed(context->packed) {}
  State(const State& other)
      : context(other.context), program(other.program->Clone()), packed(other.packed) {}
  State& operator=(const State&) = delete;
  ~State() {
    context->mutex.Dispose(std::move(program));
    context->mutex.Dispose(std::move(packed));
  }

  const std::shared_ptr<Context> context;
  std::unique_ptr<ir::Program> program;
  // Of the context, or inside of them those that own what passes folded for this model or the one it is a clone of.
  std::shared_ptr<kernels::PackedWeights> packed;
};

}  // namespace weft
