#include "kernels/runtime/program_runner.h"

#include <memory>
#include <utility>

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
    const ir::Type type = dense.dense_type();
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(type.dtype(), type.shape()));
    if (!dense.bytes().empty())
      std::memcpy(tensor.view().data, dense.bytes().data(), dense.bytes().size());
    tensors.push_back(std::move(tensor));
    views.push_back(tensors.back().view());
  }
  for (size_t i = 0; i < views.size(); ++i) views[i] = tensors[i].view();
  WEFT_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, session->Run(views));
  ir::IrContext& context = *program.context();
  std::vector<ir::Attribute> results;
  for (const Tensor& output : outputs) {
    const TensorView view = output.view();
    results.push_back(
        context.DenseAttr(context.TensorType(view.dtype, view.dims), {view.data, view.NumBytes()}));
  }
  return results;
}

}  // namespace weft::kernels
