// optimize IN OUT: simplifies a model, compares its outputs before and after, and writes it.
#include "example.h"

absl::Status Optimize(const std::string& in, const std::string& out) {
  WEFT_ASSIGN_OR_RETURN(weft::Model model, weft::Model::Load(in));
  WEFT_ASSIGN_OR_RETURN(const weft::Report report, model.Optimize({.check = 3}));
  std::printf("%s", report.ToString().c_str());
  for (const weft::OutputReport& output : report.outputs)
    std::printf("%s %s\n", output.name.c_str(), output.verdict.c_str());
  return model.Save(out);
}

int main(int argc, char** argv) {
  if (argc != 3) return std::puts("usage: optimize IN OUT"), 2;
  return ExitCode(Optimize(argv[1], argv[2]));
}
