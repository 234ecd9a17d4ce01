// What static initialisers find wrong with what they register: a name that is taken, for one. In a
// program that is a mistake of ours, which ends it. Of a plugin it is bad input: who loads one keeps
// what is found meanwhile, and refuses it.
//
//   RegistrationErrors errors;
//   dlopen(...);
//   if (!errors.first().empty()) ...
#pragma once

#include <string>
#include <string_view>

namespace weft::ir {

// Aborts, or hands `what` to the RegistrationErrors that lives: then the caller registers nothing.
void RegistrationFailed(const char* file, int line, std::string_view what);

// One at a time, in the thread that loads.
class RegistrationErrors {
 public:
  RegistrationErrors();
  ~RegistrationErrors();
  RegistrationErrors(const RegistrationErrors&) = delete;
  RegistrationErrors& operator=(const RegistrationErrors&) = delete;

  const std::string& first() const { return first_; }

 private:
  friend void RegistrationFailed(const char* file, int line, std::string_view what);
  std::string first_;
};

}  // namespace weft::ir
