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

struct Model::State {
  State(std::shared_ptr<Context> of, std::unique_ptr<ir::Program> read)
      : context(std::move(of)), program(std::move(read)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { context->mutex.Dispose(std::move(program)); }

  const std::shared_ptr<Context> context;
  std::unique_ptr<ir::Program> program;
};

}  // namespace weft
