// How a Program stores operations, operands, values, blocks and regions: small records in arrays,
// linked by ids. Everybody else uses the handles of ir/program.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/context.h"

namespace weft::ir {

inline constexpr uint32_t kNoId = UINT32_MAX;

namespace internal {

inline constexpr uint32_t kExtraBit = 1u << 31;

enum OpFlags : uint8_t {
  kOpErased = 1 << 0,
  kOpHasRegions = 1 << 1,
  kOpHasExtraResults = 1 << 2,  // more than one result: see Program::ExtraResults
  kOpHasResult = 1 << 3,
  kOpManyUses = 1 << 4,      // use_count is kept in a side table
  kOpManyOperands = 1 << 5,  // num_operands is kept in a side table
};

struct OpRecord {
  uint16_t opcode = 0;
  uint8_t generation = 0;
  uint8_t flags = kOpErased;
  uint16_t num_operands = 0;
  uint16_t use_count = 0;
  uint32_t block = kNoId;
  uint32_t prev = kNoId;
  uint32_t next = kNoId;
  uint32_t attrs = 0;
  uint32_t operands = kNoId;  // index of the first operand record; they are consecutive
  uint32_t type = 0;
  uint32_t first_use = kNoId;
};
static_assert(sizeof(OpRecord) == 36);

struct OperandRecord {
  uint32_t value = kNoId;
  uint32_t owner = kNoId;
  uint32_t next = kNoId;
  uint32_t prev = kNoId;  // kNoId: first in the value's list
};

struct ExtraValueRecord {  // a block argument, or result 1, 2, ... of an op
  uint32_t type = 0;
  uint32_t first_use = kNoId;
  uint32_t use_count = 0;
  uint32_t owner = kNoId;  // op or block
  uint32_t index = 0;      // result or argument number
  uint8_t generation = 0;
  bool is_argument = false;
  bool erased = true;
};

struct BlockRecord {
  uint32_t region = kNoId;
  uint32_t prev = kNoId, next = kNoId;
  uint32_t first_op = kNoId, last_op = kNoId;
  uint32_t num_ops = 0;
  uint32_t generation = 0;
  bool erased = true;
  bool ordered = false;             // order numbers of its ops are valid
  std::vector<uint32_t> arguments;  // extra value ids, without kExtraBit
};

struct RegionRecord {
  uint32_t op = kNoId;
  uint32_t first_block = kNoId, last_block = kNoId;
  uint32_t generation = 0;
  bool erased = true;
};

[[noreturn]] void StaleHandle(const char* what);

}  // namespace internal

}  // namespace weft::ir
