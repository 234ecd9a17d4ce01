#include "kernels/kernel_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <utility>

#include "ir/base/suggest.h"
#include "ir/context.h"
#include "ir/text/printer.h"
#include "kernels/isa.h"

namespace weft::kernels {
namespace {

constexpr std::string_view kFirstLine = "weft kernel choices 1";
constexpr std::string_view kMachine = "machine: ";
constexpr std::string_view kSessionIsa = "-";

absl::Status Bad(size_t line, std::string_view why) {
  return ir::InvalidArgument(fmt::format("line {}: {}", line, why));
}

// The next line of `text`, which is shortened by it.
std::string_view TakeLine(std::string_view* text) {
  const size_t end = std::min(text->find('\n'), text->size());
  std::string_view line = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// What follows the last space, by which `text` is shortened.
std::string_view TakeLastWord(std::string_view* text) {
  const size_t space = text->rfind(' ');
  const std::string_view word = text->substr(space == std::string_view::npos ? 0 : space + 1);
  text->remove_suffix(text->size() - (space == std::string_view::npos ? 0 : space));
  return word;
}

bool IsNameOfIsa(std::string_view name) {
  for (const Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512, Isa::kAmx})
    if (IsaName(isa) == name) return true;
  return false;
}

// KEY: PROVIDER ISA SPEEDUP. Why it is no such line, or nothing.
std::string ParseChoice(std::string_view line, std::string* key, MeasuredChoice* choice) {
  const std::string_view speedup = TakeLastWord(&line), isa = TakeLastWord(&line),
                         provider = TakeLastWord(&line);
  const auto [end, error] =
      std::from_chars(speedup.data(), speedup.data() + speedup.size(), choice->speedup);
  if (error != std::errc() || end != speedup.data() + speedup.size() ||
      !std::isfinite(choice->speedup) || choice->speedup <= 0)
    return fmt::format("'{}' is no speed", speedup);
  if (isa != kSessionIsa && !IsNameOfIsa(isa))
    return fmt::format("'{}' is no instruction set", isa);
  if (!line.ends_with(':') || provider.empty())
    return "expected OP: PROVIDER INSTRUCTION-SET SPEEDUP";
  line.remove_suffix(1);
  *key = line;
  choice->choice = {std::string(provider), isa == kSessionIsa ? "" : std::string(isa)};
  return "";
}

std::string TypeInKey(ir::Type type) {
  return type.IsTensor() ? std::string(ir::DataTypeName(type.dtype())) + ir::ToString(type.dims())
                         : type.ToString();
}

}  // namespace

KernelChoices KernelChoices::Everywhere(KernelChoice choice) {
  KernelChoices choices("");
  choices.everywhere_ = std::move(choice);
  return choices;
}

absl::StatusOr<KernelChoices> KernelChoices::Parse(std::string_view text, size_t first_line,
                                                   std::span<const std::string> providers) {
  size_t number = first_line;
  if (TakeLine(&text) != kFirstLine) return Bad(number, fmt::format("expected '{}'", kFirstLine));
  const std::string_view machine = TakeLine(&text);
  ++number;
  if (!machine.starts_with(kMachine)) return Bad(number, fmt::format("expected '{}'", kMachine));
  KernelChoices choices(std::string(machine.substr(kMachine.size())));
  while (!text.empty()) {
    const std::string_view line = TakeLine(&text);
    ++number;
    if (line.empty()) continue;
    std::string key;
    MeasuredChoice choice;
    if (const std::string why = ParseChoice(line, &key, &choice); !why.empty())
      return Bad(number, why);
    if (!providers.empty())
      if (const auto known = ir::CheckName("provider", choice.choice.provider, providers);
          !known.ok())
        return Bad(number, ir::Message(known));
    choices.Set(std::move(key), std::move(choice));
  }
  return choices;
}

std::string KernelChoices::ToText() const {
  std::string text = fmt::format("{}\n{}{}\n", kFirstLine, kMachine, machine_);
  for (const auto& [key, measured] : by_key_)
    text += fmt::format("{}: {} {} {:.2f}\n", key, measured.choice.provider,
                        measured.choice.isa.empty() ? kSessionIsa : measured.choice.isa,
                        measured.speedup);
  return text;
}

const KernelChoice* KernelChoices::Find(const KernelContext& context) const {
  if (everywhere_) return &*everywhere_;
  return by_key_.empty() ? nullptr : Find(KernelKey(context));
}

const KernelChoice* KernelChoices::Find(std::string_view key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &found->second.choice;
}

std::string KernelKey(const KernelContext& context) {
  const ir::Operation op = context.op();
  if (op.num_regions() > 0) return "";
  std::string key(op.name());
  std::string attrs;
  for (const ir::NamedAttribute& attr : op.attrs())
    attrs += fmt::format("{}{}:{}", attrs.empty() ? "" : ",", attr.name.str(),
                         ir::PrintAttribute(attr.value));
  key += fmt::format(" {{{}}} (", attrs);
  for (size_t i = 0; i < context.num_inputs(); ++i) {
    if (i > 0) key += ", ";
    if (!context.HasInput(i)) {
      key += "-";
      continue;
    }
    if (context.constant(i)) key += "const ";
    key += TypeInKey(context.input_type(i));
  }
  key += ") ->";
  for (size_t i = 0; i < context.num_results(); ++i)
    key += (i > 0 ? ", " : " ") + TypeInKey(context.result_type(i));
  return key;
}

std::string MachineName(int threads) {
  std::string cpu = "unknown CPU";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with("model name")) continue;
    cpu = line.substr(std::min(line.find_first_not_of(' ', colon + 1), line.size()));
    break;
  }
  return fmt::format("{}; {}; {} thread{}", cpu, IsaName(CurrentIsa()), threads,
                     threads == 1 ? "" : "s");
}

}  // namespace weft::kernels
