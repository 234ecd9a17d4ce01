#include "weft/c/interrupt.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction

#include <atomic>
#include <mutex>

namespace weft::c {
namespace {

std::atomic<uint32_t> interrupts{0};
static_assert(std::atomic<uint32_t>::is_always_lock_free, "a signal handler counts");

struct sigaction handler_of_program = {};  // while ours is installed

std::mutex mutex;  // of these two
int watches = 0;
bool installed = false;

void OnInterrupt(int signal, siginfo_t* info, void* context) {
  interrupts.fetch_add(1, std::memory_order_relaxed);
  if ((handler_of_program.sa_flags & SA_SIGINFO) != 0)
    handler_of_program.sa_sigaction(signal, info, context);
  else
    handler_of_program.sa_handler(signal);
}

bool IsOurs(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == OnInterrupt;
}

bool Install() {
  struct sigaction now = {};
  if (sigaction(SIGINT, nullptr, &now) != 0) return false;
  // Who saved it while ours was there has put it back behind our back: the program's is the one before.
  if (IsOurs(now)) return true;
  handler_of_program = now;  // before ours is there, which may be called at once
  if (handler_of_program.sa_handler == SIG_DFL || handler_of_program.sa_handler == SIG_IGN)
    return false;
  struct sigaction ours = handler_of_program;
  ours.sa_sigaction = OnInterrupt;
  ours.sa_flags |= SA_SIGINFO;
  return sigaction(SIGINT, &ours, nullptr) == 0;
}

void Uninstall() {
  struct sigaction now = {};
  if (sigaction(SIGINT, nullptr, &now) == 0 && IsOurs(now))
    sigaction(SIGINT, &handler_of_program, nullptr);
}

}  // namespace

InterruptWatch::InterruptWatch() : before_(interrupts.load(std::memory_order_relaxed)) {
  const std::lock_guard lock(mutex);
  if (watches++ == 0) installed = Install();
}

InterruptWatch::~InterruptWatch() {
  const std::lock_guard lock(mutex);
  if (--watches == 0 && installed) Uninstall();
}

bool InterruptWatch::interrupted() const {
  return interrupts.load(std::memory_order_relaxed) != before_;
}

}  // namespace weft::c
