// batch FOLDER MODEL...: optimises models on as many threads as there are models, and writes them into a
// folder. ^C ends it: every model that is written is whole.
#include <csignal>
#include <filesystem>
#include <mutex>
#include <thread>

#include "example.h"

volatile std::sig_atomic_t interrupted = 0;
std::mutex printing;

absl::Status Optimize(const std::string& in, const std::string& folder) {
  const std::string name = std::filesystem::path(in).filename().string();
  WEFT_ASSIGN_OR_RETURN(weft::Model model, weft::Model::Load(in));
  const weft::OptimizeOptions options = {.progress =
                                             [&](const weft::Progress& progress) {
                                               const std::lock_guard lock(printing);
                                               std::printf("%s: pass %zu of %zu, %zu operations\n",
                                                           name.c_str(), progress.number,
                                                           progress.count, progress.operations);
                                             },
                                         .stop = [] { return interrupted != 0; }};
  WEFT_RETURN_IF_ERROR(model.Optimize(options).status());
  return model.Save(folder + "/batch_" + name);
}

int main(int argc, char** argv) {
  if (argc < 3) return std::puts("usage: batch FOLDER MODEL..."), 2;
  std::signal(SIGINT, [](int) { interrupted = 1; });
  std::vector<absl::Status> done(static_cast<size_t>(argc - 2));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < done.size(); ++i)
    threads.emplace_back([&, i] { done[i] = Optimize(argv[i + 2], argv[1]); });
  for (std::thread& thread : threads) thread.join();
  int code = 0;
  for (const absl::Status& status : done) code |= ExitCode(status);
  return code;
}
