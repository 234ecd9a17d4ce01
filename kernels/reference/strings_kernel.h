// Kernels of ops on tensors of strings. Besides those they may take numbers, and give them.
//
//   absl::StatusOr<std::vector<RuntimeValue>> Concat(const AttrsOf<ops::StringConcat>& attrs,
//                                                    const KernelArgs& args);
//   const RegisterStrings<ops::StringConcat> kConcat(&Concat);
//
// The types of operands are known when such a kernel is made, their dims only when it runs.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "kernels/reference/reference.h"
#include "kernels/reference/value_kernel.h"

namespace weft::kernels::reference {

// All results of the op.
template <class O>
using StringsFunction = absl::StatusOr<std::vector<RuntimeValue>> (*)(const AttrsOf<O>&,
                                                                      const KernelArgs&);

template <class O>
class [[gnu::visibility("hidden")]] StringsKernel final : public ValueKernel {
 public:
  StringsKernel(const KernelContext& context, StringsFunction<O> function)
      : ValueKernel(context), attrs_(context.attrs_of<O>()), function_(function) {}

 private:
  absl::StatusOr<std::vector<RuntimeValue>> Results(const KernelArgs& args) override {
    auto results = function_(attrs_, args);
    if (!results.ok()) return ir::Annotate(results.status(), O::kInfo.name);
    return results;
  }

  const AttrsOf<O> attrs_;
  const StringsFunction<O> function_;
};

template <class O>
class [[gnu::visibility("hidden")]] RegisterStrings {
 public:
  // `check` (may be null) is Ok or Unsupported for attributes that the function cannot do.
  explicit RegisterStrings(StringsFunction<O> function, Check check = nullptr,
                           const char* file = __builtin_FILE()) {
    function_ = function;
    check_ = check;
    AddKernelFactory(ir::Opcode::FindOrAdd(O::kInfo.name), kStringsProvider, &Make, kValueKernel,
                     file);
  }

 private:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const KernelContext& context) {
    if (check_ != nullptr) WEFT_RETURN_IF_ERROR(check_(context));
    return std::make_unique<StringsKernel<O>>(context, function_);
  }
  static inline StringsFunction<O> function_ = nullptr;
  static inline Check check_ = nullptr;
};

// One tensor of strings, of `dims`.
inline absl::StatusOr<std::vector<RuntimeValue>> OneOfStrings(ir::Shape dims,
                                                              std::vector<std::string> strings) {
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::OfStrings(std::move(dims), std::move(strings)));
  return std::vector<RuntimeValue>{RuntimeValue::Of(std::move(tensor))};
}

}  // namespace weft::kernels::reference
