// libFuzzer's entry: `fuzz --target=NAME [libFuzzer's flags] CORPUS...`; libFuzzer leaves flags alone
// that begin with two dashes. `tools/dev fuzz NAME` builds and runs it.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "unittests/fuzz/targets.h"

namespace {

const weft::fuzz::FuzzTarget* target = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view kFlag = "--target=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    if (argument.starts_with(kFlag))
      target = weft::fuzz::FindFuzzTarget(argument.substr(kFlag.size()));
  }
  if (target != nullptr) return 0;
  std::fputs("usage: fuzz --target=NAME [flags of libFuzzer] CORPUS...; NAME is one of", stderr);
  for (const weft::fuzz::FuzzTarget& known : weft::fuzz::FuzzTargets())
    std::fprintf(stderr, " %s", std::string(known.name).c_str());
  std::fputs("\n", stderr);
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  target->run({data, size});
  return 0;
}
