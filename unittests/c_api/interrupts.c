/* SIGINT during a run. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>

#include "c_api_test.h"

static volatile sig_atomic_t handled = 0;
static void handle(int signal_number) { handled += signal_number == SIGINT; }
static void handle_with_more(int signal_number, siginfo_t* info, void* context) {
  handled += signal_number == SIGINT && info != NULL && context != NULL;
}
static void handle_otherwise(int signal_number) { (void)signal_number; }

/* Callbacks of a run, which go on. */
static int go_on(void* user_data) {
  (void)user_data;
  return 0;
}
static int interrupt(void* user_data) {
  (void)user_data;
  raise(SIGINT);
  return 0;
}
static int set_handler(void* user_data) {
  (void)user_data;
  signal(SIGINT, handle_otherwise);
  return 0;
}

/* As a library that reads a line does, for the time of it. */
static struct sigaction borrowed;
static int borrow_handler(void* user_data) {
  struct sigaction other = {0};
  (void)user_data;
  other.sa_handler = handle_otherwise;
  if (borrowed.sa_handler == SIG_DFL) sigaction(SIGINT, &other, &borrowed);
  return 0;
}

static weft_code run(const weft_session* session, int (*stop)(void*), int stop_at_interrupt) {
  const weft_tensor inputs[] = {f32_2x2("a", kA), f32_2x2("b", kB)};
  const weft_run_options options = {
      .size = sizeof options, .stop = stop, .stop_at_interrupt = stop_at_interrupt};
  weft_outputs* outputs = NULL;
  const weft_code code = weft_session_run(session, inputs, 2, &options, &outputs);
  CHECK((outputs != NULL) == (code == WEFT_OK));
  weft_outputs_free(outputs);
  return code;
}

static void ends_a_run_behind_the_handler(const weft_session* session) {
  struct sigaction action = {0}, after;
  action.sa_handler = handle;
  for (int with_more = 0; with_more < 2; ++with_more) {
    handled = 0;
    sigaction(SIGINT, &action, NULL);
    CHECK(run(session, interrupt, 1) == WEFT_CANCELLED);
    CHECK(strstr(weft_error_message(), "stopped before") != NULL);
    CHECK(handled == 1);
    sigaction(SIGINT, NULL, &after);
    CHECK(after.sa_handler == action.sa_handler &&
          (after.sa_flags & SA_SIGINFO) == (action.sa_flags & SA_SIGINFO));
    CHECK(run(session, go_on, 1) == WEFT_OK); /* an earlier one is over */
    CHECK(run(session, NULL, 1) == WEFT_OK);
    CHECK(run(session, interrupt, 0) == WEFT_OK); /* nobody asked for it */
    action.sa_sigaction = handle_with_more;
    action.sa_flags = SA_SIGINFO;
  }
}

static void is_left_alone_otherwise(const weft_session* session) {
  signal(SIGINT, SIG_IGN);
  CHECK(run(session, interrupt, 1) == WEFT_OK);
  CHECK(signal(SIGINT, handle) == SIG_IGN);
  CHECK(run(session, set_handler, 1) == WEFT_OK);
  CHECK(signal(SIGINT, SIG_DFL) == handle_otherwise);
  CHECK(run(session, go_on, 1) == WEFT_OK);
  CHECK(signal(SIGINT, SIG_DFL) == SIG_DFL);
}

/* What was borrowed is the handler of a run that is over by then. */
static void is_given_back_when_a_run_is_over(const weft_session* session) {
  struct sigaction action = {0}, after;
  action.sa_handler = handle;
  handled = 0;
  sigaction(SIGINT, &action, NULL);
  CHECK(run(session, borrow_handler, 1) == WEFT_OK);
  sigaction(SIGINT, &borrowed, NULL);
  raise(SIGINT);
  CHECK(handled == 1);
  CHECK(run(session, interrupt, 1) == WEFT_CANCELLED);
  CHECK(handled == 2);
  action.sa_handler = SIG_DFL;
  sigaction(SIGINT, &action, &after);
  CHECK(after.sa_handler == handle);
}

void tests_interrupts(void) {
  weft_session* session = session_of(kSums);
  ends_a_run_behind_the_handler(session);
  is_left_alone_otherwise(session);
  is_given_back_when_a_run_is_over(session);
  weft_session_free(session);
}
