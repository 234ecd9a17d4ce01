#include "ir/base/registration.h"

#include "ir/base/check.h"

namespace weft::ir {
namespace {

RegistrationErrors* collector = nullptr;

}  // namespace

RegistrationErrors::RegistrationErrors() {
  WEFT_CHECK(collector == nullptr, "two plugins are loaded at one time");
  collector = this;
}
RegistrationErrors::~RegistrationErrors() { collector = nullptr; }

void RegistrationFailed(const char* file, int line, std::string_view what) {
  if (collector == nullptr) CheckFailed(file, line, "registration", what);
  if (collector->first_.empty()) collector->first_ = what;
}

}  // namespace weft::ir
