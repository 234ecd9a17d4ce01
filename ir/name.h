// Interned strings: op names, attribute names, symbolic dimensions, locations. Process-wide, so
// that a Name can be a static constant; comparing two Names compares two integers. Names are never
// freed.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::ir {

class Name {
 public:
  constexpr Name() = default;  // the empty string
  explicit Name(std::string_view text);
  static Name FromId(uint32_t id) { return Name(id, 0); }

  std::string_view str() const;
  uint32_t id() const { return id_; }
  bool empty() const { return id_ == 0; }
  friend bool operator==(Name a, Name b) { return a.id_ == b.id_; }

 private:
  Name(uint32_t id, int) : id_(id) {}
  uint32_t id_ = 0;
};

// The number of an operation name, dense and process-wide, whether or not any dialect defines the
// op. At most kMaxOpcodes distinct names exist; FindOrAdd returns an invalid Opcode beyond that.
class Opcode {
 public:
  static constexpr uint32_t kMaxOpcodes = 60000;
  constexpr Opcode() = default;
  static Opcode FindOrAdd(std::string_view op_name);
  static Opcode FromId(uint16_t id) {
    Opcode code;
    code.id_ = id;
    return code;
  }
  static uint32_t Count();

  bool IsValid() const { return id_ != 0; }
  uint16_t id() const { return id_; }
  std::string_view name() const;
  friend bool operator==(Opcode a, Opcode b) { return a.id_ == b.id_; }

 private:
  uint16_t id_ = 0;
};

}  // namespace weft::ir
