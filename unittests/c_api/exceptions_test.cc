// No exception of a callback's gets through the C API.
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>

#include "weft/c_api.h"

namespace {

constexpr const char* kRelu =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<3xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<3xf32>) -> tensor<3xf32>
 () = "builtin.return" (%1) {} : (tensor<3xf32>) -> 
}
)";

class ExceptionsTest : public testing::Test {
 protected:
  ExceptionsTest() { EXPECT_EQ(weft_model_from_text(kRelu, nullptr, &model_), WEFT_OK); }
  ~ExceptionsTest() override { weft_model_free(model_); }

  weft_code OptimizeWith(void (*progress)(void*, const weft_progress*)) {
    weft_optimize_options options = {};
    options.size = sizeof(options);
    options.progress = progress;
    return weft_model_optimize(model_, &options, nullptr);
  }

  weft_model* model_ = nullptr;
};

TEST_F(ExceptionsTest, BecomeCodesAndALine) {
  EXPECT_EQ(OptimizeWith([](void*, const weft_progress*) { throw std::runtime_error("a\nb"); }),
            WEFT_INTERNAL);
  EXPECT_EQ(weft_error_message(), std::string("a b"));
  EXPECT_EQ(OptimizeWith([](void*, const weft_progress*) { throw std::bad_alloc(); }),
            WEFT_RESOURCE_EXHAUSTED);
  EXPECT_EQ(weft_error_message(), std::string("not enough memory"));
  EXPECT_EQ(OptimizeWith([](void*, const weft_progress*) { throw 7; }), WEFT_INTERNAL);
  EXPECT_EQ(weft_error_message(), std::string("an exception that is no std::exception"));
  EXPECT_EQ(OptimizeWith(nullptr), WEFT_OK);  // the model is as good as before
}

TEST_F(ExceptionsTest, OfARunLeaveTheSessionAsItWas) {
  weft_session* session = nullptr;
  ASSERT_EQ(weft_session_create(model_, nullptr, &session), WEFT_OK) << weft_error_message();
  const int64_t dims[] = {3};
  const float values[] = {-1, 0, 2};
  weft_tensor x = {};
  x.size = sizeof(x);
  x.name = "x";
  x.dims = dims;
  x.rank = 1;
  x.data = values;
  x.num_bytes = sizeof(values);
  x.dtype = WEFT_F32;
  weft_run_options options = {};
  options.size = sizeof(options);
  options.stop = [](void*) -> int { throw std::bad_alloc(); };
  weft_outputs* outputs = nullptr;
  EXPECT_EQ(weft_session_run(session, &x, 1, &options, &outputs), WEFT_RESOURCE_EXHAUSTED);
  EXPECT_EQ(outputs, nullptr);
  ASSERT_EQ(weft_session_run(session, &x, 1, nullptr, &outputs), WEFT_OK) << weft_error_message();
  EXPECT_EQ(static_cast<const float*>(weft_outputs_at(outputs, 0)->data)[2], 2);
  weft_outputs_free(outputs);
  weft_session_free(session);
}

}  // namespace
