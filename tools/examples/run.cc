// run MODEL: runs a model on zeros and says what comes out.
#include "example.h"

// Of the types that most outputs have; the others it names.
std::string FirstElement(const weft::Tensor& tensor) {
  if (tensor.NumElements() == 0) return "none";
  switch (tensor.dtype()) {
    case weft::DataType::kF32:
      return std::to_string(tensor.values<float>()[0]);
    case weft::DataType::kF64:
      return std::to_string(tensor.values<double>()[0]);
    case weft::DataType::kI32:
      return std::to_string(tensor.values<int32_t>()[0]);
    case weft::DataType::kI64:
      return std::to_string(tensor.values<int64_t>()[0]);
    case weft::DataType::kBool:
      return tensor.values<bool>()[0] ? "true" : "false";
    case weft::DataType::kString:
      return '"' + tensor.values<std::string>()[0] + '"';
    default:
      return "of type " + std::string(weft::ir::DataTypeName(tensor.dtype()));
  }
}

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
    std::printf("%s: %lld elements, the first is %s\n", name.c_str(),
                static_cast<long long>(tensor.NumElements()), FirstElement(tensor).c_str());
  return absl::OkStatus();
}

int main(int argc, char** argv) {
  if (argc != 2) return std::puts("usage: run MODEL"), 2;
  return ExitCode(Run(argv[1]));
}
