// Operation definitions as plain C++: one struct per op is the only place where its name, operands,
// results, attributes, defaults, traits, documentation and ONNX name appear. Printer, parser,
// builder, verifier, ONNX bridge and rules all derive from it.
//
//   struct Softmax {
//     static constexpr OpInfo kInfo = {.name = "onnx.Softmax", .operands = {"x"}, .results = {"y"},
//                                      .onnx = "Softmax", .since = 13, .doc = "..."};
//     template <template <class> class Slot>
//     struct Attrs {
//       Slot<int64_t> axis{};
//       static constexpr auto Fields() { return std::tuple(Field{"axis", &Attrs::axis,
//       int64_t{-1}}); }
//     };
//     static bool Infer(InferContext& c);                       // result types; reports mistakes
//     // Optional.
//     static std::vector<Value> Decompose(Builder&, std::span<const Value>, const Attrs<Plain>&);
//     // ... or with a fourth parameter, size_t: how many results are wanted.
//     static bool Verify(Operation op, std::string* error);  // what Infer does not see: regions
//     static double Flops(Operation op);  // where it is not one per element of result 0
//   };
//
// A dialect's .cc file calls AddOps<Softmax, ...>(context).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/attr_value.h"
#include "ir/context.h"
#include "ir/op_info.h"

namespace weft::ir {

class Builder;
class InferContext;
class Operation;
class Value;

// --- the run-time description -----------------------------------------------

struct FieldDef {
  Name name;
  AttrKind kind = AttrKind::kUnit;
  bool optional = false;                            // may be absent
  Attribute (*make_default)(IrContext&) = nullptr;  // null: required (unless optional)
  bool (*accepts)(Attribute) = nullptr;             // kind and enumerator
  std::vector<std::string_view> enumerators;        // of an enum
};

struct OpDef {
  Opcode opcode;
  const OpInfo* info = nullptr;
  uint32_t traits = kNone;  // AllTraits() of info
  std::vector<FieldDef> fields;
  bool (*infer)(InferContext&) = nullptr;
  std::vector<Value> (*decompose)(Builder&, std::span<const Value>, AttrDict,
                                  size_t num_results) = nullptr;
  // Called by the verifier before it comes to what is inside: bodies may be anything.
  bool (*verify)(Operation op, std::string* error) = nullptr;
  // Additions and multiplications of one run, for static types; null: one per element of result 0.
  double (*flops)(Operation op) = nullptr;

  std::string_view name() const { return info->name; }
  bool Has(Trait trait) const { return (traits & trait) != 0; }
  // Whether rules may look at the reference body in its place.
  bool IsComposite() const { return decompose != nullptr && !Has(kAtomic); }
  const FieldDef* FindField(Name name) const {
    for (const FieldDef& f : fields)
      if (f.name == name) return &f;
    return nullptr;
  }
};

// Made when first asked for.
template <class O>
const OpDef& OpDefOf();

// --- whole sets of attributes -----------------------------------------------

// All attributes of an op as a C++ struct; absent or ill-kinded ones keep their default.
template <class O>
typename O::template Attrs<Plain> ReadAttrs(AttrDict dict) {
  typename O::template Attrs<Plain> attrs;
  [[maybe_unused]] const std::vector<FieldDef>& fields = OpDefOf<O>().fields;
  [[maybe_unused]] size_t i = 0;
  std::apply(
      [&](const auto&... field) {
        (
            [&] {
              auto& member = attrs.*field.member;
              using V = typename ValueTypeOf<std::decay_t<decltype(member)>>::type;
              V value{};
              if (ReadAttr(dict.Get(fields[i++].name), &value)) {
                member = std::move(value);
              } else if constexpr (std::decay_t<decltype(field)>::kHasDefault) {
                member = V(field.fallback);
              }
            }(),
            ...);
      },
      attrs.Fields());
  return attrs;
}

// The dictionary with every default written out. A required attribute that is unset is left out:
// the verifier names it.
template <class O>
AttrDict MakeAttrs(IrContext& context, const typename O::template Attrs<BuilderSlot>& attrs) {
  if constexpr (kNumAttrs<O> == 0) {
    (void)context, (void)attrs;
    return {};
  } else {
    const std::vector<FieldDef>& fields = OpDefOf<O>().fields;
    std::array<NamedAttribute, kNumAttrs<O>> entries;
    size_t size = 0, i = 0;
    auto add = [&](const auto& field) {
      const auto& value = (attrs.*field.member).value();
      const FieldDef& def = fields[i++];
      if (value) {
        entries[size++] = {def.name, MakeAttr(context, *value)};
      } else if (def.make_default) {
        entries[size++] = {def.name, def.make_default(context)};
      }
    };
    std::apply([&](const auto&... field) { (add(field), ...); }, attrs.Fields());
    return context.DictInPlace({entries.data(), size});
  }
}

// --- definitions of C++ ops --------------------------------------------------

template <class O>
inline const Opcode kOpcodeOf = Opcode::FindOrAdd(O::kInfo.name);

namespace internal {

// Whether ReadAttr() succeeds. Every op of every rule has one per attribute: it reads enums only.
template <class V>
bool Accepts(Attribute attr) {
  if constexpr (std::is_same_v<V, Attribute>) {
    return static_cast<bool>(attr);
  } else if constexpr (std::is_enum_v<V> && !std::is_same_v<V, DataType>) {
    V value{};
    return ReadAttr(attr, &value);
  } else {
    return attr && attr.kind() == AttrKindOf<V>();
  }
}

template <class O, size_t kIndex>
FieldDef MakeFieldDef() {
  using Attrs = typename O::template Attrs<Plain>;
  constexpr auto kField = std::get<kIndex>(Attrs::Fields());
  using Member = std::decay_t<decltype(std::declval<Attrs>().*kField.member)>;
  using V = typename ValueTypeOf<Member>::type;
  FieldDef def;
  def.name = Name(kField.name);
  def.kind = AttrKindOf<V>();
  def.optional = ValueTypeOf<Member>::kOptional;
  def.accepts = &Accepts<V>;
  if constexpr (decltype(kField)::kHasDefault) {
    def.make_default = [](IrContext& context) {
      return MakeAttr(context, V(std::get<kIndex>(Attrs::Fields()).fallback));
    };
  }
  if constexpr (std::is_enum_v<V> && !std::is_same_v<V, DataType>) {
    for (std::string_view name : EnumNames(V{})) def.enumerators.push_back(name);
  }
  return def;
}

template <class O, size_t... kIndex>
OpDef MakeOpDef(std::index_sequence<kIndex...>) {
  static_assert(kFieldsComplete<O>, "Fields() does not list every attribute of this op");
  OpDef def;
  def.opcode = kOpcodeOf<O>;
  def.info = &O::kInfo;
  def.traits = AllTraits(O::kInfo);
  (def.fields.push_back(MakeFieldDef<O, kIndex>()), ...);
  if constexpr (requires { &O::Infer; }) def.infer = &O::Infer;
  if constexpr (requires { &O::Decompose; }) {
    def.decompose = [](Builder& b, std::span<const Value> operands, AttrDict attrs,
                       [[maybe_unused]] size_t num_results) {
      if constexpr (requires { O::Decompose(b, operands, ReadAttrs<O>(attrs), num_results); })
        return O::Decompose(b, operands, ReadAttrs<O>(attrs), num_results);
      else
        return O::Decompose(b, operands, ReadAttrs<O>(attrs));
    };
  }
  if constexpr (requires { &O::Verify; }) def.verify = &O::Verify;
  if constexpr (requires { &O::Flops; }) def.flops = &O::Flops;
  return def;
}

}  // namespace internal

template <class O>
const OpDef& OpDefOf() {
  static const OpDef* def =
      new OpDef(internal::MakeOpDef<O>(std::make_index_sequence<kNumAttrs<O>>()));
  return *def;
}

// Makes the ops of a dialect known to a context.
template <class... Os>
void AddOps(IrContext& context) {
  (context.AddOp(OpDefOf<Os>()), ...);
}

}  // namespace weft::ir
