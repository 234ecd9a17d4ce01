#include "ir/text/internal/weight_layout.h"

#include "ir/text/internal/text_order.h"

namespace weft::ir::text {
namespace {
constexpr uint64_t kAlignment = 64;
}

bool IsInline(Attribute dense, const PrintOptions& options) {
  if (dense.IsElided()) return false;
  return options.max_inline_elements < 0 ||
         dense.dense_type().NumElements() <= options.max_inline_elements;
}

WeightLayout::WeightLayout(Program& program, const PrintOptions& options) {
  for (const std::string& name : program.ParameterNames()) Add(program.parameter(name), options);
  for (const NamedAttribute& entry : program.module().attrs()) Add(entry.value, options);
  VisitInTextOrder(
      program, [](Block) {},
      [&](Operation op) {
        for (const NamedAttribute& entry : op.attrs()) Add(entry.value, options);
      });
}

void WeightLayout::Add(Attribute attr, const PrintOptions& options) {
  if (!attr.Is(AttrKind::kDense) || attr.num_bytes() == 0 || IsInline(attr, options)) return;
  const bool is_new = offsets_.try_emplace({attr.bytes().data(), attr.num_bytes()}, end_).second;
  if (!is_new) return;
  contents_.push_back(attr);
  end_ = (end_ + attr.num_bytes() + kAlignment - 1) / kAlignment * kAlignment;
}

uint64_t WeightLayout::OffsetOf(Attribute dense) const {
  return offsets_.at({dense.bytes().data(), dense.num_bytes()});
}

}  // namespace weft::ir::text
