#include "weft/c/rule_text.h"

#include <deque>
#include <string_view>

#include "ir/analysis/constant.h"
#include "ir/text/printer.h"

namespace weft::c {
namespace {

// The arguments of one call, and what they point at. A handle of a context that other threads use too
// is not asked for more than it holds.
class Arguments {
 public:
  explicit Arguments(std::span<const drr::NativeArgument> given) {
    for (const drr::NativeArgument& argument : given) top_.push_back(Add(argument));
  }
  const weft_argument* const* data() const { return top_.data(); }
  size_t size() const { return top_.size(); }

 private:
  weft_argument* New(weft_argument_kind kind) {
    weft_argument& made = arguments_.emplace_back();
    made.size = sizeof(made);
    made.kind = kind;
    return &made;
  }
  const char* Keep(std::string text) { return texts_.emplace_back(std::move(text)).c_str(); }

  const weft_argument* Add(const drr::NativeArgument& given) {
    switch (given.kind) {
      case drr::NativeArgument::kAbsent:
        break;
      case drr::NativeArgument::kValue:
        return AddValue(given.value);
      case drr::NativeArgument::kList: {
        weft_argument* const list = New(WEFT_ARGUMENT_LIST);
        auto& elements = elements_.emplace_back();
        for (const ir::Value value : given.list) elements.push_back(AddValue(value));
        list->elements = elements.data();
        list->count = elements.size();
        return list;
      }
      case drr::NativeArgument::kAttribute:
        return AddAttribute(given.attribute);
    }
    return New(WEFT_ARGUMENT_ABSENT);
  }

  const weft_argument* AddValue(ir::Value value) {
    if (!value) return New(WEFT_ARGUMENT_ABSENT);
    weft_argument* const made = New(WEFT_ARGUMENT_VALUE);
    SetType(value.type(), made);
    if (const ir::Attribute contents = ir::Contents(value)) SetContents(contents, made);
    return made;
  }

  void SetType(ir::Type type, weft_argument* made) {
    made->type = Keep(type.ToString());
    if (!type.IsTensor()) return;
    made->dtype = static_cast<weft_dtype>(type.dtype());
    made->has_rank = type.HasRank() ? 1 : 0;
    if (!type.HasRank()) return;
    std::vector<int64_t>& dims = integers_.emplace_back();
    std::vector<const char*>& symbols = symbols_.emplace_back();
    for (const int64_t dim : type.dims()) {
      dims.push_back(ir::IsStaticDim(dim) ? dim : ir::kUnknownDim);
      symbols.push_back(ir::IsSymbolicDim(dim) ? Keep(std::string(ir::SymbolName(dim))) : nullptr);
    }
    made->rank = dims.size();
    made->dims = dims.data();
    made->symbols = symbols.data();
  }

  void SetContents(ir::Attribute contents, weft_argument* made) {
    if (contents.dense_type().dtype() != ir::DataType::kString) {
      made->data = AlignedBytes(contents);
      made->num_bytes = contents.num_bytes();
      return;
    }
    const auto& strings = AddStrings(contents.dense_strings());
    made->data = strings.data();
    made->num_bytes = strings.size() * sizeof(weft_string);
  }

  // Where they lie, or a copy: in a file they may start at any address.
  const std::byte* AlignedBytes(ir::Attribute contents) {
    constexpr size_t kLargestElement = 16;
    const std::byte* const data = contents.bytes().data();
    if (reinterpret_cast<uintptr_t>(data) % kLargestElement == 0) return data;
    std::vector<std::byte>& copy = bytes_.emplace_back(contents.num_bytes());
    contents.Read(0, copy);
    return copy.data();
  }

  const std::vector<weft_string>& AddStrings(const ir::Strings& given) {
    std::vector<weft_string>& strings = strings_.emplace_back();
    for (const std::string& text : given) {
      const char* const kept = Keep(text);
      strings.push_back({kept, text.size()});
    }
    return strings;
  }

  const weft_argument* Integers(weft_argument_kind kind, std::vector<int64_t> values) {
    weft_argument* const made = New(kind);
    made->integers = integers_.emplace_back(std::move(values)).data();
    made->count = integers_.back().size();
    return made;
  }
  const weft_argument* Numbers(weft_argument_kind kind, std::vector<double> values) {
    weft_argument* const made = New(kind);
    made->numbers = numbers_.emplace_back(std::move(values)).data();
    made->count = numbers_.back().size();
    return made;
  }
  const weft_argument* Strings(weft_argument_kind kind, const ir::Strings& values) {
    weft_argument* const made = New(kind);
    made->strings = AddStrings(values).data();
    made->count = values.size();
    return made;
  }

  const weft_argument* AddAttribute(ir::Attribute given) {
    switch (given.kind()) {
      case ir::AttrKind::kBool:
        return Integers(WEFT_ARGUMENT_BOOL, {given.AsBool() ? 1 : 0});
      case ir::AttrKind::kInt:
        return Integers(WEFT_ARGUMENT_INT, {given.AsInt()});
      case ir::AttrKind::kFloat:
      case ir::AttrKind::kDouble:
        return Numbers(WEFT_ARGUMENT_FLOAT, {given.AsDouble()});
      case ir::AttrKind::kString:
        return Strings(WEFT_ARGUMENT_STRING, {given.AsString()});
      case ir::AttrKind::kInts:
        return Integers(WEFT_ARGUMENT_INTS, given.AsInts());
      case ir::AttrKind::kFloats:
        return Numbers(WEFT_ARGUMENT_FLOATS, {given.AsFloats().begin(), given.AsFloats().end()});
      case ir::AttrKind::kStrings:
        return Strings(WEFT_ARGUMENT_STRINGS, given.AsStrings());
      case ir::AttrKind::kDataType: {
        weft_argument* const made = New(WEFT_ARGUMENT_DTYPE);
        made->dtype = static_cast<weft_dtype>(given.AsDataType());
        return made;
      }
      case ir::AttrKind::kDense: {
        weft_argument* const made = New(WEFT_ARGUMENT_TENSOR);
        SetType(given.dense_type(), made);
        if (!given.IsElided()) SetContents(given, made);
        return made;
      }
      case ir::AttrKind::kUnit:
      case ir::AttrKind::kType:
      case ir::AttrKind::kVerbatim:
        break;
    }
    weft_argument* const made = New(WEFT_ARGUMENT_OTHER);
    made->type = Keep(ir::PrintAttribute(given));
    return made;
  }

  // What is pointed at stays where it is.
  std::deque<weft_argument> arguments_;
  std::deque<std::string> texts_;
  std::deque<std::vector<std::byte>> bytes_;
  std::deque<std::vector<int64_t>> integers_;
  std::deque<std::vector<double>> numbers_;
  std::deque<std::vector<const char*>> symbols_;
  std::deque<std::vector<weft_string>> strings_;
  std::deque<std::vector<const weft_argument*>> elements_;
  std::vector<const weft_argument*> top_;
};

absl::StatusOr<drr::NativeFunction> FunctionOf(const weft_function& given, const Ended& ended) {
  WEFT_RETURN_IF_ERROR(CheckNotNull(given.name, "the name of a function"));
  if (given.holds == nullptr)
    return ir::InvalidArgument(std::string("the function '") + given.name + "' is NULL");
  return drr::NativeFunction{given.name, [given, ended](std::span<const drr::NativeArgument> with) {
                               if (*ended) return false;
                               const Arguments arguments(with);
                               const int answer =
                                   given.holds(given.user_data, arguments.data(), arguments.size());
                               if (answer < 0) *ended = true;
                               return answer > 0;
                             }};
}

}  // namespace

absl::StatusOr<std::vector<RuleText>> RuleTextsOf(const weft_rule_text* rules, size_t count,
                                                  const Ended& ended) {
  WEFT_ASSIGN_OR_RETURN(const auto given, ReadArray(rules, count, "weft_rule_text"));
  std::vector<RuleText> texts;
  for (const weft_rule_text& read : given) {
    WEFT_RETURN_IF_ERROR(CheckNotNull(read.text, "the text of rules"));
    RuleText& text = texts.emplace_back();
    text.text = read.text;
    text.origin = TextOr(read.origin, text.origin.c_str());
    if (read.num_functions > 0) WEFT_RETURN_IF_ERROR(CheckNotNull(read.functions, "functions"));
    for (size_t i = 0; i < read.num_functions; ++i) {
      WEFT_ASSIGN_OR_RETURN(drr::NativeFunction function, FunctionOf(read.functions[i], ended));
      text.functions.push_back(std::move(function));
    }
  }
  return texts;
}

std::function<bool()> StopOrEnded(int (*stop)(void*), void* user_data, const Ended& ended) {
  return [asked = StopOf(stop, user_data), ended] { return *ended || (asked && asked()); };
}

}  // namespace weft::c
