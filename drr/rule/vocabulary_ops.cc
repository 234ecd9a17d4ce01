// Words about the ops that make values: their names, attributes, windows and users.
#include <fmt/format.h>

#include <algorithm>

#include "drr/rule/algebra.h"
#include "drr/rule/convert_attr.h"
#include "drr/rule/vocabulary_functions.h"

namespace weft::drr::internal {

using ir::Attribute;
using ir::AttrKind;
using ir::Ints;

namespace {

// Without its dialect.
std::string_view ShortName(ir::Operation op) {
  const std::string_view name = op.name();
  return name.substr(name.rfind('.') + 1);
}

Ints IntsNamed(const Evaluation& e, ir::Operation op, std::string_view name) {
  const Attribute list = AttributeNamed(e, op, name);
  return list.Is(AttrKind::kInts) ? list.AsInts() : Ints();
}

// False of a value that is absent.
template <class F>
bool NoUser(const BoundTensor& t, const F& is_one) {
  if (!t.value()) return false;
  const std::vector<ir::Operation> users = t.value().users();
  return std::none_of(users.begin(), users.end(), is_one);
}

}  // namespace

ir::Operation DefiningOp(const BoundTensor& t) {
  return t.value() ? t.value().DefiningOp() : ir::Operation();
}

Attribute AttributeNamed(const Evaluation& e, ir::Operation op, std::string_view name) {
  const Attribute given = op.attr(name);
  const ir::FieldDef* field = op.def() ? op.def()->FindField(ir::Name(name)) : nullptr;
  if (given || !field || !field->make_default) return given;
  return field->make_default(*e.m.context());
}

bool OnlyUser(const Evaluation& e) {
  const ir::Operation only = DefiningOp(e.tensor(1));
  const ir::Value value = e.tensor(0).value();
  return only && value && value.use_count() == 1 && *value.users().begin() == only;
}
bool NotResult(const Evaluation& e) {
  return NoUser(e.tensor(0), [](ir::Operation user) { return user.HasTrait(ir::kTerminator); });
}
bool NotUsedBy(const Evaluation& e) {
  return NoUser(e.tensor(0), [&](ir::Operation user) { return user.name() == e.string(1); });
}
bool SameOp(const Evaluation& e) {
  const ir::Operation a = DefiningOp(e.tensor(0)), b = DefiningOp(e.tensor(1));
  return a && b && a.opcode() == b.opcode();
}
bool IsNamed(const Evaluation& e) {
  const ir::Operation op = DefiningOp(e.tensor(0));
  return op && op.location().str() == e.string(1);
}
bool AttributeIs(const Evaluation& e) {
  const ir::Operation op = DefiningOp(e.tensor(0));
  if (!op) return false;
  const Attribute found = AttributeNamed(e, op, e.string(1));
  if (!found) return false;
  if (ConvertAttr(*e.m.context(), e.literal(2), found.kind()) == found) return true;
  e.m.Explain(fmt::format("attribute {} of {} is another", e.string(1), op.name()));
  return false;
}

bool StepsStayInside(const Evaluation& e, ir::Operation pool, const Ints& padding) {
  const BoundTensor padded(pool.operand(0));
  const Ints steps = IntsNamed(e, pool, "dilations");
  if (!padded.has_rank()) return false;
  const int64_t count = padded.rank() - 2;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i), behind = at + static_cast<size_t>(count);
    const int64_t size = padded.dim(i + 2),
                  added = behind < padding.size() ? padding[at] + padding[behind] : 0;
    if (size < 0 || size - added < (at < steps.size() ? steps[at] : 1)) return false;
  }
  return true;
}

// A window whose place is rounded up may lie in the padding behind the last element.
bool WindowsReach(const Evaluation& e) {
  const ir::Operation op = DefiningOp(e.tensor(0));
  if (!op) return false;
  const Attribute mode = AttributeNamed(e, op, "auto_pad"),
                  rounds_up = AttributeNamed(e, op, "ceil_mode");
  const bool is_explicit = !mode || (mode.Is(AttrKind::kString) && mode.AsString() == "NOTSET");
  if (!is_explicit || (rounds_up && !(rounds_up.Is(AttrKind::kInt) && rounds_up.AsInt() == 0)))
    return false;
  const Ints kernel = IntsNamed(e, op, "kernel_shape"), pads = IntsNamed(e, op, "pads");
  if (kernel.empty() || (!pads.empty() && pads.size() != 2 * kernel.size())) return false;
  for (size_t i = 0; i < pads.size(); ++i)
    if (pads[i] >= kernel[i % kernel.size()]) return false;
  return !op.operands().empty() && StepsStayInside(e, op, {});
}
bool MadeBy(const Evaluation& e) {
  for (const ir::Value element : e.list(0)) {
    const ir::Operation op = DefiningOp(BoundTensor(element));
    if (!op || op.name() != e.string(1)) return false;
  }
  return true;
}

Attribute AttributeOf(const Evaluation& e) {
  const ir::Operation op = DefiningOp(e.tensor(0));
  return op ? AttributeNamed(e, op, e.string(1)) : Attribute();
}
Attribute OpName(const Evaluation& e) {
  const ir::Operation op = DefiningOp(e.tensor(0));
  return op ? e.m.context()->StringAttr(ShortName(op)) : Attribute();
}
Attribute SnakeOpName(const Evaluation& e) {
  const ir::Operation op = DefiningOp(e.tensor(0));
  return op ? e.m.context()->StringAttr(SnakeCase(ShortName(op))) : Attribute();
}
Attribute FloatAttributes(const Evaluation& e) {
  const ir::Operation op = DefiningOp(e.tensor(0));
  if (!op || !op.def()) return {};
  ir::Floats floats;
  for (const ir::FieldDef& field : op.def()->fields) {
    const Attribute value = AttributeNamed(e, op, field.name.str());
    if (value.Is(AttrKind::kFloat)) {
      floats.push_back(value.AsFloat());
    } else if (const Attribute given = op.attr(field.name.str());
               given && !(field.make_default && given == field.make_default(*e.m.context()))) {
      return {};
    }
  }
  return e.m.context()->FloatsAttr(floats);
}

}  // namespace weft::drr::internal
