// explain MODEL RULE [VALUE]: why a rule does not apply to a model in the pipeline fuse, or where it does.
#include "example.h"

absl::Status Explain(const std::string& in, const std::string& what) {
  WEFT_ASSIGN_OR_RETURN(const weft::Model model, weft::Model::Load(in));
  WEFT_ASSIGN_OR_RETURN(const std::string answer, model.Explain(what, {.pipeline = "fuse"}));
  std::printf("%s", answer.c_str());
  return absl::OkStatus();
}

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return std::puts("usage: explain MODEL RULE [VALUE]"), 2;
  return ExitCode(
      Explain(argv[1], std::string(argv[2]) + (argc == 4 ? "@" : "") + (argc == 4 ? argv[3] : "")));
}
