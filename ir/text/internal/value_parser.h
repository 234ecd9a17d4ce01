// Parses types and attributes. Both repeat from operation to operation, so that text which was
// parsed before is looked up whole.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/context.h"
#include "ir/op_def.h"
#include "ir/text/internal/scanner.h"
#include "ir/text/internal/side_files.h"

namespace weft::ir::text {

class ValueParser {
 public:
  ValueParser(IrContext* context, Scanner* scanner, SideFiles* side_files)
      : context_(*context), s_(*scanner), side_files_(*side_files) {}

  // Every function returns false after it has noted the mistake in the scanner.
  bool ParseType(Type* type) { return ParseType(type, 0); }
  // {name:value,...}; the values of fields that `def` knows are converted to the field's kind.
  bool ParseAttrs(Opcode opcode, const OpDef* def, AttrDict* attrs);
  bool ParseAttribute(const FieldDef* field, Attribute* attr);

 private:
  bool ParseType(Type* type, int depth);  // these in type_parser.cc
  bool ParseTensor(Type* type);
  bool ParseDims(Shape* dims);
  bool ParseVector(Type* type, int depth);
  bool ParseElement(bool is_sequence, Type* type, int depth);  // of seq<> or optional<>
  bool ParseAttrsSlowly(const OpDef* def, AttrDict* attrs);

  bool ParseValue(const FieldDef* field, Attribute* attr);
  bool ParseWord(const char* at, const FieldDef* field, Attribute* attr);
  bool ParseCall(const char* at, const FieldDef* field, Attribute* attr);
  bool Scalar(const char* at, std::string_view text, const FieldDef* field, Attribute* attr);
  bool UntypedScalar(const char* at, std::string_view text, Attribute* attr);
  bool ParseList(std::string_view word, const FieldDef* field, Attribute* attr);

  bool ParseDense(Attribute* attr);  // these in dense_parser.cc
  bool ParseElements(Type type, Attribute* attr);
  bool ParseElement(DataType dtype, std::vector<std::byte>* bytes);
  bool ParseHex(Type type, Attribute* attr);
  bool ParseSideFile(Type type, Attribute* attr);

  IrContext& context_;
  Scanner& s_;
  SideFiles& side_files_;
  absl::flat_hash_map<std::string_view, Type> types_;
  absl::flat_hash_map<std::pair<uint16_t, std::string_view>, AttrDict> dicts_;
};

}  // namespace weft::ir::text
