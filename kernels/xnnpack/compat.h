// The one place that knows which XNNPACK it is compiled with; kernels and benchmarks are written
// against what this header offers.
//
// Debian 12 has the interface of 2022: an operator is created, then set up with sizes, addresses
// and a thread pool. Debian 13 has that of 2024, for which CMake defines WEFT_XNNPACK_RESHAPES: an
// operator is created, reshaped to sizes, then set up with addresses and the workspace it asked
// for. There, operators with weights take two caches more, channels are told with the other sizes,
// no longer at creation, and functions of f32 elements are one operator that is told which.
//
// Here an operator is created, prepared for sizes, set up with addresses, and run:
//
//   xnn_operator_t handle = nullptr;
//   CreateWeighted(&xnn_create_fully_connected_nc_f32, &handle, k, n, k, n, w, bias, min, max, 0);
//   Operator op(handle);
//   const auto product = WithSizes(WEFT_XNN(fully_connected_nc_f32), m);
//   product.Prepare(op, pool);
//   product.SetUp(op, {x, nullptr, y}, pool);
//   xnn_run_operator(op.handle(), pool);
//
// Whatever pool is given must be the same each time.
#pragma once

#include <xnnpack.h>

#include <array>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/xnnpack/operator.h"

namespace weft::kernels::xnnpack {

#ifdef WEFT_XNNPACK_RESHAPES
inline constexpr bool kReshapes = true;
#else
inline constexpr bool kReshapes = false;
#endif

// --- the calls that give an operator its sizes and its addresses ------------------------

// WEFT_XNN(convolution2d_nhwc_f32): those of this operator.
#ifdef WEFT_XNNPACK_RESHAPES
#define WEFT_XNN(name) \
  ::weft::kernels::xnnpack::Calls { &xnn_reshape_##name, &xnn_setup_##name }
#else
#define WEFT_XNN(name) \
  ::weft::kernels::xnnpack::Calls { nullptr, &xnn_setup_##name }
#endif

template <class Reshape, class SetUp>
struct Calls {
  Reshape reshape;  // null where setting up does both
  SetUp set_up;
};
template <class Reshape, class SetUp>
Calls(Reshape, SetUp) -> Calls<Reshape, SetUp>;

namespace internal {

// Pointers to whatever element type a call takes.
struct From {
  const void* p;
  template <class T>
  operator const T*() const {
    return static_cast<const T*>(p);
  }
};
struct To {
  void* p;
  template <class T>
  operator T*() const {
    return static_cast<T*>(p);
  }
};

template <class... P>
using First = std::tuple_element_t<0, std::tuple<P...>>;

// Whether set_up(op, [workspace], input, [input], output) has the workspace.
template <class... P>
constexpr bool TakesWorkspace(xnn_status (*)(xnn_operator_t, P...)) {
  return std::is_same_v<First<P...>, void*>;
}

// reshape(op, sizes..., [workspace's bytes and alignment], [result's height and width], pool)
template <class... P, class... Sizes>
xnn_status Reshape(xnn_status (*reshape)(xnn_operator_t, P...), xnn_operator_t op, size_t (&out)[4],
                   pthreadpool_t pool, Sizes... sizes) {
  constexpr size_t kOut = sizeof...(P) - sizeof...(Sizes) - 1;
  static_assert(kOut == 0 || kOut == 2 || kOut == 4);
  if constexpr (kOut == 0) {
    return reshape(op, sizes..., pool);
  } else if constexpr (kOut == 2) {
    return reshape(op, sizes..., &out[0], &out[1], pool);
  } else {
    return reshape(op, sizes..., &out[0], &out[1], &out[2], &out[3], pool);
  }
}

// set_up(op, before..., input, [input], output, after...)
template <class... P, class Before, class... After>
xnn_status SetUp(xnn_status (*set_up)(xnn_operator_t, P...), xnn_operator_t op, const Addresses& at,
                 const Before& before, After... after) {
  return before([&](auto... first) {
    constexpr size_t kAddresses = sizeof...(P) - sizeof...(first) - sizeof...(After);
    static_assert(kAddresses == 2 || kAddresses == 3);
    if constexpr (kAddresses == 2) {
      return set_up(op, first..., From{at.a}, To{at.y}, after...);
    } else {
      return set_up(op, first..., From{at.a}, From{at.b}, To{at.y}, after...);
    }
  });
}

}  // namespace internal

// Calls together with sizes(call), which passes call(...) the sizes in XNNPACK's order.
template <class C, class Sizes>
class Sized {
 public:
  Sized(C calls, Sizes sizes) : calls_(calls), sizes_(std::move(sizes)) {}

  // Once for an operator, and again after it was prepared for other sizes.
  xnn_status Prepare(Operator& op, pthreadpool_t pool) const {
    if constexpr (kReshapes) {
      size_t out[4] = {};
      const xnn_status status = sizes_([&](auto... sizes) {
        return internal::Reshape(calls_.reshape, op.handle(), out, pool, sizes...);
      });
      if (status != xnn_status_success || !internal::TakesWorkspace(calls_.set_up)) return status;
      return op.Reserve(out[0], out[1]);
    } else {
      return xnn_status_success;
    }
  }

  // After Prepare, and again for other addresses.
  xnn_status SetUp(Operator& op, const Addresses& at, pthreadpool_t pool) const {
    if constexpr (!kReshapes) {
      return internal::SetUp(calls_.set_up, op.handle(), at, sizes_, pool);
    } else if constexpr (internal::TakesWorkspace(decltype(calls_.set_up)())) {
      const auto workspace = [&op](const auto& call) { return call(op.workspace()); };
      return internal::SetUp(calls_.set_up, op.handle(), at, workspace);
    } else {
      const auto nothing = [](const auto& call) { return call(); };
      return internal::SetUp(calls_.set_up, op.handle(), at, nothing);
    }
  }

 private:
  C calls_;
  Sizes sizes_;
};

template <class C, class... Sizes>
auto WithSizes(C calls, Sizes... sizes) {
  return Sized(calls, [=](const auto& call) { return call(sizes...); });
}

// --- operators with weights -------------------------------------------------------------

// create(parameters..., [caches of code and weights], op)
template <class... P, class... Parameters>
xnn_status CreateWeighted(xnn_status (*create)(P...), xnn_operator_t* op,
                          Parameters... parameters) {
  if constexpr (kReshapes) {
    return create(parameters..., nullptr, nullptr, op);
  } else {
    return create(parameters..., op);
  }
}

// i8 weights with a scale per output channel.
#ifdef WEFT_XNNPACK_RESHAPES
#define WEFT_XNN_CONVOLUTION_QC8 WEFT_XNN(convolution2d_nhwc_qs8_qc8w)
inline constexpr auto kCreateConvolutionQc8 = &xnn_create_convolution2d_nhwc_qs8_qc8w;
#else
#define WEFT_XNN_CONVOLUTION_QC8 WEFT_XNN(convolution2d_nhwc_qc8)
inline constexpr auto kCreateConvolutionQc8 = &xnn_create_convolution2d_nhwc_qc8;
#endif

// --- pools ------------------------------------------------------------------------------

// `window` is what create takes first; `bounds` and what else follows the channels, down to op.
template <class... P, size_t kWindow, class... Parameters>
xnn_status CreatePool(xnn_status (*create)(P...), xnn_operator_t* op, size_t channels,
                      const std::array<uint32_t, kWindow>& window, Parameters... parameters) {
  return std::apply(
      [&](auto... first) {
        if constexpr (kReshapes) {
          return create(first..., parameters..., op);
        } else {
          return create(first..., channels, channels, channels, parameters..., op);
        }
      },
      window);
}

template <class C>
auto PoolSizes(C calls, size_t n, size_t h, size_t w, size_t channels) {
  return Sized(calls, [=](const auto& call) {
    if constexpr (kReshapes) {
      return call(n, h, w, channels, channels, channels);
    } else {
      return call(n, h, w);
    }
  });
}

// The mean of [n, pixels, channels] over the pixels.
inline xnn_status CreateMeanOfPixels(xnn_operator_t* op, [[maybe_unused]] size_t channels) {
#ifdef WEFT_XNNPACK_RESHAPES
  return xnn_create_reduce_nd(xnn_reduce_mean, xnn_datatype_fp32, nullptr, nullptr, 0, op);
#else
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return xnn_create_global_average_pooling_nwc_f32(channels, channels, channels, -kInfinity,
                                                   kInfinity, 0, op);
#endif
}
#ifdef WEFT_XNNPACK_RESHAPES
// Reshaping asks for a workspace, but only narrower types are converted in it: f32 must have none.
inline xnn_status SetUpReduceF32(xnn_operator_t op, const void* x, void* y) {
  return xnn_setup_reduce_nd(op, nullptr, x, y);
}
#endif
inline auto MeanOfPixelsSizes(size_t n, size_t pixels, [[maybe_unused]] size_t channels) {
#ifdef WEFT_XNNPACK_RESHAPES
  const std::array<size_t, 3> dims = {n, pixels, channels};
  const Calls calls = {&xnn_reshape_reduce_nd, &SetUpReduceF32};
  return Sized(calls, [dims, axis = int64_t{1}](const auto& call) {
    return call(size_t{1}, &axis, dims.size(), dims.data());
  });
#else
  return WithSizes(WEFT_XNN(global_average_pooling_nwc_f32), n, pixels);
#endif
}

// --- rows -------------------------------------------------------------------------------

inline xnn_status CreateSoftmax(xnn_operator_t* op, [[maybe_unused]] size_t columns) {
#ifdef WEFT_XNNPACK_RESHAPES
  return xnn_create_softmax_nc_f32(0, op);
#else
  return xnn_create_softmax_nc_f32(columns, columns, columns, 0, op);
#endif
}
inline auto SoftmaxSizes(size_t rows, size_t columns) {
  return Sized(WEFT_XNN(softmax_nc_f32), [=](const auto& call) {
    if constexpr (kReshapes) {
      return call(columns, columns, columns, rows);
    } else {
      return call(rows);
    }
  });
}

// --- functions of f32 elements ----------------------------------------------------------

// WEFT_XNN_UNARY(abs), WEFT_XNN_BINARY(add): a function.
#ifdef WEFT_XNNPACK_RESHAPES
#define WEFT_XNN_UNARY(name) \
  ::weft::kernels::xnnpack::Function { xnn_unary_##name, WEFT_XNN(unary_elementwise_nc) }
#define WEFT_XNN_BINARY(name) \
  ::weft::kernels::xnnpack::Function { xnn_binary_##name, WEFT_XNN(binary_elementwise_nd) }
#else
#define WEFT_XNN_UNARY(name) \
  ::weft::kernels::xnnpack::Function { &xnn_create_##name##_nc_f32, WEFT_XNN(name##_nc_f32) }
#define WEFT_XNN_BINARY(name) \
  ::weft::kernels::xnnpack::Function { &xnn_create_##name##_nd_f32, WEFT_XNN(name##_nd_f32) }
#endif

template <class Which, class C>
struct Function {
  Which which;
  C calls;
};
template <class Which, class C>
Function(Which, C) -> Function<Which, C>;

// Of n elements; `parameters` are those of clamp (two bounds), elu and leaky_relu (a slope).
template <class F, class... Parameters>
xnn_status CreateUnary(const F& function, xnn_operator_t* op, [[maybe_unused]] size_t n,
                       Parameters... parameters) {
#ifdef WEFT_XNNPACK_RESHAPES
  xnn_unary_params params = {};
  if constexpr (sizeof...(parameters) == 2) {
    params.clamp = {parameters...};
  } else if constexpr (sizeof...(parameters) == 1) {
    if (function.which == xnn_unary_elu) {
      params.elu = {parameters...};
    } else {
      params.leaky_relu = {parameters...};
    }
  }
  return xnn_create_unary_elementwise_nc(function.which, xnn_datatype_fp32, xnn_datatype_fp32,
                                         &params, nullptr, nullptr, 0, op);
#else
  return function.which(n, n, n, parameters..., 0, op);
#endif
}
template <class F>
auto UnarySizes(const F& function, size_t n) {
  return Sized(function.calls, [=](const auto& call) {
    if constexpr (kReshapes) {
      return call(size_t{1}, n, n, n);
    } else {
      return call(size_t{1});
    }
  });
}

#ifdef WEFT_XNNPACK_RESHAPES
template <class C>
xnn_status CreateBinary(const Function<xnn_binary_operator, C>& function, xnn_operator_t* op) {
  return xnn_create_binary_elementwise_nd(function.which, xnn_datatype_fp32, nullptr, nullptr,
                                          nullptr, 0, op);
}
#else
// Sums, products and so on can be clamped, extrema cannot.
template <class C>
xnn_status CreateBinary(
    const Function<xnn_status (*)(float, float, uint32_t, xnn_operator_t*), C>& function,
    xnn_operator_t* op) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return function.which(-kInfinity, kInfinity, 0, op);
}
template <class C>
xnn_status CreateBinary(const Function<xnn_status (*)(uint32_t, xnn_operator_t*), C>& function,
                        xnn_operator_t* op) {
  return function.which(0, op);
}
#endif
template <class F>
auto BinarySizes(const F& function, std::vector<size_t> a, std::vector<size_t> b) {
  return Sized(function.calls, [a = std::move(a), b = std::move(b)](const auto& call) {
    return call(a.size(), a.data(), b.size(), b.data());
  });
}

}  // namespace weft::kernels::xnnpack
