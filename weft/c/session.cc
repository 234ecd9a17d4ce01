#include <fmt/format.h>

#include "weft/c/guard.h"
#include "weft/c/handles.h"
#include "weft/c/tensors.h"

namespace weft::c {
namespace {

std::vector<weft_value_info> InfosOf(const std::vector<ValueInfo>& values) {
  std::vector<weft_value_info> infos;
  for (const ValueInfo& value : values) {
    weft_value_info info = {};
    info.size = sizeof(info);
    info.name = value.name.c_str();
    info.type = value.type.c_str();
    info.dims = value.dims.data();
    info.rank = value.dims.size();
    info.dtype = static_cast<weft_dtype>(value.dtype);
    info.has_default = value.has_default ? 1 : 0;
    info.is_value = value.is_tensor ? 0 : 1;
    infos.push_back(info);
  }
  return infos;
}

// A string of C ends at a zero: two names may be one there.
absl::Status CheckNames(const std::vector<ValueInfo>& values, std::string_view kind) {
  for (const ValueInfo& value : values)
    if (const size_t zero = value.name.find('\0'); zero != std::string::npos)
      return ir::InvalidArgument(fmt::format("the name of an {} has a zero in it, behind '{}'",
                                             kind, value.name.substr(0, zero)));
  return absl::OkStatus();
}

// Inputs as a session takes them, and what those need to live.
struct Inputs {
  NamedTensors tensors;
  KeptStrings strings;
};

absl::StatusOr<Inputs> ReadInputs(const weft_tensor* given, size_t count) {
  WEFT_ASSIGN_OR_RETURN(const auto read, ReadArray(given, count, "weft_tensor"));
  Inputs inputs;
  for (const weft_tensor& tensor : read) {
    WEFT_RETURN_IF_ERROR(CheckNotNull(tensor.name, "the name of a tensor"));
    WEFT_ASSIGN_OR_RETURN(TensorRef ref,
                          RefOf(tensor, fmt::format("input '{}'", tensor.name), &inputs.strings));
    inputs.tensors.emplace_back(tensor.name, std::move(ref));
  }
  return inputs;
}

absl::StatusOr<NamedTensors> ReadBuffers(const weft_buffer* given, size_t count) {
  WEFT_ASSIGN_OR_RETURN(const auto read, ReadArray(given, count, "weft_buffer"));
  NamedTensors buffers;
  for (const weft_buffer& buffer : read) {
    WEFT_RETURN_IF_ERROR(CheckNotNull(buffer.name, "the name of a tensor"));
    WEFT_ASSIGN_OR_RETURN(Shape dims, CheckedDims(buffer, fmt::format("output '{}'", buffer.name)));
    const auto dtype = static_cast<DataType>(buffer.dtype);
    if (dtype == DataType::kString)
      return ir::Unsupported(
          fmt::format("output '{}' is of strings, which have no place in a buffer", buffer.name));
    buffers.emplace_back(buffer.name, TensorRef(dtype, buffer.data, std::move(dims)));
  }
  return buffers;
}

absl::StatusOr<SessionOptions> SessionOptionsOf(const weft_session_options* given) {
  WEFT_ASSIGN_OR_RETURN(const weft_session_options read, Read(given, "weft_session_options"));
  SessionOptions options;
  options.threads = read.threads;
  options.isa = TextOr(read.isa, options.isa.c_str());
  options.provider = TextOr(read.provider, options.provider.c_str());
  options.pipeline = TextOr(read.pipeline, options.pipeline.c_str());
  options.numerics = TextOr(read.numerics, options.numerics.c_str());
  options.matmul_precision = TextOr(read.matmul_precision, options.matmul_precision.c_str());
  options.oversubscribe = read.oversubscribe != 0;
  if (read.threads_of != nullptr) options.threads_of = &read.threads_of->session;
  if (read.num_bound_outputs > 0)
    WEFT_RETURN_IF_ERROR(CheckNotNull(read.bound_outputs, "bound_outputs"));
  for (size_t i = 0; i < read.num_bound_outputs; ++i) {
    const weft_bound_output& bound = read.bound_outputs[i];
    WEFT_RETURN_IF_ERROR(CheckNotNull(bound.output, "the output of a weft_bound_output"));
    WEFT_RETURN_IF_ERROR(CheckNotNull(bound.input, "the input of a weft_bound_output"));
    options.bound_outputs.push_back({bound.output, bound.input});
  }
  return options;
}

const weft_value_info* At(const std::vector<weft_value_info>& infos, size_t index) {
  return index < infos.size() ? &infos[index] : nullptr;
}

}  // namespace
}  // namespace weft::c

namespace c = weft::c;

extern "C" {

const char* weft_dtype_name(weft_dtype dtype) {
  return c::IsDataType(dtype) ? weft::ir::DataTypeName(static_cast<weft::DataType>(dtype)).data()
                              : nullptr;
}

size_t weft_dtype_size(weft_dtype dtype) {
  return c::IsDataType(dtype) ? c::SizeOf(static_cast<weft::DataType>(dtype)) : 0;
}

weft_code weft_session_create(const weft_model* model, const weft_session_options* options,
                              weft_session** session) {
  return c::Make(session, [&]() -> absl::StatusOr<std::unique_ptr<weft_session>> {
    WEFT_RETURN_IF_ERROR(c::CheckNotNull(model, "the model"));
    WEFT_ASSIGN_OR_RETURN(const weft::SessionOptions read, c::SessionOptionsOf(options));
    WEFT_ASSIGN_OR_RETURN(weft::Session made, weft::Session::Create(model->model, read));
    WEFT_RETURN_IF_ERROR(c::CheckNames(made.inputs(), "input"));
    WEFT_RETURN_IF_ERROR(c::CheckNames(made.outputs(), "output"));
    auto handle = std::make_unique<weft_session>(weft_session{std::move(made), {}, {}});
    handle->inputs = c::InfosOf(handle->session.inputs());
    handle->outputs = c::InfosOf(handle->session.outputs());
    return handle;
  });
}

void weft_session_free(weft_session* session) { delete session; }
size_t weft_session_num_inputs(const weft_session* session) {
  return session == nullptr ? 0 : session->inputs.size();
}
size_t weft_session_num_outputs(const weft_session* session) {
  return session == nullptr ? 0 : session->outputs.size();
}

int32_t weft_session_num_threads(const weft_session* session) {
  return session == nullptr ? 0 : session->session.num_threads();
}
const char* weft_session_isa(const weft_session* session) {
  return session == nullptr ? nullptr : session->session.isa().c_str();
}

const weft_value_info* weft_session_input(const weft_session* session, size_t index) {
  return session == nullptr ? nullptr : c::At(session->inputs, index);
}

const weft_value_info* weft_session_output(const weft_session* session, size_t index) {
  return session == nullptr ? nullptr : c::At(session->outputs, index);
}

weft_code weft_session_run(const weft_session* session, const weft_tensor* inputs,
                           size_t num_inputs, const weft_run_options* options,
                           weft_outputs** outputs) {
  return c::Make(outputs, [&]() -> absl::StatusOr<std::unique_ptr<weft_outputs>> {
    WEFT_RETURN_IF_ERROR(c::CheckNotNull(session, "the session"));
    WEFT_ASSIGN_OR_RETURN(const weft::RunOptions read, c::RunOptionsOf(options));
    WEFT_ASSIGN_OR_RETURN(const c::Inputs given, c::ReadInputs(inputs, num_inputs));
    auto made = std::make_unique<weft_outputs>();
    WEFT_ASSIGN_OR_RETURN(made->owned, session->session.Run(given.tensors, read));
    for (const weft::ValueInfo& output : session->session.outputs()) {
      const auto found = made->owned.find(output.name);
      made->tensors.push_back(c::ViewOf(found->first, found->second, &made->strings));
    }
    return made;
  });
}

weft_code weft_session_run_into(const weft_session* session, const weft_tensor* inputs,
                                size_t num_inputs, const weft_buffer* outputs, size_t num_outputs,
                                const weft_run_options* options) {
  return c::Guarded([&]() -> absl::Status {
    WEFT_RETURN_IF_ERROR(c::CheckNotNull(session, "the session"));
    WEFT_ASSIGN_OR_RETURN(const weft::RunOptions read, c::RunOptionsOf(options));
    WEFT_ASSIGN_OR_RETURN(const c::Inputs given, c::ReadInputs(inputs, num_inputs));
    WEFT_ASSIGN_OR_RETURN(const weft::NamedTensors into, c::ReadBuffers(outputs, num_outputs));
    return session->session.RunInto(given.tensors, into, read);
  });
}

size_t weft_outputs_count(const weft_outputs* outputs) {
  return outputs == nullptr ? 0 : outputs->tensors.size();
}

const weft_tensor* weft_outputs_at(const weft_outputs* outputs, size_t index) {
  return index < weft_outputs_count(outputs) ? &outputs->tensors[index] : nullptr;
}

const weft_tensor* weft_outputs_find(const weft_outputs* outputs, const char* name) {
  if (outputs == nullptr || name == nullptr) return nullptr;
  for (const weft_tensor& tensor : outputs->tensors)
    if (std::strcmp(tensor.name, name) == 0) return &tensor;
  return nullptr;
}

void weft_outputs_free(weft_outputs* outputs) { delete outputs; }

}  // extern "C"
