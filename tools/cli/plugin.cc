#include "tools/cli/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <set>

#include "ir/base/registration.h"
#include "ir/context.h"
#include "ir/dialects/op_registry.h"
#include "kernels/runtime/registry.h"
#include "passes/pass_registry.h"
#include "passes/rule_registry.h"
#include "tools/cli/plugin_version.h"
#include "weft/io/dialects.h"
#include "weft/version.h"

namespace weft::tools {
namespace {

std::set<std::string_view> RuleNamesNow() {
  std::set<std::string_view> names;
  for (const passes::RegisteredRule& rule : passes::RegisteredRules()) names.insert(rule.name);
  return names;
}

size_t NumRegistered() {
  return passes::RegisteredRules().size() + passes::RegisteredPasses().size() +
         kernels::RegisteredKernels().size() + ir::NumRegisteredOpSets();
}

// dlopen() looks for a name without a folder elsewhere.
std::string WithFolder(const std::string& path) {
  return path.find('/') == std::string::npos ? "./" + path : path;
}

// dlerror() begins with the path, as we do.
std::string LoaderMessage(const std::string& path) {
  const char* message = dlerror();
  std::string text = message ? message : "could not be loaded";
  const std::string prefix = WithFolder(path) + ": ";
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

// The first mistake of the rules that `known` does not have.
absl::Status BuildNewRules(const std::set<std::string_view>& known) {
  for (const passes::RegisteredRule& rule : passes::RegisteredRules()) {
    if (known.contains(rule.name)) continue;
    ir::IrContext context;
    LoadAllDialects(context);
    const drr::BuildResult built = rule.build(&context);
    if (!built.ok())
      return ir::InvalidArgument(built.errors.empty() ? std::string(rule.name) + " does not build"
                                                      : built.errors.front());
  }
  return absl::OkStatus();
}

absl::Status Load(const std::string& path) {
  WEFT_ASSIGN_OR_RETURN(const std::string version, ReadPluginVersion(path));
  if (version != WEFT_VERSION_STRING)
    return ir::InvalidArgument(fmt::format("{}: built for Weft {}, but this is Weft {}", path,
                                           version, WEFT_VERSION_STRING));
  const std::string whole = WithFolder(path);
  if (dlopen(whole.c_str(), RTLD_NOW | RTLD_NOLOAD) != nullptr) return absl::OkStatus();
  const std::set<std::string_view> rules = RuleNamesNow();
  const size_t registered = NumRegistered();
  const ir::RegistrationErrors errors;
  // Global, as if all were linked: what one plugin defines inline is the same in the next.
  if (dlopen(whole.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE) == nullptr)
    return ir::InvalidArgument(path + ": " + LoaderMessage(path));
  if (errors.first().empty()) {
    ir::IrContext context;
    LoadAllDialects(context);
  }
  if (!errors.first().empty()) return ir::InvalidArgument(path + ": " + errors.first());
  if (NumRegistered() == registered)
    return ir::InvalidArgument(path + ": registers no rule, pass, operator or kernel");
  const absl::Status built = BuildNewRules(rules);
  if (!built.ok()) return ir::InvalidArgument(path + ": " + std::string(ir::Message(built)));
  return absl::OkStatus();
}

}  // namespace

void AddPluginFlag(CLI::App& app, std::vector<std::string>* files, const std::string& description) {
  app.add_option("--load", *files, description)->type_name("FILE.so")->allow_extra_args(false);
}

absl::Status LoadPlugins(const std::vector<std::string>& files) {
  for (const std::string& file : files) WEFT_RETURN_IF_ERROR(Load(file));
  return absl::OkStatus();
}

}  // namespace weft::tools
