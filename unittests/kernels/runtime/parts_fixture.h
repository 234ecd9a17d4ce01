// Programs whose tensors are parts of others: what a session gives that leaves them where they are must be what the
// reference kernels give, which copy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "passes/pass_manager.h"
#include "passes/pass_registry.h"
#include "unittests/kernels/run_op.h"
#include "unittests/kernels/runtime/session_fixture.h"

namespace weft::kernels {

class PartsFixture : public SessionFixture {
 protected:
  ir::Value Weights(const ir::Shape& dims, uint32_t seed) {
    const Tensor random = Random(dims, seed);
    return builder.Constant(
        context.DenseAttr(F(dims), {random.view().data, random.view().NumBytes()}));
  }

  // The plan of a session of the program that ends with these outputs, after the pass if there is one and two runs on
  // random inputs. Null, and a failure, where there is none.
  Plan* Run(const std::vector<ir::Value>& outputs, const std::vector<ir::Shape>& inputs,
            std::string_view pass = "") {
    EXPECT_EQ(MakeSession(outputs), "");
    if (session == nullptr) return nullptr;
    if (!pass.empty()) {
      passes::PassManager pm(&context);
      pm.AddPass(passes::MakePass(pass));
      EXPECT_TRUE(pm.Run(program).ok());
      session = Load({.provider = "auto"});
    }
    std::vector<Tensor> tensors;
    std::vector<TensorView> views;
    for (const ir::Shape& shape : inputs) tensors.push_back(Random(shape, tensors.size()));
    for (const Tensor& tensor : tensors) views.push_back(tensor.view());
    const auto expected = Load()->Run(views);
    EXPECT_TRUE(expected.ok()) << expected.status();
    for (int run = 0; run < 2; ++run) {
      const auto actual = session->Run(views);
      EXPECT_TRUE(actual.ok()) << actual.status();
      for (size_t i = 0; i < expected->size(); ++i) {
        const auto want = (*expected)[i].view().values<float>();
        const auto got = (*actual)[i].view().values<float>();
        for (size_t k = 0; k < want.size(); ++k)
          EXPECT_NEAR(got[k], want[k], 1e-5 * std::max(1.0f, want[k])) << i << " " << k;
      }
    }
    return PlanOf(*session, inputs);
  }
};

}  // namespace weft::kernels
