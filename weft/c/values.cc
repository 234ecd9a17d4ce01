#include <fmt/format.h>

#include "weft/c/guard.h"
#include "weft/c/handles.h"
#include "weft/c/tensors.h"

namespace weft::c {
namespace {

struct Inputs {
  NamedValues values;
  KeptStrings strings;
};

absl::StatusOr<ValueRef> ReadValue(const weft_value& value, KeptStrings* strings) {
  const std::string subject = fmt::format("input '{}'", value.name);
  if (value.kind == WEFT_NOTHING) return ValueRef(Nothing());
  if (value.kind != WEFT_TENSOR && value.kind != WEFT_SEQUENCE)
    return ir::InvalidArgument(fmt::format("{} has kind {}, which is none", subject, value.kind));
  if (value.kind == WEFT_TENSOR && value.num_tensors != 1)
    return ir::InvalidArgument(
        fmt::format("{} is a tensor, but num_tensors is {}", subject, value.num_tensors));
  WEFT_ASSIGN_OR_RETURN(const auto read,
                        ReadArray(value.tensors, value.num_tensors, "weft_tensor"));
  std::vector<TensorRef> tensors;
  for (const weft_tensor& tensor : read) {
    const std::string element = value.kind == WEFT_TENSOR
                                    ? subject
                                    : fmt::format("{}, element {},", subject, tensors.size());
    WEFT_ASSIGN_OR_RETURN(TensorRef ref, RefOf(tensor, element, strings));
    tensors.push_back(std::move(ref));
  }
  if (value.kind == WEFT_TENSOR) return ValueRef(std::move(tensors[0]));
  return ValueRef(std::move(tensors));
}

absl::StatusOr<Inputs> ReadValues(const weft_value* given, size_t count) {
  WEFT_ASSIGN_OR_RETURN(const auto read, ReadArray(given, count, "weft_value"));
  Inputs inputs;
  for (const weft_value& value : read) {
    WEFT_RETURN_IF_ERROR(CheckNotNull(value.name, "the name of a value"));
    WEFT_ASSIGN_OR_RETURN(ValueRef ref, ReadValue(value, &inputs.strings));
    inputs.values.emplace_back(value.name, std::move(ref));
  }
  return inputs;
}

// Of values that `values` owns.
void AddView(const std::string& name, const Value& value, weft_values* values) {
  std::vector<weft_tensor>& tensors = values->tensors.emplace_back();
  weft_value view = {};
  view.size = sizeof(view);
  view.name = name.c_str();
  if (const auto* tensor = std::get_if<Tensor>(&value)) {
    view.kind = WEFT_TENSOR;
    tensors.push_back(ViewOf(name, *tensor, &values->strings));
  } else if (const auto* sequence = std::get_if<std::vector<Tensor>>(&value)) {
    view.kind = WEFT_SEQUENCE;
    for (const Tensor& element : *sequence)
      tensors.push_back(ViewOf(name, element, &values->strings));
  }
  view.tensors = tensors.data();
  view.num_tensors = tensors.size();
  values->values.push_back(view);
}

}  // namespace
}  // namespace weft::c

namespace c = weft::c;

extern "C" {

weft_code weft_session_run_values(const weft_session* session, const weft_value* inputs,
                                  size_t num_inputs, const weft_run_options* options,
                                  weft_values** outputs) {
  return c::Make(outputs, [&]() -> absl::StatusOr<std::unique_ptr<weft_values>> {
    WEFT_RETURN_IF_ERROR(c::CheckNotNull(session, "the session"));
    WEFT_ASSIGN_OR_RETURN(const weft::RunOptions read, c::RunOptionsOf(options));
    WEFT_ASSIGN_OR_RETURN(const c::Inputs given, c::ReadValues(inputs, num_inputs));
    auto made = std::make_unique<weft_values>();
    WEFT_ASSIGN_OR_RETURN(made->owned, session->session.RunValues(given.values, read));
    for (const weft::ValueInfo& output : session->session.outputs()) {
      const auto found = made->owned.find(output.name);
      c::AddView(found->first, found->second, made.get());
    }
    return made;
  });
}

size_t weft_values_count(const weft_values* values) {
  return values == nullptr ? 0 : values->values.size();
}

const weft_value* weft_values_at(const weft_values* values, size_t index) {
  return index < weft_values_count(values) ? &values->values[index] : nullptr;
}

const weft_value* weft_values_find(const weft_values* values, const char* name) {
  if (values == nullptr || name == nullptr) return nullptr;
  for (const weft_value& value : values->values)
    if (std::strcmp(value.name, name) == 0) return &value;
  return nullptr;
}

void weft_values_free(weft_values* values) { delete values; }

}  // extern "C"
