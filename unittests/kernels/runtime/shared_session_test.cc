// What sessions of one program share, and when they may run at once.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "ir/dialects/onnx/control.h"
#include "kernels/available_cpus.h"
#include "unittests/ir/region_builder.h"
#include "unittests/kernels/run_op.h"
#include "unittests/kernels/runtime/session_fixture.h"
#include "unittests/sanitizers.h"

namespace weft::kernels {
namespace {

using ir::Value;

class SharedSessionTest : public SessionFixture {
 protected:
  // y = x . w . w, of a number of rows that each run says.
  Value TwoProducts() {
    const Value x = Input(F({ir::SymbolicDim("n"), 8}));
    const Value w = builder.ConstantFloats(ValuesOf<float>(Random({8, 8}, 1)), ir::Shape{8, 8});
    return builder.Make<ir::fused::Linear>({builder.Make<ir::fused::Linear>({x, w}), w});
  }
  static std::vector<float> RunOn(Session& session, const Tensor& x) {
    const auto y = session.Run({x.view()});
    EXPECT_TRUE(y.ok()) << y.status();
    return y.ok() ? ValuesOf<float>((*y)[0]) : std::vector<float>();
  }
};

TEST_F(SharedSessionTest, AForkSharesPackedWeightsAndGivesTheSameNumbers) {
  ASSERT_EQ(MakeSession({TwoProducts()}), "");
  const auto fork = session->Fork();
  ASSERT_TRUE(fork.ok()) << fork.status();
  const Tensor x = Random({3, 8}, 2);
  EXPECT_EQ(RunOn(**fork, x), RunOn(*session, x));
  EXPECT_EQ(session->num_packed_weights(), 1u);
  EXPECT_EQ((*fork)->num_packed_weights(), 1u);
  const auto again = (*fork)->Fork();
  session.reset();  // a fork needs nobody else
  EXPECT_EQ(RunOn(**again, x), RunOn(**fork, x));
}

TEST_F(SharedSessionTest, SessionsMayBeGivenTheWeightsThatOthersPacked) {
  builder.Return({{"y", TwoProducts()}});
  const auto packed = std::make_shared<PackedWeights>();
  const Tensor x = Random({3, 8}, 2);
  for (int i = 0; i < 2; ++i) {
    auto created = Session::Create(program, {.packed = packed});
    ASSERT_TRUE(created.ok()) << created.status();
    RunOn(**created, x);
  }
  EXPECT_EQ(packed->size(), 1u);
}

TEST_F(SharedSessionTest, WhatASessionComputesOfWeightsAndPacksGoesWithItAndItsForks) {
  const Value x = Input(F({ir::SymbolicDim("n"), 64}));
  const Value w = builder.ConstantFloats(ValuesOf<float>(Random({64, 64}, 1)), ir::Shape{64, 64});
  const Value turned = builder.Make<ir::ops::Transpose>({w}, {.perm = ir::Ints{1, 0}});
  builder.Return({{"y", builder.Make<ir::fused::Linear>({x, turned})}});
  const auto packed = std::make_shared<PackedWeights>();
  const Tensor rows = Random({3, 64}, 2);
  std::vector<float> first;
  for (int i = 0; i < 2; ++i) {
    auto session = std::move(Session::Create(program, {.packed = packed}).value());
    const auto fork = session->Fork();
    const std::vector<float> y = RunOn(*session, rows);
    session.reset();
    EXPECT_EQ(RunOn(**fork, rows), y);
    EXPECT_EQ((*fork)->num_packed_weights(), 1u);
    EXPECT_EQ(packed->size(), 0u);
    if (i == 0) first = y;
    EXPECT_EQ(y, first);
  }
}

TEST_F(SharedSessionTest, SessionsOfOneThreadPoolRunAtOnceAndGiveTheSameNumbers) {
  builder.Return({{"y", TwoProducts()}});
  const auto pool = std::make_shared<ThreadPool>(2);
  const Tensor x = Random({300, 8}, 2);
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<float> alone;
  for (int i = 0; i < 4; ++i) {
    auto created = Session::Create(program, {.pool = pool});
    ASSERT_TRUE(created.ok()) << created.status();
    EXPECT_EQ((*created)->num_threads(), 2);
    alone = RunOn(**created, x);
    sessions.push_back(std::move(*created));
  }
  std::vector<std::thread> threads;
  for (const auto& each : sessions) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) EXPECT_EQ(RunOn(*each, x), alone);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(SharedSessionTest, SessionsOfAllCpusShareTheirThreads) {
  if (AvailableCpus() < 2) GTEST_SKIP();
  builder.Return({{"y", TwoProducts()}});
  const auto create = [&](const SessionOptions& options) {
    return std::move(Session::Create(program, options).value());
  };
  const auto first = create({.threads = AvailableCpus()});
  EXPECT_EQ(create({.threads = AvailableCpus() + 1})->pool(), first->pool());
  EXPECT_NE(create({.threads = AvailableCpus(), .oversubscribe = true})->pool(), first->pool());
  EXPECT_NE(create({.threads = 1})->pool(), first->pool());
  if (kSanitized) return;      // they start no thread after a fork
  const pid_t child = fork();  // without the parent's threads
  if (child == 0) _exit(create({.threads = AvailableCpus()})->pool() == first->pool() ? 1 : 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(SharedSessionTest, IsReadyForShapesThatItHasRun) {
  ASSERT_EQ(MakeSession({TwoProducts()}), "");
  const Tensor x = Random({3, 8}, 2), longer = Random({4, 8}, 2);
  const std::vector<TensorView> of_x = {x.view()}, of_longer = {longer.view()};
  EXPECT_FALSE(session->IsReady(of_x));
  RunOn(*session, x);
  EXPECT_TRUE(session->IsReady(of_x));
  EXPECT_FALSE(session->IsReady(of_longer));
  EXPECT_FALSE(session->IsReady({}));
  EXPECT_FALSE((*session->Fork())->IsReady(of_x));
}

TEST_F(SharedSessionTest, IsNeverReadyWhereABranchMakesPlansAsItRuns) {
  const Value cond = Flag(), x = Input(F({2}));
  const ir::Operation op = ir::MakeWithRegions<ir::ops::If>(program, {cond}, 1);
  for (uint32_t i = 0; i < 2; ++i) {
    const ir::Block branch = ir::AddBlock(op, i, {});
    ir::ReturnFrom(branch, {ir::AtEndOf(branch).Make<ir::ops::Neg>({x})});
  }
  ASSERT_EQ(MakeSession({op.result()}), "");
  Tensor flag(ir::DataType::kBool, {}), two(ir::DataType::kF32, {2});
  const std::vector<TensorView> inputs = {flag.view(), two.view()};
  ASSERT_TRUE(session->Run(inputs).ok());
  EXPECT_FALSE(session->IsReady(inputs));
}

TEST_F(SharedSessionTest, StopsBeforeAnOperation) {
  ASSERT_EQ(MakeSession({TwoProducts()}), "");
  const Tensor x = Random({3, 8}, 2);
  int asked = 0;
  session->set_stop([&] { return ++asked == 2; });
  const auto stopped = session->Run({x.view()});
  EXPECT_EQ(stopped.status().code(), absl::StatusCode::kCancelled) << stopped.status();
  EXPECT_THAT(std::string(stopped.status().message()), testing::HasSubstr("fused.linear"));
  session->set_stop(nullptr);
  EXPECT_EQ(RunOn(*session, x).size(), 24u);
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace weft::kernels
