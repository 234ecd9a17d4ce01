#include "weft/optimize/count_operators.h"

#include "ir/walk.h"

namespace weft {

std::map<std::string, size_t> CountOperators(ir::Program& program) {
  std::map<std::string, size_t> counts;
  ir::Walk(program, [&](ir::Operation op) { ++counts[std::string(op.name())]; });
  return counts;
}

}  // namespace weft
