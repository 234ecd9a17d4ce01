// Weights in the form a kernel wants, made once and shared by all plans of a session.
//
//   auto packed = packed_weights.Get<Matrix>("gemm k=64", {weights}, [&] { return Pack(...); });
//
// The key names the packing and everything it depends on but the constants, which are given.
//
// A plan, or a session, that computes constants has PackedWeights of its own inside of those that it shares with others.
// They own these constants, and keep what is packed of them, so that both go with the plan; what is made of other
// constants only is kept outside. Not thread safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "ir/attribute.h"
#include "ir/base/check.h"
#include "ir/base/status.h"

namespace weft::ir {
class Program;
}

namespace weft::kernels {

// The dense constants of more than PackedWeights::kSmall bytes, by Attribute::id().
std::set<uint32_t> LargeConstantsOf(ir::Program& program);

class PackedWeights {
 public:
  PackedWeights() = default;
  // `around` must outlive this.
  explicit PackedWeights(PackedWeights* around) : around_(around) {}
  PackedWeights(const PackedWeights&) = delete;
  PackedWeights& operator=(const PackedWeights&) = delete;
  ~PackedWeights();

  // Of the constants `of`, null where one is not given. `make` returns absl::StatusOr<std::shared_ptr<T>>; it is called
  // when nothing is kept yet.
  template <class T, class Make>
  absl::StatusOr<std::shared_ptr<T>> Get(std::string_view how, const std::vector<ir::Attribute>& of,
                                         const Make& make) {
    std::map<std::string, Entry>& entries = KeeperOf(of).entries_;
    const std::string key = Key(how, of);
    auto it = entries.find(key);
    if (it == entries.end()) {
      WEFT_ASSIGN_OR_RETURN(std::shared_ptr<T> made, make());
      it = entries.emplace(key, Entry{std::move(made), &typeid(T)}).first;
    }
    WEFT_CHECK(*it->second.type == typeid(T), "two kinds of packing have the same key");
    return std::static_pointer_cast<T>(it->second.value);
  }
  // The constant that `make`, which returns an ir::Attribute, makes of another: one for all plans. It need not outlive the
  // other, and should be computed (IrContext::ComputedDenseAttr) where it is large.
  template <class Make>
  ir::Attribute Derive(std::string_view how, ir::Attribute from, const Make& make) {
    const auto derived =
        Get<ir::Attribute>(how, {from}, [&]() -> absl::StatusOr<std::shared_ptr<ir::Attribute>> {
          return std::make_shared<ir::Attribute>(make());
        });
    KeeperOf({from}).Own(**derived);
    return **derived;
  }

  // The same elements under other dims, without a copy.
  ir::Attribute WithDims(ir::Attribute dense, std::span<const int64_t> dims);

  // A constant that dies with this: nothing may use it then. Small ones, which are kept once where they are equal, stay.
  ir::Attribute Adopt(ir::Type type, ir::WeightBuffer buffer);
  ir::Attribute AdoptCopy(ir::Type type, std::span<const std::byte> bytes);
  // Of what is adopted, only what the program still has.
  void KeepConstantsOf(ir::Program& program);
  // What is packed of the program's constants dies with this, but for those that are `others`'.
  void OwnConstantsOf(ir::Program& program, const std::set<uint32_t>& others);

  size_t size() const { return entries_.size() + (around_ != nullptr ? around_->size() : 0); }
  size_t bytes_adopted() const;  // of this, not of what is around

  // The context compares the contents of constants up to this size, so that these must be there for as long as it is.
  static constexpr size_t kSmall = 4096;

 private:
  struct Entry {
    std::shared_ptr<void> value;
    const std::type_info* type;
  };
  static std::string Key(std::string_view how, const std::vector<ir::Attribute>& of);
  // The innermost that owns one of them; the outermost where none does.
  PackedWeights& KeeperOf(const std::vector<ir::Attribute>& of);
  void Own(ir::Attribute constant);

  PackedWeights* const around_ = nullptr;
  std::map<std::string, Entry> entries_;
  std::map<uint32_t, ir::WeightBuffer> own_;  // by Attribute::id(); no data where that is another's
};

}  // namespace weft::kernels
