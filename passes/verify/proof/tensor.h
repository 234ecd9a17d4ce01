// Tensors of a proof: a rank, sizes, and the element at an index, as terms.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "passes/verify/proof/case.h"

namespace weft::passes {

inline constexpr size_t kMaxProofRank = 5;

class Tensor {
 public:
  Tensor(Case& owner, TypeClass element_type)
      : c(owner), type(element_type), id(owner.num_tensors()), of_result(owner.of_result()) {}
  Tensor(const Tensor&) = delete;
  virtual ~Tensor() = default;

  virtual size_t Rank() = 0;  // at most kMaxProofRank; a choice where it is open
  virtual const std::vector<Term>& Dims() = 0;
  virtual Term At(const std::vector<Term>& index) = 0;
  // The element at a position in row order.
  virtual Term AtPosition(Term position);
  virtual Term NumElements();
  // Whether this is the same function of the same tensors, whatever their shapes are.
  virtual bool IsTwin(const Tensor&) const { return false; }
  // Makes the rank this one where it is open. False when it is another.
  virtual bool SetRank(size_t rank) { return Rank() == rank; }
  // Requires what must hold for it to be a tensor at all, if that is not known from the source.
  virtual void Check() {}
  // The element that all are, if they are.
  virtual Term Uniform() { return {}; }
  virtual bool HasOneElement() { return false; }  // whatever the sizes are
  bool HasOneSize();                              // every size is 1 in this case; asks for the rank
  // The value of that element, if it is known.
  std::optional<double> uniform_number;
  // Likewise, of whole numbers: others may be near it.
  std::optional<int64_t> whole_number;

  Case& c;
  const TypeClass type;
  const size_t id;
  const bool of_result;
};

// An input, or what is known of nothing but its name: sizes and elements are variables.
class Leaf : public Tensor {
 public:
  Leaf(Case& c, TypeClass type, std::string name, std::optional<size_t> rank = {});
  size_t Rank() override;
  const std::vector<Term>& Dims() override;
  Term At(const std::vector<Term>& index) override;
  Term AtPosition(Term position) override;
  bool SetRank(size_t rank) override;
  Term Uniform() override { return uniform; }
  bool HasOneElement() override { return one_element; }

  bool one_element = false;  // every size is 1
  bool unit_sizes = false;   // which sizes are known to be 1 is a choice
  bool only_last = false;    // the others are 1, and whether the last one is 1 is a choice
  Term uniform;

 private:
  void MakeDims(size_t rank);
  const std::string name_;
  std::optional<size_t> rank_;
  std::vector<Term> dims_;
};

// A tensor whose sizes are terms.
class Shaped : public Tensor {
 public:
  Shaped(Case& c, TypeClass type, std::vector<Term> dims)
      : Tensor(c, type), dims_(std::move(dims)) {}
  size_t Rank() override { return dims_.size(); }
  const std::vector<Term>& Dims() override { return dims_; }
  bool HasOneElement() override { return c.terms().IsInteger(c.terms().Product(dims_), 1); }

 private:
  const std::vector<Term> dims_;
};

class Filled : public Shaped {
 public:
  Filled(Case& c, TypeClass type, std::vector<Term> dims, Term element)
      : Shaped(c, type, std::move(dims)), element_(element) {}
  Term At(const std::vector<Term>&) override { return element_; }
  Term AtPosition(Term) override { return element_; }
  Term Uniform() override { return element_; }

 private:
  const Term element_;
};

// A list of integers, as shapes are.
class IntegerList : public Shaped {
 public:
  IntegerList(Case& c, TypeClass type, std::vector<Term> list)
      : Shaped(c, type, {c.terms().Integer(static_cast<int64_t>(list.size()))}),
        integers(std::move(list)) {}
  Term At(const std::vector<Term>& index) override;
  const std::vector<Term> integers;
};

class Transposed : public Shaped {
 public:
  Transposed(Case& c, Tensor& x, std::vector<size_t> perm);
  Term At(const std::vector<Term>& index) override;
  Term AtPosition(Term position) override;
  Term NumElements() override { return x_.NumElements(); }
  Term Uniform() override { return x_.Uniform(); }
  Tensor& x() const { return x_; }
  const std::vector<size_t>& perm() const { return perm_; }

 private:
  Tensor& x_;
  const std::vector<size_t> perm_;
};

// The elements of x, in row order, in another shape.
class Reshaped : public Shaped {
 public:
  Reshaped(Case& c, Tensor& x, std::vector<Term> dims)
      : Shaped(c, x.type, std::move(dims)), x_(x) {}
  Term At(const std::vector<Term>& index) override;
  Term AtPosition(Term position) override { return x_.AtPosition(position); }
  Term NumElements() override { return x_.NumElements(); }
  Term Uniform() override { return x_.Uniform(); }
  void Check() override;

 private:
  Tensor& x_;
};

class Expanded : public Shaped {
 public:
  Expanded(Case& c, Tensor& x, std::vector<Term> dims)
      : Shaped(c, x.type, std::move(dims)), x_(x) {}
  Term At(const std::vector<Term>& index) override;
  Term Uniform() override { return x_.Uniform(); }

 private:
  Tensor& x_;
};

// x over and over along each axis.
class Tiled : public Shaped {
 public:
  Tiled(Case& c, Tensor& x, std::vector<Term> dims) : Shaped(c, x.type, std::move(dims)), x_(x) {}
  Term At(const std::vector<Term>& index) override;
  Term Uniform() override { return x_.Uniform(); }

 private:
  Tensor& x_;
};

class Joined : public Shaped {
 public:
  // Of at least one tensor, all of one rank.
  Joined(Case& c, const std::vector<Tensor*>& parts, size_t axis);
  const std::vector<Tensor*>& parts() const { return parts_; }
  size_t axis() const { return axis_; }
  Term At(const std::vector<Term>& index) override;
  void Check() override;

 private:
  const std::vector<Tensor*> parts_;
  const size_t axis_;
};

// The entries along an axis that indices name.
class Gathered : public Shaped {
 public:
  Gathered(Case& c, Tensor& data, Tensor& indices, size_t axis);
  Term At(const std::vector<Term>& index) override;

 private:
  Tensor& data_;
  Tensor& indices_;
  const size_t axis_;
};

// Elements of x, each from a place that follows from the index, the sizes of x and what `key` names.
class Moved : public Shaped {
 public:
  Moved(Case& c, Tensor& x, std::string key);
  Term At(const std::vector<Term>& index) override;
  Term Uniform() override { return x_.Uniform(); }

 private:
  Tensor& x_;
  const std::string key_;
};

// A function of elements in one place each, after broadcasting, and of what is the same everywhere.
class Elementwise : public Tensor {
 public:
  Elementwise(Case& c, TypeClass type, std::string function, std::vector<Tensor*> operands,
              std::vector<Term> everywhere, bool commutative);
  size_t Rank() override;
  const std::vector<Term>& Dims() override;
  Term At(const std::vector<Term>& index) override;
  Term AtPosition(Term position) override;
  Term NumElements() override;
  bool IsTwin(const Tensor& other) const override;
  bool SetRank(size_t rank) override;
  void Check() override;
  const std::vector<Tensor*>& operands() const { return operands_; }
  const std::string& function() const { return function_; }

 protected:
  virtual Term Apply(std::vector<Term> elements);
  const std::vector<Tensor*> operands_;

 private:
  const std::string function_;
  const std::vector<Term> everywhere_;
  const bool commutative_;
  std::optional<std::vector<Term>> dims_;
};

// The element of the second operand where that of the first is true, else of the third.
class Selected : public Elementwise {
 public:
  Selected(Case& c, Tensor& condition, Tensor& yes, Tensor& no)
      : Elementwise(c, yes.type, "onnx.Where", {&condition, &yes, &no}, {}, false) {}

 protected:
  Term Apply(std::vector<Term> elements) override;
};

// x with other element types: x itself where that is its own.
class Converted : public Elementwise {
 public:
  Converted(Case& c, Tensor& x, TypeClass to, std::string function);
  Term At(const std::vector<Term>& index) override;
  Term AtPosition(Term position) override;

 private:
  Tensor& Source();  // what is converted, where a conversion before makes no difference
  Tensor& x_;
};

// Whether all sizes but the last, if it has one, are 1, whatever the sizes are.
bool VariesAlongLast(Tensor& tensor);
// An element that stands for a whole tensor, or for none.
Term Whole(Terms& terms, const Tensor* tensor);
// The index into a size of 1, which broadcasts, or another one.
Term BroadcastIndex(Terms& terms, Term dim, Term result_dim, Term index);

}  // namespace weft::passes
