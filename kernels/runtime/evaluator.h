// Computes single ops on constants, with the kernels a session would use: for constant folding in
// passes (as ir::Evaluator) and in sessions.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/evaluator.h"
#include "kernels/kernel.h"

namespace weft::kernels {

class KernelEvaluator final : public ir::Evaluator {
 public:
  // `pool` must outlive the evaluator. `owner` adopts the results; the context does, where it is null.
  KernelEvaluator(std::vector<std::string> providers, ThreadPool* pool,
                  PackedWeights* owner = nullptr)
      : providers_(std::move(providers)), pool_(pool), owner_(owner) {}
  // For tools: the kernels of a provider choice ("auto"), one thread.
  static absl::StatusOr<std::unique_ptr<KernelEvaluator>> Create(std::string_view provider,
                                                                 PackedWeights* owner = nullptr);

  // Results above 1 GiB are declined: a constant should not outgrow the model.
  absl::StatusOr<std::vector<ir::Attribute>> Evaluate(
      ir::Operation op, std::span<const ir::Attribute> operands) override;

 private:
  std::unique_ptr<ThreadPool> own_pool_;
  std::vector<std::string> providers_;
  ThreadPool* pool_;
  PackedWeights* owner_ = nullptr;
};

}  // namespace weft::kernels
