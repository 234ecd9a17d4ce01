// An operator that nobody defines is kept as it is, with its attributes, and what is around it is
// optimised.
#include "example.h"

constexpr const char* kModel = R"(
module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<3xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<3xf32>) -> tensor<3xf32>
 (%2) = "onnx.Relu" (%1) {} : (tensor<3xf32>) -> tensor<3xf32>
 (%3) = "com.acme.Magic" (%2) {alpha:1.5,mode:"fast"} : (tensor<3xf32>) -> tensor<3xf32>
 () = "builtin.return" (%3) {} : (tensor<3xf32>) ->
}
)";

absl::Status Keep() {
  WEFT_ASSIGN_OR_RETURN(weft::Model model, weft::Model::FromText(kModel));
  WEFT_ASSIGN_OR_RETURN(const weft::Report report, model.Optimize({.check = 1}));
  std::printf("%s%s", report.check.c_str(), model.ToText().c_str());
  if (model.ToText().find("\"com.acme.Magic\" (%1) {alpha:1.5,mode:\"fast\"}") == std::string::npos)
    return absl::InternalError("the operator is not what it was, or not behind one Relu");
  // Nothing runs it, as a session says in a line.
  WEFT_ASSIGN_OR_RETURN(const weft::Session session, weft::Session::Create(model));
  const std::vector<float> x = {1, 2, 3};
  const absl::Status status = session.Run({{"x", {x, {3}}}}).status();
  std::printf("%s\n", std::string(status.message()).c_str());
  return absl::IsUnimplemented(status) ? absl::OkStatus() : absl::InternalError("it ran");
}

int main() { return ExitCode(Keep()); }
