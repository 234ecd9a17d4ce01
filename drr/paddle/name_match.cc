// Names that are nearly right, attributes that convert, and what functions of a rule in the string
// spelling see of a match.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "drr/paddle/recorder.h"

namespace weft::drr::string_spelling {

using ir::AttrKind;

namespace {

// Levenshtein distance.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replace = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string Suggest(std::string_view name, const std::vector<std::string_view>& candidates) {
  std::string_view best;
  size_t best_distance = std::max<size_t>(2, name.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    const size_t distance = Distance(name, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best.empty() ? std::string() : fmt::format("; did you mean '{}'?", best);
}

ir::Attribute Convert(ir::IrContext& c, ir::Attribute from, AttrKind kind) {
  if (!from || from.kind() == kind) return from;
  const bool is_integer = from.Is(AttrKind::kInt) || from.Is(AttrKind::kBool);
  const bool is_real = from.Is(AttrKind::kDouble) || from.Is(AttrKind::kFloat);
  const double real = is_integer ? static_cast<double>(from.AsInt()) : from.AsDouble();
  switch (kind) {
    case AttrKind::kBool:
      if (is_integer && (from.AsInt() == 0 || from.AsInt() == 1)) return c.BoolAttr(from.AsInt());
      return {};
    case AttrKind::kInt:
      return is_integer ? c.IntAttr(from.AsInt()) : ir::Attribute();
    case AttrKind::kFloat:
      return is_integer || is_real ? c.FloatAttr(static_cast<float>(real)) : ir::Attribute();
    case AttrKind::kDouble:
      return is_integer || is_real ? c.DoubleAttr(real) : ir::Attribute();
    case AttrKind::kDataType: {
      ir::DataType dtype;
      if (from.Is(AttrKind::kString) && ir::ParseDataType(from.AsString(), &dtype))
        return c.DataTypeAttr(dtype);
      return {};
    }
    case AttrKind::kFloats:
      if (!from.Is(AttrKind::kInts)) return {};
      return c.FloatsAttr(Floats(from.AsInts().begin(), from.AsInts().end()));
    default:
      return {};
  }
}

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
  for (size_t i = 0; i < graph.attrs.size(); ++i) {
    if (graph.attrs[i].name == name) return match_.attr(static_cast<int>(i));
    names.push_back(graph.attrs[i].name);
  }
  Problem(fmt::format("no source op binds attribute '{}'{}", name, Suggest(name, names)));
  return {};
}

bool MatchContext::Bool(std::string_view name) const {
  const ir::Attribute a = Convert(*match_.context(), Find(name), AttrKind::kBool);
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
  const ir::Attribute a = Convert(*match_.context(), found, AttrKind::kInt);
  if (!a) IsNo(name, "integer");
  return a ? a.AsInt() : 0;
}

double MatchContext::Real(std::string_view name) const {
  const ir::Attribute a = Convert(*match_.context(), Find(name), AttrKind::kDouble);
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
  const ir::Attribute a = Convert(*match_.context(), Find(name), AttrKind::kFloats);
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
  const ir::Attribute a = Convert(*match_.context(), Find(name), AttrKind::kDataType);
  if (a) return a.AsDataType();
  IsNo(name, "data type");
  return ir::DataType::kNull;
}

MatchedTensor MatchContext::Tensor(std::string_view name) const {
  const PatternGraph& graph = match_.rule().graph;
  std::vector<std::string_view> names;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].name == name && !name.empty()) {
      const BoundTensor tensor(match_.value(static_cast<int>(i)));
      if (!tensor.has_rank()) Problem(fmt::format("the shape of '{}' is not known", name));
      return MatchedTensor(tensor);
    }
    names.push_back(graph.values[i].name);
  }
  Problem(fmt::format("the source pattern has no tensor '{}'{}", name, Suggest(name, names)));
  return MatchedTensor(BoundTensor(ir::Value()));
}

}  // namespace weft::drr::string_spelling
