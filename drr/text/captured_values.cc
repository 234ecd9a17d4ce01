#include "drr/text/captured_values.h"

#include "ir/walk.h"

namespace weft::drr::text {

ir::Value FindOutside(ir::Program& program, std::string_view node, int index) {
  ir::Operation found;
  ir::Walk(program, [&](ir::Operation op) {
    if (op.num_results() > 0 && op.location().str() == node) found = op;
  });
  if (!found) {
    for (ir::Value argument : program.body().arguments())
      if (argument.name() == node && (index == 0 || index == -1)) return argument;
    return {};
  }
  const int count = static_cast<int>(found.num_results());
  if (index < 0) index += count;
  return index >= 0 && index < count ? found.result(static_cast<uint32_t>(index)) : ir::Value();
}

}  // namespace weft::drr::text
