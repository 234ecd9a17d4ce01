// What ops compute, as tensors of a proof. Movement ops and what broadcasts are said in full; fused ops
// as their reference bodies have it; any other op is an unknown function of all its operands and
// attributes, which gives equal results for equal operands.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op_def.h"
#include "passes/verify/proof/tensor.h"

namespace weft::passes {

struct ProofOp;

// An attribute as a proof has it: one of these.
struct ProofAttr {
  ir::Attribute literal{};
  std::string token{};  // anything, the same wherever it is this
  std::optional<std::vector<Term>> integers{};
  std::vector<Term> elements{};    // numbers
  Term element{};                  // a constant of rank 0
  TypeClass element_type = 0;      // of that, or what an element type is
  Tensor* tensor = nullptr;        // a constant
  const ProofOp* of_op = nullptr;  // the name of that, or its numbers
  bool is_type = false;
};

// What tells it from another.
std::string TextOf(const ProofAttr& attr);

struct ProofOp {
  const ir::OpDef* def = nullptr;  // null: any pure elementwise op, `name` says which
  std::string name;
  std::map<std::string, ProofAttr, std::less<>> attrs;  // none: not given, and no default
  std::vector<Tensor*> operands;                        // null: not given
  size_t num_results = 1;

  // Null: not given.
  Tensor* operand(size_t i) const { return i < operands.size() ? operands[i] : nullptr; }
};

// That every valid op of the name has; nothing where it may be any, or is not known.
std::optional<size_t> RankOfOperand(std::string_view op, size_t i);

class OpMeanings {
 public:
  OpMeanings(Case& c, ir::IrContext& context) : c_(c), context_(context) {}
  // From now on sizes and types are followed, and elements only where they move or are elementwise: so
  // every op has a meaning.
  void FollowShapesOnly() { shapes_only_ = true; }
  // Of results that the engine accepts: what inference must prove, and no more.
  void FollowAcceptedOnly() { accepts_only_ = true; }
  bool shapes_only() const { return shapes_only_; }
  // From now on operands that are axes and the like, of which nothing is known, are chosen.
  void ChooseNumbers() { chooses_numbers_ = true; }
  // Its results. None when the case is not open any more.
  std::vector<Tensor*> Apply(const ProofOp& op);

  // An integer or truth value from `least` to `most`, chosen where it may be any.
  int64_t Integer(const ProofOp& op, std::string_view attr, int64_t least, int64_t most);
  // An axis counted from the front.
  size_t Axis(const ProofOp& op, std::string_view attr, size_t rank);
  // The permutation that an attribute is.
  std::vector<size_t> Permutation(const ProofOp& op, std::string_view attr, size_t rank);
  // What a token was chosen to be; null when it was not.
  ir::Attribute Chosen(const ProofAttr& attr) const;
  // The class of the element type that an attribute is.
  TypeClass TypeOf(const ProofAttr& attr);
  // The integers of a list, as a shape is; a choice where there may be any number. `is_whole_shape`: as many
  // as the result of the op under way has axes.
  std::vector<Term> IntegersOf(Tensor& list, bool is_whole_shape = false);
  // What is known of the rank of the result of ops that follow: fewer cases.
  void ExpectRank(std::optional<size_t> rank) { result_rank_ = rank; }
  // Of those that were read so far.
  const std::map<Tensor*, std::vector<Term>>& lists() const { return integers_; }
  // A tensor of which nothing is known but perhaps its rank.
  Tensor* Unknown(const std::string& name, std::optional<size_t> rank = {});
  // Another op with the given attributes; null when the case is not open any more.
  Tensor* Call(std::string_view name, std::vector<Tensor*> operands, ProofOp like = {});
  // One number of the type of x.
  Tensor* NumberLike(Tensor& x, Term number);
  // Whether it has this rank, which an operand of the source has if anything matches.
  bool HasRank(Tensor& x, size_t rank);

 private:
  using Results = std::vector<Tensor*>;
  struct Known {
    std::string key;
    std::vector<Tensor*> operands;
    Results results;
  };
  using Function = Results (OpMeanings::*)(const ProofOp&);
  static const std::map<std::string_view, Function>& Functions();

  // op_meaning.cc
  bool HasItsOperands(const ProofOp& op);
  Results AnyFunction(const ProofOp& op, std::optional<size_t> rank = {});
  std::string KeyOf(const ProofOp& op) const;
  std::vector<Term> Wholes(const std::vector<Tensor*>& tensors);
  Results Identity(const ProofOp& op);
  Results Dropout(const ProofOp& op);
  Results Pad(const ProofOp& op);
  Results Constant(const ProofOp& op);
  Results Full(const ProofOp& op);

  // elementwise_meaning.cc
  Results AnyElementwise(const ProofOp& op);
  Results Cast(const ProofOp& op);
  Results Clip(const ProofOp& op);
  Results Quantize(const ProofOp& op);
  Results Where(const ProofOp& op);

  // function_meaning.cc
  Results CastLike(const ProofOp& op);
  Results LogSoftmax(const ProofOp& op);
  Results Softplus(const ProofOp& op);
  Results Mish(const ProofOp& op);
  Results HardSwish(const ProofOp& op);

  // movement_meaning.cc
  Results Transpose(const ProofOp& op);
  Results Reshape(const ProofOp& op);
  Results Flatten(const ProofOp& op);
  Results Expand(const ProofOp& op);
  Results PdExpand(const ProofOp& op);
  Results Concat(const ProofOp& op);
  Results Gather(const ProofOp& op);
  Results Movement(const ProofOp& op);
  Results Resize(const ProofOp& op);
  Results View(const ProofOp& op);
  Results Tile(const ProofOp& op);
  Results Shape(const ProofOp& op);
  Tensor* Made(Tensor* tensor);  // checked
  bool OnlyLeads(const std::vector<Term>& sizes, const std::vector<Term>& shape) const;

  // product_meaning.cc
  Results MatMul(const ProofOp& op);
  Results Convolution(const ProofOp& op);
  Results FusedMatMul(const ProofOp& op);
  Results BatchMatMul(const ProofOp& op);
  Results FusedConv(const ProofOp& op);
  Results FusedGemm(const ProofOp& op);
  Tensor* WithoutFactors(Tensor* x, std::vector<Term>* factors);
  Tensor* TimesAll(const std::vector<Term>& factors, Tensor* y);
  Tensor* WithoutLastFactors(Tensor* x, size_t least_rank, std::vector<Term>* numbers,
                             std::vector<Tensor*>* factors);
  Tensor* Turned(Tensor* x, bool batch, bool columns);

  // fused_meaning.cc
  Tensor* Activated(const ProofOp& op, Tensor* y);
  Tensor* Clipped(const ProofOp& op, Tensor* y);
  Tensor* Times(const ProofOp& op, std::string_view attr, Tensor* y);
  Results RmsNormalization(const ProofOp& op);
  Results LikeOperand(const ProofOp& op);  // of its rank
  Results AlongAxis(const ProofOp& op);
  Results Gemm(const ProofOp& op);
  Results Linear(const ProofOp& op);
  Results Conv2d(const ProofOp& op);
  Results LayerNormalization(const ProofOp& op);
  Results LayerNorm(const ProofOp& op);
  Tensor* ActivatedBy(const ProofOp& activation, Tensor* y);
  Results EmbedLayerNorm(const ProofOp& op);
  Results RmsNorm(const ProofOp& op);
  Results GroupNorm(const ProofOp& op);
  Results GlobalAveragePool2d(const ProofOp& op);
  Results Attention(const ProofOp& op);
  Results QuantizedBinary(const ProofOp& op);
  Results QuantizedLookup(const ProofOp& op);
  Results QuantizedConv2d(const ProofOp& op);
  Results QuantizedGlobalAveragePool2d(const ProofOp& op);

  // shape_meaning.cc
  Results ShapesOf(const ProofOp& op);
  void SayIntegers(const ProofOp& op);
  void SayEqual(Term a, Term b);
  void SaySameSize(Tensor& a, size_t a_from_end, Tensor& b, size_t b_from_end);
  void SaySameShape(const ProofOp& op, const Results& results);
  void SayProductShape(const ProofOp& op, const Results& results);
  void SayGemmShape(const ProofOp& op, const Results& results);
  void SayLinearShape(const ProofOp& op, const Results& results);
  void SayConvShape(const ProofOp& op, const Results& results);
  void SayConv2dShape(const ProofOp& op, const Results& results);
  void SayBatchNormShape(const ProofOp& op, const Results& results);
  void SayPartShapes(const ProofOp& op, const Results& results);
  std::optional<int64_t> WholeNumber(Tensor* operand, int64_t least, int64_t most);
  void SaySliceShape(const ProofOp& op, const Results& results, size_t axis);
  void SayViewShape(const ProofOp& op, const Results& results);
  void SayHeads(const ProofOp& op, size_t heads);
  void SayMask(const ProofOp& op, size_t operand, size_t heads, size_t sequence);
  void SayAttentionShape(const ProofOp& op, const Results& results);

  // microsoft_meaning.cc
  Results Gelu(const ProofOp& op);
  Results QuickGelu(const ProofOp& op);
  Results SkipNormalization(const ProofOp& op);
  Results IntegerProduct(const ProofOp& op);

  Tensor* Permuted(Tensor* x, std::vector<size_t> perm);
  bool IsDefault(const ProofOp& op, std::string_view attr) const;
  bool NeedsDefaults(const ProofOp& op, std::initializer_list<std::string_view> attrs);

  Case& c_;
  ir::IrContext& context_;
  std::map<std::string, ir::Attribute> chosen_;  // by token
  std::map<Tensor*, std::vector<Term>> integers_;
  std::vector<Known> known_;
  std::optional<size_t> result_rank_;
  size_t num_unknown_ = 0;
  bool shapes_only_ = false, accepts_only_ = false, chooses_numbers_ = false;
};

}  // namespace weft::passes
