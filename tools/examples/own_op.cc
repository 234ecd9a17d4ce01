// An operator and a kernel of one's own: models that use acme.Gain are read, written and run.
#include "example.h"
#include "gain.h"

constexpr const char* kModel = R"(
module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<3xf32>) {
 (%1) = "acme.Gain" (%0) {factor:2.5} : (tensor<3xf32>) -> tensor<3xf32>
 () = "builtin.return" (%1) {} : (tensor<3xf32>) ->
}
)";

absl::Status Run() {
  const weft::LoadOptions options = {
      .add_dialects = [](weft::ir::IrContext& context) { weft::ir::AddOps<acme::Gain>(context); }};
  WEFT_ASSIGN_OR_RETURN(weft::Model text, weft::Model::FromText(kModel, options));
  WEFT_ASSIGN_OR_RETURN(const std::string onnx, text.ToBytes());
  WEFT_ASSIGN_OR_RETURN(weft::Model model, weft::Model::FromBytes(onnx, options));
  WEFT_ASSIGN_OR_RETURN(const weft::Session session, weft::Session::Create(model));
  const std::vector<float> x = {1, 2, 4};
  WEFT_ASSIGN_OR_RETURN(const weft::Outputs outputs, session.Run({{"x", {x, {3}}}}));
  const std::span<float> y = outputs.at("y").values<float>();
  std::printf("%g %g %g\n", y[0], y[1], y[2]);
  return y[2] == 10 ? absl::OkStatus() : absl::InternalError("expected 10");
}

int main() { return ExitCode(Run()); }
