// The parts of a rule by number. Each kind of part has numbers of its own type, and a vector that is
// indexed by them alone, so that a value is never looked up where an op is meant.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace weft::drr {

// The number of a Part of one rule, or of none.
template <class Part>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(size_t index) : index_(static_cast<int>(index)) {}
  constexpr explicit operator bool() const { return index_ >= 0; }  // whether there is one
  constexpr size_t index() const { return static_cast<size_t>(index_); }
  constexpr bool operator==(const Id& other) const { return index_ == other.index_; }
  constexpr bool operator<(const Id& other) const { return index_ < other.index_; }

 private:
  int index_ = -1;
};

using ValueId = Id<struct SourceValue>;
using OpId = Id<struct SourceOp>;
using AttrId = Id<struct AttrVariable>;
using ResultOpId = Id<struct ResultOp>;
using ResultValueId = Id<struct ResultValue>;
using OutsideId = Id<struct OutsideValue>;
using LetId = Id<struct LetValue>;

// As a range: every Id below `size`.
template <class Part>
class IdRange {
 public:
  class Iterator {
   public:
    explicit Iterator(size_t index) : index_(index) {}
    Id<Part> operator*() const { return Id<Part>(index_); }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    size_t index_;
  };
  explicit IdRange(size_t size) : size_(size) {}
  Iterator begin() const { return Iterator(0); }
  Iterator end() const { return Iterator(size_); }

 private:
  size_t size_;
};

// A T for each Part; by default the parts themselves.
template <class Part, class T = Part>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(size_t size) : elements_(size) {}
  IdVector(size_t size, const T& value) : elements_(size, value) {}

  decltype(auto) operator[](Id<Part> id) { return elements_[id.index()]; }
  decltype(auto) operator[](Id<Part> id) const { return elements_[id.index()]; }
  Id<Part> Add(T element) {
    elements_.push_back(std::move(element));
    return Id<Part>(elements_.size() - 1);
  }
  void resize(size_t size) { elements_.resize(size); }
  void Fill(const T& value) { elements_.assign(elements_.size(), value); }
  size_t size() const { return elements_.size(); }
  bool empty() const { return elements_.empty(); }
  IdRange<Part> ids() const { return IdRange<Part>(elements_.size()); }
  auto begin() { return elements_.begin(); }
  auto end() { return elements_.end(); }
  auto begin() const { return elements_.begin(); }
  auto end() const { return elements_.end(); }

 private:
  std::vector<T> elements_;
};

}  // namespace weft::drr
