// run MODEL: runs a model on zeros and says what comes out.
#include "example.h"

absl::Status Run(const std::string& path) {
  WEFT_ASSIGN_OR_RETURN(weft::Model model, weft::Model::Load(path));
  WEFT_ASSIGN_OR_RETURN(const weft::Session session, weft::Session::Create(model));
  std::vector<weft::Tensor> zeros;
  weft::NamedTensors inputs;
  for (const weft::ValueInfo& input : session.inputs()) {
    weft::Shape dims = input.dims;
    for (int64_t& dim : dims)
      if (dim < 0) dim = 1;  // which the model leaves open
    WEFT_ASSIGN_OR_RETURN(weft::Tensor tensor, weft::Tensor::Create(input.dtype, dims));
    inputs.emplace_back(input.name, tensor);  // whose memory does not move
    zeros.push_back(std::move(tensor));
  }
  WEFT_ASSIGN_OR_RETURN(const weft::Outputs outputs, session.Run(inputs));
  for (const auto& [name, tensor] : outputs)
    std::printf("%s: %lld elements, the first is %g\n", name.c_str(),
                static_cast<long long>(tensor.NumElements()),
                static_cast<double>(tensor.values<float>()[0]));
  return absl::OkStatus();
}

int main(int argc, char** argv) {
  if (argc != 2) return std::puts("usage: run MODEL"), 2;
  return ExitCode(Run(argv[1]));
}
