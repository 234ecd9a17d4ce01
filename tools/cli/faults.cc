#include "tools/cli/faults.h"

#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "tools/cli/exit_code.h"

namespace weft::tools {
namespace {

// The functions below run in a signal handler or without memory: no allocation, no stdio.

void Print(std::string_view text) {
  for (const char c : text) {
    const char shown = c >= ' ' || c == '\n' ? c : '?';
    if (write(STDERR_FILENO, &shown, 1) != 1) return;
  }
}

[[noreturn]] void Fail(std::string_view subject, std::string_view what) {
  Print(program_invocation_short_name);
  Print(": error: ");
  Print(subject);
  Print(what);
  Print("\n");
  _exit(kBadInput);
}

// Of threads that fail at once the first says so, and the others wait for the end of the process.
void WaitUnlessFirst() {
  static std::atomic<pid_t> first = 0;
  const pid_t self = gettid();
  pid_t before = 0;
  if (first.compare_exchange_strong(before, self)) return;
  if (before == self) _exit(kBadInput);  // it failed while it said so
  while (true) pause();
}

// A line of /proc/self/maps: START-END and more, then the path.
bool ParseRange(const char*& at, uintptr_t* value) {
  const char* const begin = at;
  for (*value = 0;; ++at) {
    const int digit = *at >= '0' && *at <= '9'   ? *at - '0'
                      : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
                                                 : -1;
    if (digit < 0) return at++ != begin;
    *value = *value * 16 + static_cast<uintptr_t>(digit);
  }
}

// The path of the file that is mapped at the address; empty when it is not known.
std::string_view MappedAt(uintptr_t address) {
  static char line[8192];
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  size_t size = 0;
  for (char c; file >= 0 && read(file, &c, 1) == 1;) {
    if (c != '\n') {
      if (size + 1 < sizeof(line)) line[size++] = c;
      continue;
    }
    line[size] = '\0';
    size = 0;
    const char* at = line;
    uintptr_t start = 0, end = 0;
    if (!ParseRange(at, &start) || !ParseRange(at, &end)) continue;
    if (address < start || address >= end) continue;
    const char* const path = std::strchr(at, '/');
    return path ? path : std::string_view();
  }
  return {};
}

void OnBusError(int number, siginfo_t* info, void*) {
  WaitUnlessFirst();
  if (info->si_code == BUS_ADRERR) {
    const std::string_view path = MappedAt(reinterpret_cast<uintptr_t>(info->si_addr));
    if (!path.empty()) Fail(path, ": became shorter while it was read");
  }
  signal(number, SIG_DFL);
  raise(number);
}

// Ends here, not by an exception: one that is thrown while a table of Abseil grows leaves it so that it
// cannot be destroyed.
[[noreturn]] void OnNoMemory() {
  WaitUnlessFirst();
  Fail("", "out of memory");
}

std::terminate_handler usual_end = nullptr;

// An exception that nothing catches: from a noexcept function, a thread or a static initialiser.
[[noreturn]] void OnTerminate() {
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      OnNoMemory();
    } catch (...) {  // the usual end below
    }
  }
  usual_end();
  std::abort();
}

// Static initialisers take memory: rules and kernels register themselves in them, and shared libraries have
// theirs, which run before any of the program's but these. Sanitizers have not begun then.
__attribute__((no_sanitize("address", "thread", "undefined"))) void HandleTerminate() {
  std::set_new_handler(OnNoMemory);
  usual_end = std::set_terminate(OnTerminate);
}
__attribute__((section(".preinit_array"),
               used)) void (*const kBeforeInitialisers)() = HandleTerminate;

}  // namespace

void HandleFaults() {
  signal(SIGXFSZ, SIG_IGN);
  struct sigaction action = {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace weft::tools
