// What every function of weft/c_api.h does around its body: no exception leaves it, a status becomes a
// code and a line of text, and structs of any size are read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/base/status.h"
#include "weft/c_api.h"
#include "weft/judge.h"
#include "weft/weft.h"

namespace weft::c {

// Keeps the text for weft_error_message().
weft_code Fail(weft_code code, const char* text) noexcept;
weft_code CodeOf(const absl::Status& status) noexcept;

// Runs a body that returns absl::Status.
template <class Body>
weft_code Guarded(const Body& body) noexcept {
  try {
    return CodeOf(body());
  } catch (const std::bad_alloc&) {
    return Fail(WEFT_RESOURCE_EXHAUSTED, "not enough memory");
  } catch (const std::exception& error) {
    return Fail(WEFT_INTERNAL, error.what());
  } catch (...) {
    return Fail(WEFT_INTERNAL, "an exception that is no std::exception");
  }
}

absl::Status CheckNotNull(const void* pointer, const char* what);

// For a body that makes a Handle: sets *made to null and, when the body was successful, to its result.
template <class Handle, class Body>
weft_code Make(Handle** made, const Body& body) noexcept {
  return Guarded([&]() -> absl::Status {
    WEFT_RETURN_IF_ERROR(CheckNotNull(made, "where the result goes"));
    *made = nullptr;
    WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Handle> handle, body());
    *made = handle.release();
    return absl::OkStatus();
  });
}

// InvalidArgument when `given` does not begin with a size, or has bytes behind `known` that are not zero:
// fields of a later version, which ask for what this one cannot do.
absl::Status CheckSize(const void* given, size_t known, const char* name);

// A struct of the caller's as this version knows it. A null one is all defaults.
template <class Struct>
absl::StatusOr<Struct> Read(const Struct* given, const char* name) {
  static_assert(std::is_trivially_copyable_v<Struct> && offsetof(Struct, size) == 0);
  Struct read = {};
  if (given == nullptr) return read;
  WEFT_RETURN_IF_ERROR(CheckSize(given, sizeof(Struct), name));
  std::memcpy(&read, given, std::min(given->size, sizeof(Struct)));
  return read;
}

// An array of such structs, whose elements are as far apart as the first one says.
template <class Struct>
absl::StatusOr<std::vector<Struct>> ReadArray(const Struct* given, size_t count, const char* name) {
  std::vector<Struct> read;
  if (count == 0) return read;
  WEFT_RETURN_IF_ERROR(CheckNotNull(given, name));
  const size_t stride = given->size;
  const auto* at = reinterpret_cast<const std::byte*>(given);
  for (size_t i = 0; i < count; ++i, at += stride) {
    const auto* element = reinterpret_cast<const Struct*>(at);
    if (element->size != stride)
      return ir::InvalidArgument(std::string(name) + ": the elements vary in size");
    WEFT_ASSIGN_OR_RETURN(read.emplace_back(), Read(element, name));
  }
  return read;
}

// Writes as much of `full` as the caller's struct has room for, and zeros behind it.
template <class Struct>
absl::Status Write(const Struct& full, Struct* to, const char* name) {
  static_assert(std::is_trivially_copyable_v<Struct> && offsetof(Struct, size) == 0);
  WEFT_RETURN_IF_ERROR(CheckNotNull(to, name));
  if (to->size < sizeof(to->size)) return CheckSize(to, sizeof(Struct), name);
  const size_t size = to->size;
  std::memcpy(to, &full, std::min(size, sizeof(Struct)));
  if (size > sizeof(Struct)) std::memset(to + 1, 0, size - sizeof(Struct));
  to->size = size;
  return absl::OkStatus();
}

// Whether callbacks are given, as functions of C++.
Notices NoticesOf(weft_notice_fn notice, void* user_data);
std::function<bool()> StopOf(int (*stop)(void*), void* user_data);

inline std::string TextOr(const char* text, const char* otherwise) {
  return text == nullptr ? otherwise : text;
}

}  // namespace weft::c
