#include "ir/text/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>

#include "ir/base/read_files.h"
#include "ir/infer.h"
#include "ir/text/internal/origin_text.h"
#include "ir/text/internal/scanner.h"
#include "ir/text/internal/scope.h"
#include "ir/text/internal/side_files.h"
#include "ir/text/internal/value_parser.h"

namespace weft::ir {
namespace {

constexpr int kMaxRegionDepth = 256;
constexpr size_t kMaxCachedText = 1024;

class Parser {
 public:
  Parser(IrContext& context, std::string_view text, const ParseOptions& options)
      : context_(context),
        options_(options),
        s_(text, options.file_name, options.allow_undefined),
        side_files_(&context, options.weights_dir),
        value_parser_(&context, &s_, &side_files_),
        program_(std::make_unique<Program>(&context)),
        mutator_(program_.get()),
        values_(text.size()) {}

  absl::StatusOr<std::unique_ptr<Program>> Parse() {
    if (!ParseAll() || s_.failed()) return s_.status();
    return std::move(program_);
  }

 private:
  struct Signature {
    std::vector<Type> operands, results;
  };
  struct KnownOp {
    Opcode opcode;
    const OpDef* def = nullptr;
  };

  bool ParseAll();
  bool ParseParameters();
  bool ParseModuleHead();
  bool ParseArguments(Block block, const Strings* default_names);
  bool ParseBlock(Block block, int depth);
  bool ParseRegion(Region region, int depth);
  bool ParseOperation(Block block, int depth);
  bool AtRegions();
  bool ParseRegionsOf(Operation op, int depth);
  bool ParseLocation(Operation op);

  bool ParseResults();
  bool ParseOpName(KnownOp* op);
  bool ParseOperands();
  bool ParseSignature(const Signature** signature);
  bool ParseSignatureSlowly(Signature* signature);
  bool ParseTypeList(std::vector<Type>* types);
  bool ParseValueRef(ValueRef* ref);
  bool ParseOptionalName(NamedRef* ref);

  bool CheckSignature(const char* at, const Signature& signature);
  bool ResolveOperands(const Signature& signature);
  bool Undefined(const ValueRef& ref, Type type, Value* value);
  bool Define(const NamedRef& ref, Value value, int depth);
  bool LeaveOut(const char* at);
  bool CheckTypes(const char* at);
  bool Disagree(const char* at, const std::string& what);
  void Warn(const char* at, const std::string& message) {
    if (options_.warnings) options_.warnings->push_back(s_.Warning(at, message));
  }

  IrContext& context_;
  const ParseOptions& options_;
  text::Scanner s_;
  text::SideFiles side_files_;
  text::ValueParser value_parser_;
  std::unique_ptr<Program> program_;
  Program::Mutator mutator_;
  Values values_;
  std::vector<ValueRef> scopes_;  // what blocks below the module's define; see ParseBlock

  absl::flat_hash_map<std::string_view, KnownOp> ops_;                  // by name
  absl::flat_hash_map<std::string_view, const Signature*> signatures_;  // by the rest of the line
  std::deque<Signature> signature_storage_;

  // The operation being read. Kept here so that their memory is reused.
  std::vector<NamedRef> results_;
  std::vector<ValueRef> operands_;
  Signature scratch_;
  OperationState state_;
};

// --- the whole --------------------------------------------------------------

bool Parser::ParseAll() {
  if (s_.ConsumeWord("parameters") && !ParseParameters()) return false;
  if (s_.ConsumeWord("module") && !ParseModuleHead()) return false;
  const char* open = s_.position();
  if (!s_.Expect('{', "before the operations")) return false;
  Block block = program_->body();
  if (!ParseBlock(block, 0)) return false;
  while (s_.Consume('^')) {
    block = mutator_.AppendBlock(program_->module().region(0));
    if (!ParseArguments(block, nullptr) || !s_.Expect(':', "after a block's arguments") ||
        !ParseBlock(block, 1))
      return false;
  }
  if (s_.AtEnd() && options_.allow_undefined) {
    Warn(open, "the listing has no closing brace");
    return true;
  }
  if (!s_.Expect('}', "after the operations") || !ParseLocation(program_->module())) return false;
  return s_.AtEnd() || s_.Fail("expected the end of the text but found " + s_.Found());
}

bool Parser::ParseParameters() {
  if (!s_.Expect('{', "after parameters")) return false;
  while (!s_.Consume('}')) {
    const char* at = s_.position();
    std::string_view name = s_.Name();
    if (name.empty() && s_.Peek() == '"') {
      if (!s_.String(&name)) return false;
    } else if (name.empty()) {
      return s_.Fail("expected the name of a parameter but found " + s_.Found());
    }
    if (program_->parameter(name)) return s_.Fail(at, "a parameter is given twice");
    Attribute value;
    if (!s_.Expect(':', "after the name of a parameter")) return false;
    const char* value_at = s_.position();
    if (!value_parser_.ParseAttribute(nullptr, &value)) return false;
    if (!value.Is(AttrKind::kDense)) return s_.Fail(value_at, "a parameter must be dense<...>");
    program_->SetParameter(name, value);
  }
  return true;
}

bool Parser::ParseModuleHead() {
  const Operation module = program_->module();
  AttrDict attrs;
  if (!value_parser_.ParseAttrs(module.opcode(), module.def(), &attrs)) return false;
  mutator_.SetAttrs(module, attrs);
  if (s_.Peek() != '(') return true;
  const Attribute names = attrs.Get("input_names");
  return ParseArguments(program_->body(), names ? &names.AsStrings() : nullptr);
}

// (%0: tensor<2xf32>, %1 "name": tensor<f32>)
bool Parser::ParseArguments(Block block, const Strings* default_names) {
  if (!s_.Expect('(', "before a block's arguments")) return false;
  if (s_.Consume(')')) return true;
  const int depth = block == program_->body() ? 0 : 1;
  do {
    NamedRef argument;
    Type type;
    if (!ParseValueRef(&argument.ref) || !ParseOptionalName(&argument) ||
        !s_.Expect(':', "before the type of an argument") || !value_parser_.ParseType(&type))
      return false;
    const Value value = mutator_.AddArgument(block, type);
    if (!argument.has_name && default_names && value.index() < default_names->size())
      argument.name = (*default_names)[value.index()];
    if (!Define(argument, value, depth)) return false;
  } while (s_.Consume(','));
  return s_.Expect(')', "after a block's arguments");
}

// Operations up to the end of the block. Values defined in it are out of scope afterwards.
bool Parser::ParseBlock(Block block, int depth) {
  while (s_.Peek() == '(')
    if (!ParseOperation(block, depth)) return false;
  return true;
}

bool Parser::ParseRegion(Region region, int depth) {
  if (depth > kMaxRegionDepth)
    return s_.Fail(fmt::format("regions are nested more than {} deep", kMaxRegionDepth));
  if (!s_.Expect('{', "before a region")) return false;
  if (s_.Consume('}')) return true;
  do {
    const Block block = mutator_.AppendBlock(region);
    const size_t scope = scopes_.size();
    if (s_.Consume('^')) {
      if (!ParseArguments(block, nullptr) || !s_.Expect(':', "after a block's arguments"))
        return false;
    }
    if (!ParseBlock(block, depth)) return false;
    for (; scopes_.size() > scope; scopes_.pop_back()) values_.Set(scopes_.back(), Value());
  } while (s_.Peek() == '^');
  return s_.Expect('}', "after the operations of a region");
}

// --- one operation ----------------------------------------------------------

bool Parser::ParseOperation(Block block, int depth) {
  const char* at = s_.position();
  KnownOp op;
  if (!ParseResults() || !s_.Expect('=', "after the results") || !ParseOpName(&op) ||
      !ParseOperands())
    return false;
  if (options_.allow_undefined && s_.Peek() != '{') return LeaveOut(at);
  state_.opcode = op.opcode;
  const Signature* signature = nullptr;
  if (!value_parser_.ParseAttrs(op.opcode, op.def, &state_.attrs) || !ParseSignature(&signature) ||
      !CheckSignature(at, *signature) || !ResolveOperands(*signature))
    return false;
  state_.result_types = signature->results;
  if ((options_.warnings || options_.check_types) && op.def && op.def->infer && !CheckTypes(at))
    return false;
  const Operation created = mutator_.Create(state_, block, Operation());
  if (AtRegions()) {
    const std::vector<NamedRef> results = results_;
    if (!ParseRegionsOf(created, depth)) return false;
    results_ = results;
  }
  for (size_t i = 0; i < results_.size(); ++i)
    if (!Define(results_[i], created.result(static_cast<uint32_t>(i)), depth)) return false;
  return ParseLocation(created) && text::ParseOrigin(&s_, created);
}

bool Parser::ParseValueRef(ValueRef* ref) {
  ref->at = s_.position();
  if (!s_.Consume('%')) return s_.Fail("expected a value but found " + s_.Found());
  const char* p = s_.raw_position();
  if (p != s_.end() && text::IsDigit(*p)) return s_.Digits(&ref->number);
  if (p == s_.end() || !text::IsWordStart(*p)) return s_.Fail(ref->at, "a value is %12 or %name");
  ref->name = s_.Name();
  return true;
}

bool Parser::ParseOptionalName(NamedRef* ref) {
  if (s_.Peek() != '"') return true;
  ref->has_name = true;
  return s_.String(&ref->name);
}

bool Parser::ParseResults() {
  results_.clear();
  if (!s_.Expect('(', "before the results of an operation")) return false;
  if (s_.Consume(')')) return true;
  do {
    NamedRef& result = results_.emplace_back();
    if (!ParseValueRef(&result.ref) || !ParseOptionalName(&result)) return false;
  } while (s_.Consume(','));
  return s_.Expect(')', "after the results");
}

bool Parser::ParseOpName(KnownOp* op) {
  const char* at = s_.position();
  std::string_view name;
  if (!s_.String(&name)) return false;
  if (auto it = ops_.find(name); it != ops_.end()) {
    *op = it->second;
    return true;
  }
  if (name.empty()) return s_.Fail(at, "an operation needs a name");
  op->opcode = Opcode::FindOrAdd(name);
  if (!op->opcode.IsValid()) return s_.Fail(at, "there are too many different operations");
  op->def = context_.FindOp(op->opcode);
  ops_.emplace(name, *op);
  return true;
}

bool Parser::ParseOperands() {
  operands_.clear();
  if (!s_.Expect('(', "before the operands")) return false;
  if (s_.Consume(')')) return true;
  do {
    ValueRef& operand = operands_.emplace_back();
    if (s_.Peek() == '<') {
      if (!s_.Consume("<<NULL VALUE>>"))
        return s_.Fail("expected a value or <<NULL VALUE>> but found '<'");
    } else if (!ParseValueRef(&operand)) {
      return false;
    }
  } while (s_.Consume(','));
  return s_.Expect(')', "after the operands");
}

// Most signatures are the whole rest of their line and have been seen before.
bool Parser::ParseSignature(const Signature** signature) {
  const char* begin = s_.position();
  const size_t longest = std::min<size_t>(kMaxCachedText, static_cast<size_t>(s_.end() - begin));
  const char* end = longest ? static_cast<const char*>(std::memchr(begin, '\n', longest)) : nullptr;
  const std::string_view text(begin, end ? static_cast<size_t>(end - begin) : 0);
  if (end) {
    auto it = signatures_.find(text);
    if (it != signatures_.end() && it->second->operands.size() == operands_.size() &&
        it->second->results.size() == results_.size()) {
      *signature = it->second;
      s_.set_position(end);
      return true;
    }
  }
  if (!ParseSignatureSlowly(&scratch_)) return false;
  *signature = &scratch_;
  const char* p = s_.raw_position();
  while (p < end && (*p == ' ' || *p == '\r')) ++p;
  if (p == end) signatures_[text] = &signature_storage_.emplace_back(scratch_);
  return true;
}

bool Parser::ParseSignatureSlowly(Signature* signature) {
  signature->operands.clear();
  signature->results.clear();
  if (!s_.Expect(':', "after the attributes") || !s_.Expect('(', "before the operand types"))
    return false;
  if (!s_.Consume(')')) {
    if (!ParseTypeList(&signature->operands) || !s_.Expect(')', "after the operand types"))
      return false;
  }
  if (!s_.Consume("->")) return s_.Fail("expected '->' but found " + s_.Found());
  const char* after_arrow = s_.raw_position();
  const char c = s_.Peek();
  const bool has_types = (text::IsWordStart(c) || c == '<') && !text::AtTail(&s_);
  if (has_types) return ParseTypeList(&signature->results);
  s_.set_position(after_arrow);
  return true;
}

bool Parser::ParseTypeList(std::vector<Type>* types) {
  const char* end;
  do {
    if (!value_parser_.ParseType(&types->emplace_back())) return false;
    end = s_.raw_position();
  } while (s_.Consume(','));
  s_.set_position(end);  // not past the line: see ParseSignature
  return true;
}

std::string Count(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

bool Parser::CheckSignature(const char* at, const Signature& signature) {
  if (signature.operands.size() != operands_.size())
    return s_.Fail(at, fmt::format("{} has {} but {}", state_.opcode.name(),
                                   Count(operands_.size(), "operand"),
                                   Count(signature.operands.size(), "operand type")));
  if (signature.results.size() != results_.size())
    return s_.Fail(
        at, fmt::format("{} has {} but {}", state_.opcode.name(), Count(results_.size(), "result"),
                        Count(signature.results.size(), "result type")));
  return true;
}

bool Parser::ResolveOperands(const Signature& signature) {
  state_.operands.resize(operands_.size());
  for (size_t i = 0; i < operands_.size(); ++i) {
    const ValueRef& ref = operands_[i];
    const Type type = signature.operands[i];
    Value& value = state_.operands[i];
    value = ref.at ? values_.Find(ref) : Value();
    if (ref.at && !value && !Undefined(ref, type, &value)) return false;
    const Type actual = value ? value.type() : Type();
    if (actual == type) continue;
    std::string expected, found;
    text::AppendType(&expected, actual);
    text::AppendType(&found, type);
    return s_.Fail(ref.at ? ref.at : s_.raw_position(),
                   fmt::format("{} is {} but is used as {}", ref.at ? ref.Text() : "<<NULL VALUE>>",
                               expected, found));
  }
  return true;
}

bool Parser::Undefined(const ValueRef& ref, Type type, Value* value) {
  if (!options_.allow_undefined || !type)
    return s_.Fail(ref.at, fmt::format("value {} is not defined", ref.Text()));
  *value = mutator_.AddArgument(program_->body(), type);
  values_.Set(ref, *value);
  return true;
}

bool Parser::Define(const NamedRef& ref, Value value, int depth) {
  if (values_.Find(ref.ref))
    return s_.Fail(ref.ref.at, fmt::format("value {} is defined twice", ref.ref.Text()));
  values_.Set(ref.ref, value);
  if (depth > 0) scopes_.push_back(ref.ref);
  if (!ref.name.empty()) program_->SetName(value, ref.name);
  return true;
}

// Whether "({" comes next; "(%1" or "()" would be the next operation.
bool Parser::AtRegions() {
  const char* at = s_.position();
  const bool result = s_.Consume('(') && s_.Peek() == '{';
  s_.set_position(at);
  return result;
}

bool Parser::ParseRegionsOf(Operation op, int depth) {
  s_.Consume('(');
  do {
    if (!ParseRegion(mutator_.AddRegion(op), depth + 1)) return false;
  } while (s_.Consume(','));
  return s_.Expect(')', "after the regions");
}

bool Parser::ParseLocation(Operation op) {
  if (s_.Peek() != 'l' || !s_.ConsumeWord("loc")) return true;
  std::string_view location;
  if (!s_.Expect('(', "after loc") || !s_.String(&location) || !s_.Expect(')', "after a location"))
    return false;
  program_->SetLocation(op, Name(location));
  return true;
}

bool Parser::LeaveOut(const char* at) {
  Warn(at, "the operation is cut short and left out");
  return true;
}

bool Parser::Disagree(const char* at, const std::string& what) {
  if (options_.check_types) return s_.Fail(at, what);
  Warn(at, what);
  return true;
}

bool Parser::CheckTypes(const char* at) {
  std::vector<Type> types;
  std::string error;
  if (!InferResultTypes(&context_, state_, state_.result_types.size(), &types, &error))
    return Disagree(at, error);
  for (size_t i = 0; i < types.size(); ++i) {
    if (Compatible(state_.result_types[i], types[i])) continue;
    std::string stated, inferred;
    text::AppendType(&stated, state_.result_types[i]);
    text::AppendType(&inferred, types[i]);
    if (!Disagree(at, fmt::format("{}: result {} is stated as {} but inferred as {}",
                                  state_.opcode.name(), i, stated, inferred)))
      return false;
  }
  return true;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) return InvalidArgument(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  NoteRead(fileno(file));
  std::string text;
  char buffer[1 << 16];
  for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), file)) > 0;) text.append(buffer, n);
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) return InvalidArgument(fmt::format("cannot read {}", path));
  return text;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Program>> ParseProgram(IrContext& context, std::string_view text,
                                                      const ParseOptions& options) {
  return Parser(context, text, options).Parse();
}

absl::StatusOr<std::unique_ptr<Program>> ParseProgramFile(IrContext& context,
                                                          const std::string& path,
                                                          ParseOptions options) {
  WEFT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  if (options.file_name == ParseOptions().file_name) options.file_name = path;
  const size_t slash = path.rfind('/');
  if (options.weights_dir.empty())
    options.weights_dir = slash == path.npos ? "." : path.substr(0, slash + 1);
  return ParseProgram(context, text, options);
}

}  // namespace weft::ir
