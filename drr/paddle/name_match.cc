// Names that are nearly right, attributes that convert, and what functions of a rule in the string
// spelling see of a match.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "drr/paddle/recorder.h"

namespace weft::drr::string_spelling {

using ir::AttrKind;

// --- what lambdas see -------------------------------------------------------------

std::vector<int64_t> MatchedTensor::Shape() const {
  std::vector<int64_t> dims;
  if (tensor_.has_rank())
    for (int64_t d : tensor_.shape()) dims.push_back(std::max(d, ir::kUnknownDim));
  return dims;
}

void MatchContext::Problem(std::string what) const {
  if (problem_.empty()) problem_ = std::move(what);
}

void MatchContext::IsNo(std::string_view name, std::string_view kind) const {
  Problem(fmt::format("attribute '{}' is no {}", name, kind));
}

ir::Attribute MatchContext::Find(std::string_view name) const {
  const PatternGraph& graph = match_.rule().graph;
  std::vector<std::string_view> names;
  for (AttrId id : graph.attrs.ids()) {
    if (graph.attrs[id].name == name) return match_.attr(id);
    names.push_back(graph.attrs[id].name);
  }
  Problem(fmt::format("no source op binds attribute '{}'{}", name, ir::DidYouMean(name, names)));
  return {};
}

bool MatchContext::Bool(std::string_view name) const {
  const ir::Attribute a = ConvertAttr(*match_.context(), Find(name), AttrKind::kBool);
  if (!a) IsNo(name, "bool");
  return a && a.AsBool();
}

int64_t MatchContext::Integer(std::string_view name) const {
  const ir::Attribute found = Find(name);
  if (found && (found.Is(AttrKind::kFloat) || found.Is(AttrKind::kDouble))) {
    // pd.full keeps its value as a float, whatever its dtype.
    const double real = found.AsDouble();
    if (std::abs(real) < 9e15 && real == std::floor(real)) return static_cast<int64_t>(real);
  }
  const ir::Attribute a = ConvertAttr(*match_.context(), found, AttrKind::kInt);
  if (!a) IsNo(name, "integer");
  return a ? a.AsInt() : 0;
}

double MatchContext::Real(std::string_view name) const {
  const ir::Attribute a = ConvertAttr(*match_.context(), Find(name), AttrKind::kDouble);
  if (!a) IsNo(name, "number");
  return a ? a.AsDouble() : 0;
}

Ints MatchContext::Integers(std::string_view name) const {
  const ir::Attribute a = Find(name);
  if (a.Is(AttrKind::kInts)) return a.AsInts();
  IsNo(name, "list of integers");
  return {};
}

Floats MatchContext::Reals(std::string_view name) const {
  const ir::Attribute a = ConvertAttr(*match_.context(), Find(name), AttrKind::kFloats);
  if (a) return a.AsFloats();
  IsNo(name, "list of numbers");
  return {};
}

std::string MatchContext::String(std::string_view name) const {
  const ir::Attribute a = Find(name);
  if (a.Is(AttrKind::kString) || a.Is(AttrKind::kVerbatim)) return a.AsString();
  if (a.Is(AttrKind::kDataType)) return std::string(ir::DataTypeName(a.AsDataType()));
  IsNo(name, "string");
  return {};
}

ir::DataType MatchContext::Dtype(std::string_view name) const {
  const ir::Attribute a = ConvertAttr(*match_.context(), Find(name), AttrKind::kDataType);
  if (a) return a.AsDataType();
  IsNo(name, "data type");
  return ir::DataType::kNull;
}

MatchedTensor MatchContext::Tensor(std::string_view name) const {
  const PatternGraph& graph = match_.rule().graph;
  std::vector<std::string_view> names;
  for (ValueId id : graph.values.ids()) {
    if (graph.values[id].name == name && !name.empty()) {
      const BoundTensor tensor(match_.value(id));
      if (!tensor.has_rank()) Problem(fmt::format("the shape of '{}' is not known", name));
      return MatchedTensor(tensor);
    }
    names.push_back(graph.values[id].name);
  }
  Problem(
      fmt::format("the source pattern has no tensor '{}'{}", name, ir::DidYouMean(name, names)));
  return MatchedTensor(BoundTensor(ir::Value()));
}

}  // namespace weft::drr::string_spelling
