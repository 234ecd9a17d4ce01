#include "kernels/runtime/program_runner.h"

#include <memory>
#include <utility>

#include "kernels/runtime/dense_tensor.h"
#include "kernels/runtime/session.h"

namespace weft::kernels {

absl::StatusOr<std::vector<ir::Attribute>> SessionRunner::Run(const ir::Program& program,
                                                              std::span<const ir::Attribute> inputs,
                                                              Kernels kernels) {
  WEFT_ASSIGN_OR_RETURN(
      const auto session,
      Session::Create(program,
                      {.provider = kernels == Kernels::kReference ? "reference" : "auto"}));
  std::vector<Tensor> tensors;  // kernels may read past the end of what they are given
  std::vector<TensorView> views;
  for (const ir::Attribute dense : inputs) {
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, TensorOf(dense));
    tensors.push_back(std::move(tensor));
  }
  views.reserve(tensors.size());
  for (const Tensor& tensor : tensors) views.push_back(tensor.view());
  WEFT_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, session->Run(views));
  ir::IrContext& context = *program.context();
  std::vector<ir::Attribute> results;
  results.reserve(outputs.size());
  for (const Tensor& output : outputs) results.push_back(DenseOf(context, output.view()));
  return results;
}

}  // namespace weft::kernels
