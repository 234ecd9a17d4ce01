#include <fmt/format.h>

#include "weft/c/guard.h"
#include "weft/c/handles.h"
#include "weft/c/rule_text.h"

namespace weft::c {
namespace {

absl::StatusOr<LoadOptions> LoadOptionsOf(const weft_load_options* given) {
  WEFT_ASSIGN_OR_RETURN(const weft_load_options read, Read(given, "weft_load_options"));
  LoadOptions options;
  options.fold_default_inputs = read.fold_default_inputs != 0;
  options.allow_hard_links = read.allow_hard_links != 0;
  options.notices = NoticesOf(read.notice, read.user_data);
  return options;
}

absl::StatusOr<SaveOptions> SaveOptionsOf(const weft_save_options* given) {
  WEFT_ASSIGN_OR_RETURN(const weft_save_options read, Read(given, "weft_save_options"));
  return SaveOptions{.full_weights = read.full_weights != 0,
                     .inline_functions = read.inline_functions != 0,
                     .target_opset = read.target_opset};
}

absl::StatusOr<std::vector<std::string>> Names(const char* const* names, size_t count,
                                               const char* what) {
  std::vector<std::string> copies;
  if (count > 0) WEFT_RETURN_IF_ERROR(CheckNotNull(names, what));
  for (size_t i = 0; i < count; ++i) {
    WEFT_RETURN_IF_ERROR(CheckNotNull(names[i], what));
    copies.emplace_back(names[i]);
  }
  return copies;
}

absl::Status ReadSizes(const weft_optimize_options& read, OptimizeOptions* options) {
  if (read.num_dims > 0) WEFT_RETURN_IF_ERROR(CheckNotNull(read.dims, "dims"));
  for (size_t i = 0; i < read.num_dims; ++i) {
    WEFT_RETURN_IF_ERROR(CheckNotNull(read.dims[i].name, "the name of a dimension"));
    if (!options->dims.emplace(read.dims[i].name, read.dims[i].value).second)
      return ir::InvalidArgument(fmt::format("dimension '{}' is given twice", read.dims[i].name));
  }
  if (read.num_input_shapes > 0)
    WEFT_RETURN_IF_ERROR(CheckNotNull(read.input_shapes, "input_shapes"));
  for (size_t i = 0; i < read.num_input_shapes; ++i) {
    const weft_input_shape& shape = read.input_shapes[i];
    WEFT_RETURN_IF_ERROR(CheckNotNull(shape.input, "the name of an input"));
    if (shape.rank > 0) WEFT_RETURN_IF_ERROR(CheckNotNull(shape.dims, "the shape of an input"));
    if (!options->input_shapes.emplace(shape.input, Shape(shape.dims, shape.dims + shape.rank))
             .second)
      return ir::InvalidArgument(
          fmt::format("the shape of input '{}' is given twice", shape.input));
  }
  return absl::OkStatus();
}

void ReadCallbacks(const weft_optimize_options& read, OptimizeOptions* options) {
  options->notices = NoticesOf(read.notice, read.user_data);
  if (read.progress == nullptr) return;
  options->progress = [call = read.progress, data = read.user_data](const Progress& progress) {
    weft_progress given = {};
    given.size = sizeof(given);
    given.pass = progress.pass.c_str();
    given.number = progress.number;
    given.count = progress.count;
    given.operations = progress.operations;
    call(data, &given);
  };
}

absl::StatusOr<OptimizeOptions> OptimizeOptionsOf(const weft_optimize_options* given) {
  WEFT_ASSIGN_OR_RETURN(const weft_optimize_options read, Read(given, "weft_optimize_options"));
  OptimizeOptions options;
  options.pipeline = TextOr(read.pipeline, options.pipeline.c_str());
  options.numerics = TextOr(read.numerics, options.numerics.c_str());
  WEFT_ASSIGN_OR_RETURN(options.passes, Names(read.passes, read.num_passes, "passes"));
  WEFT_ASSIGN_OR_RETURN(options.rules_files,
                        Names(read.rules_files, read.num_rules_files, "rules_files"));
  WEFT_ASSIGN_OR_RETURN(options.enabled_rules,
                        Names(read.enabled_rules, read.num_enabled_rules, "enabled_rules"));
  WEFT_ASSIGN_OR_RETURN(options.disabled_rules,
                        Names(read.disabled_rules, read.num_disabled_rules, "disabled_rules"));
  WEFT_RETURN_IF_ERROR(ReadSizes(read, &options));
  if (read.check_tolerance != nullptr) options.check_tolerance = *read.check_tolerance;
  options.target_opset = read.target_opset;
  options.check = read.check;
  options.trust_rules = read.trust_rules != 0;
  options.record_rewrites = read.record_rewrites != 0;
  options.picture = read.picture != 0;
  ReadCallbacks(read, &options);
  const Ended ended = NotEnded();
  WEFT_ASSIGN_OR_RETURN(options.rules, RuleTextsOf(read.rules, read.num_rules, ended));
  options.stop = StopOrEnded(read.stop, read.user_data, ended);
  return options;
}

// A handle of the model that load(LoadOptions) gives.
template <class Load>
weft_code MakeModel(const weft_load_options* options, weft_model** model,
                    const Load& load) noexcept {
  return Make(model, [&]() -> absl::StatusOr<std::unique_ptr<weft_model>> {
    WEFT_ASSIGN_OR_RETURN(const LoadOptions read, LoadOptionsOf(options));
    WEFT_ASSIGN_OR_RETURN(Model loaded, load(read));
    return std::make_unique<weft_model>(weft_model{std::move(loaded)});
  });
}

}  // namespace
}  // namespace weft::c

namespace c = weft::c;

extern "C" {

weft_code weft_model_load(const char* path, const weft_load_options* options, weft_model** model) {
  return c::MakeModel(options, model,
                      [&](const weft::LoadOptions& read) -> absl::StatusOr<weft::Model> {
                        WEFT_RETURN_IF_ERROR(c::CheckNotNull(path, "the path"));
                        return weft::Model::Load(path, read);
                      });
}

weft_code weft_model_from_bytes(const void* bytes, size_t num_bytes,
                                const weft_load_options* options, weft_model** model) {
  return c::MakeModel(
      options, model, [&](const weft::LoadOptions& read) -> absl::StatusOr<weft::Model> {
        if (num_bytes > 0) WEFT_RETURN_IF_ERROR(c::CheckNotNull(bytes, "bytes"));
        return weft::Model::FromBytes({static_cast<const std::byte*>(bytes), num_bytes}, read);
      });
}

weft_code weft_model_from_text(const char* text, const weft_load_options* options,
                               weft_model** model) {
  return c::MakeModel(options, model,
                      [&](const weft::LoadOptions& read) -> absl::StatusOr<weft::Model> {
                        WEFT_RETURN_IF_ERROR(c::CheckNotNull(text, "the text"));
                        return weft::Model::FromText(text, read);
                      });
}

weft_code weft_model_clone(const weft_model* model, weft_model** clone) {
  return c::Make(clone, [&]() -> absl::StatusOr<std::unique_ptr<weft_model>> {
    WEFT_RETURN_IF_ERROR(c::CheckNotNull(model, "the model"));
    return std::make_unique<weft_model>(weft_model{model->model.Clone()});
  });
}

void weft_model_free(weft_model* model) { delete model; }

weft_code weft_model_num_operations(const weft_model* model, size_t* num_operations) {
  return c::Guarded([&]() -> absl::Status {
    WEFT_RETURN_IF_ERROR(c::CheckNotNull(model, "the model"));
    WEFT_RETURN_IF_ERROR(c::CheckNotNull(num_operations, "where the result goes"));
    *num_operations = model->model.num_operations();
    return absl::OkStatus();
  });
}

weft_code weft_model_save(const weft_model* model, const char* path,
                          const weft_save_options* options) {
  return c::Guarded([&]() -> absl::Status {
    WEFT_RETURN_IF_ERROR(c::CheckNotNull(model, "the model"));
    WEFT_RETURN_IF_ERROR(c::CheckNotNull(path, "the path"));
    WEFT_ASSIGN_OR_RETURN(const weft::SaveOptions read, c::SaveOptionsOf(options));
    return model->model.Save(path, read);
  });
}

weft_code weft_model_to_bytes(const weft_model* model, const weft_save_options* options,
                              weft_bytes** bytes) {
  return c::Make(bytes, [&]() -> absl::StatusOr<std::unique_ptr<weft_bytes>> {
    WEFT_RETURN_IF_ERROR(c::CheckNotNull(model, "the model"));
    WEFT_ASSIGN_OR_RETURN(const weft::SaveOptions read, c::SaveOptionsOf(options));
    WEFT_ASSIGN_OR_RETURN(std::string written, model->model.ToBytes(read));
    return std::make_unique<weft_bytes>(weft_bytes{std::move(written)});
  });
}

weft_code weft_model_to_text(const weft_model* model, weft_bytes** text) {
  return c::Make(text, [&]() -> absl::StatusOr<std::unique_ptr<weft_bytes>> {
    WEFT_RETURN_IF_ERROR(c::CheckNotNull(model, "the model"));
    return std::make_unique<weft_bytes>(weft_bytes{model->model.ToText()});
  });
}

const char* weft_bytes_data(const weft_bytes* bytes) {
  return bytes == nullptr ? nullptr : bytes->bytes.c_str();
}
size_t weft_bytes_size(const weft_bytes* bytes) {
  return bytes == nullptr ? 0 : bytes->bytes.size();
}
void weft_bytes_free(weft_bytes* bytes) { delete bytes; }

weft_code weft_model_optimize(weft_model* model, const weft_optimize_options* options,
                              weft_report** report) {
  return c::Guarded([&]() -> absl::Status {
    if (report != nullptr) *report = nullptr;
    WEFT_RETURN_IF_ERROR(c::CheckNotNull(model, "the model"));
    WEFT_ASSIGN_OR_RETURN(const weft::OptimizeOptions read, c::OptimizeOptionsOf(options));
    auto handle = report == nullptr ? nullptr : std::make_unique<weft_report>();
    WEFT_ASSIGN_OR_RETURN(weft::Report made, model->model.Optimize(read));
    // From here on nothing may fail.
    if (report == nullptr) return absl::OkStatus();
    handle->report = std::move(made);
    *report = handle.release();
    return absl::OkStatus();
  });
}

weft_code weft_model_explain(const weft_model* model, const char* what,
                             const weft_optimize_options* options, weft_bytes** text) {
  return c::Make(text, [&]() -> absl::StatusOr<std::unique_ptr<weft_bytes>> {
    WEFT_RETURN_IF_ERROR(c::CheckNotNull(model, "the model"));
    WEFT_RETURN_IF_ERROR(c::CheckNotNull(what, "the rule"));
    WEFT_ASSIGN_OR_RETURN(const weft::OptimizeOptions read, c::OptimizeOptionsOf(options));
    WEFT_ASSIGN_OR_RETURN(std::string answer, model->model.Explain(what, read));
    return std::make_unique<weft_bytes>(weft_bytes{std::move(answer)});
  });
}

}  // extern "C"
