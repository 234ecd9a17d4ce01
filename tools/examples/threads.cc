// threads MODEL: one session serves four threads, each of which writes into memory of its own.
#include <atomic>
#include <thread>

#include "example.h"

absl::Status Serve(const weft::Session& session, float value) {
  std::vector<weft::Tensor> tensors;
  weft::NamedTensors inputs;
  for (const weft::ValueInfo& input : session.inputs()) {
    WEFT_ASSIGN_OR_RETURN(weft::Tensor tensor, weft::Tensor::Create(input.dtype, input.dims));
    for (float& element : tensor.values<float>()) element = value;
    inputs.emplace_back(input.name, tensor);  // whose memory does not move
    tensors.push_back(std::move(tensor));
  }
  WEFT_ASSIGN_OR_RETURN(const weft::Outputs once, session.Run(inputs));  // tells the shapes

  std::vector<std::vector<float>> memory;  // where all later runs write
  weft::NamedTensors outputs;
  memory.reserve(once.size());
  for (const auto& [name, tensor] : once) {
    std::vector<float>& floats = memory.emplace_back(tensor.NumElements());
    outputs.emplace_back(name, weft::TensorRef(floats, tensor.dims()));
  }
  for (int i = 0; i < 100; ++i) WEFT_RETURN_IF_ERROR(session.RunInto(inputs, outputs));
  for (size_t i = 0; const auto& [name, tensor] : once)
    if (memory[i++].front() != tensor.values<float>().front())
      return absl::InternalError("runs on the same input differ");
  return absl::OkStatus();
}

absl::Status ServeAll(const std::string& path) {
  WEFT_ASSIGN_OR_RETURN(weft::Model model, weft::Model::Load(path));
  WEFT_ASSIGN_OR_RETURN(const weft::Session session, weft::Session::Create(model, {.threads = 1}));
  std::vector<absl::Status> done(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < done.size(); ++i)
    threads.emplace_back([&, i] { done[i] = Serve(session, static_cast<float>(i)); });
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : done) WEFT_RETURN_IF_ERROR(status);
  std::printf("%zu threads, 100 runs each\n", done.size());
  return absl::OkStatus();
}

int main(int argc, char** argv) {
  if (argc != 2) return std::puts("usage: threads MODEL"), 2;
  return ExitCode(ServeAll(argv[1]));
}
