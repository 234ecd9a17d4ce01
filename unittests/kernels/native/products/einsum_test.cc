// Einsum by products of two against the reference, which has one loop per label.
#include <cmath>
#include <limits>

#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

struct Case {
  const char* equation;
  std::vector<ir::Shape> operands;
  ir::Shape result;
};

void Expect(const Case& c) {
  SCOPED_TRACE(c.equation);
  for (size_t constant = 0; constant <= c.operands.size(); ++constant) {  // one, or none
    std::vector<Operand> operands;
    for (size_t i = 0; i < c.operands.size(); ++i)
      operands.push_back({Random(c.operands[i], i + 1), i == constant});
    if (operands.size() == 1 && constant == 0) continue;  // is folded
    Agreement<ops::Einsum>(operands, {.equation = c.equation}, {FloatResult(c.result)})
        .Of("native", 2e-6);
  }
}

TEST(NativeEinsum, MultipliesMatrices) {
  Expect({"ij,jk->ik", {{5, 7}, {7, 9}}, {5, 9}});
  Expect({"ij,jk->ki", {{5, 7}, {7, 9}}, {9, 5}});
  Expect({"ji,kj->ik", {{7, 5}, {9, 7}}, {5, 9}});
  Expect({"ij,kj", {{5, 7}, {9, 7}}, {5, 9}});
  Expect({"bhid,bhjd->bhij", {{2, 3, 5, 7}, {2, 3, 9, 7}}, {2, 3, 5, 9}});
  Expect({"bihd,bjhd->bhij", {{2, 5, 3, 7}, {2, 9, 3, 7}}, {2, 3, 5, 9}});
  Expect({"bhqk,bkhd->bqhd", {{2, 3, 5, 7}, {2, 7, 3, 4}}, {2, 5, 3, 4}});
  Expect({"bsd,hdk->bshk", {{2, 5, 6}, {3, 6, 4}}, {2, 5, 3, 4}});
  Expect({"bshk,hkd->bsd", {{2, 5, 3, 4}, {3, 4, 6}}, {2, 5, 6}});
  Expect({"bij,cjk->bcik", {{2, 3, 4}, {5, 4, 6}}, {2, 5, 3, 6}});
  Expect({"iajb,bkac->cikj", {{2, 3, 4, 5}, {5, 6, 3, 7}}, {7, 2, 6, 4}});  // groups apart
  Expect({"tec,td->ecd", {{6, 2, 3}, {6, 5}}, {2, 3, 5}});
}

TEST(NativeEinsum, MultipliesVectorsAndElements) {
  Expect({"i,i->", {{9}, {9}}, {}});
  Expect({"i,j->ij", {{5}, {7}}, {5, 7}});
  Expect({"i,j->ji", {{5}, {7}}, {7, 5}});
  Expect({"bij,bi->bj", {{3, 5, 7}, {3, 5}}, {3, 7}});
  Expect({"bij,bj->bi", {{3, 5, 7}, {3, 7}}, {3, 5}});
  Expect({"bi,bi->b", {{3, 5}, {3, 5}}, {3}});
  Expect({"bi,bi->bi", {{3, 5}, {3, 5}}, {3, 5}});
  Expect({"bthd,td->bthd", {{2, 3, 4, 5}, {3, 5}}, {2, 3, 4, 5}});
  Expect({"ij,ij->", {{3, 5}, {3, 5}}, {}});
  Expect({"ij,ji->", {{3, 5}, {5, 3}}, {}});
  Expect({"ij,ij->ji", {{3, 5}, {3, 5}}, {5, 3}});
  Expect({",ij->ij", {{}, {3, 5}}, {3, 5}});
}

TEST(NativeEinsum, SumsAndWalksDiagonals) {
  Expect({"ij->j", {{5, 7}}, {7}});
  Expect({"ij->", {{5, 7}}, {}});
  Expect({"ijk->ki", {{3, 5, 7}}, {7, 3}});
  Expect({"ii->i", {{7, 7}}, {7}});
  Expect({"ii", {{7, 7}}, {}});
  Expect({"iii->i", {{5, 5, 5}}, {5}});
  Expect({"bii->bi", {{3, 5, 5}}, {3, 5}});
  Expect({"ibi->bi", {{5, 3, 5}}, {3, 5}});
  Expect({"ijij->ji", {{3, 4, 3, 4}}, {4, 3}});
  Expect({"iij,jk->ik", {{3, 3, 5}, {5, 4}}, {3, 4}});
  Expect({"ij,k->i", {{3, 5}, {4}}, {3}});  // sums of each alone
}

TEST(NativeEinsum, MultipliesThreeAndMoreInTheCheapestOrder) {
  Expect({"ij,jk,kl->il", {{5, 7}, {7, 9}, {9, 4}}, {5, 4}});
  Expect({"ab,bc,cd,de->ae", {{5, 7}, {7, 9}, {9, 4}, {4, 6}}, {5, 6}});
  Expect({"bi,ij,bj->b", {{3, 5}, {5, 7}, {3, 7}}, {3}});
  Expect({"bi,oij,bj->bo", {{3, 5}, {4, 5, 7}, {3, 7}}, {3, 4}});
  Expect({"ir,jr,r->ij", {{5, 4}, {6, 4}, {4}}, {5, 6}});
  Expect({"ir,jr,kr->ijk", {{5, 4}, {6, 4}, {7, 4}}, {5, 6, 7}});
  Expect({"i,j,k->", {{5}, {6}, {7}}, {}});
  Expect({"td,edf,te->tf", {{5, 7}, {3, 7, 4}, {5, 3}}, {5, 4}});
  Expect({"a,a,a,a,a,a->a", {{5}, {5}, {5}, {5}, {5}, {5}}, {5}});
}

TEST(NativeEinsum, BroadcastsAndReadsEllipses) {
  Expect({"...ij,...jk->...ik", {{2, 3, 4, 5}, {3, 5, 6}}, {2, 3, 4, 6}});
  Expect({"...ij,...jk->...ik", {{2, 1, 4, 5}, {2, 3, 5, 6}}, {2, 3, 4, 6}});
  Expect({"...,...", {{2, 3}, {3}}, {2, 3}});
  Expect({"i...->...", {{5, 2, 3}}, {2, 3}});
  Expect({"ij,jk->ik", {{5, 1}, {7, 9}}, {5, 9}});
  Expect({"bi,bi->bi", {{1, 5}, {3, 1}}, {3, 5}});
  Expect({"ij,jk->ik", {{1, 7}, {7, 1}}, {1, 1}});
  Expect({"ii->i", {{1, 1}}, {1}});
  Expect({"i,i->", {{1}, {1}}, {}});
}

TEST(NativeEinsum, HasOtherTypesBitForBit) {
  AgreementOf(
      OpProgram::Make<ops::Einsum>({F64({2, 2}, {0.1, 2, 3, 4}), F64({2, 2}, {5, 6, 0.7, 8})},
                                   {.equation = "ij,jk->ik"}, {{DataType::kF64, {2, 2}}}))
      .Of("native", 0);
  const int64_t big = int64_t{1} << 62;
  AgreementOf(
      OpProgram::Make<ops::Einsum>({I64({2, 2}, {big, 3, -7, big + 1}),
                                    I64({2, 3}, {4, 5, 6, 7, -8, big}), I64({3}, {big, 2, 3})},
                                   {.equation = "ij,jk,k->i"}, {{DataType::kI64, {2}}}))
      .Of("native", 0);
}

TEST(NativeEinsum, KeepsWhatIsNotFinite) {
  Tensor a = Random({3, 5}, 1);
  a.values<float>()[2] = std::numeric_limits<float>::infinity();
  a.values<float>()[6] = std::nanf("");
  Agreement<ops::Einsum>({std::move(a), Random({5, 4}, 2), Random({4, 6}, 3)},
                         {.equation = "ij,jk,kl->il"}, {FloatResult({3, 6})})
      .Of("native", 2e-6);
}

TEST(NativeEinsum, LeavesOtherTypesAndEmptyTensorsToTheReference) {
  Agreement<ops::Einsum>({MakeTensor<int8_t>(DataType::kI8, {2}, {100, 3}),
                          MakeTensor<int8_t>(DataType::kI8, {2}, {2, 5})},
                         {.equation = "i,i->i"}, {{DataType::kI8, {2}}})
      .Of("reference");
  Agreement<ops::Einsum>({F32({2, 0}, {}), F32({0, 3}, {})}, {.equation = "ij,jk->ik"},
                         {FloatResult({2, 3})})
      .Of("reference");
}

// Of which every order has a product of 10^10 elements on its way.
TEST(NativeEinsum, DoesNotMakeHugeProducts) {
  const OpProgram program = OpProgram::Make<ops::Einsum>(
      {Random({100, 20000}, 1), Random({200, 20000}, 2), Random({200, 20000}, 3)},
      {.equation = "ai,bi,ci->abc"}, {FloatResult({100, 200, 200})});
  EXPECT_EQ(program.ProviderOf({.provider = "auto"}), "reference");
}

}  // namespace
}  // namespace weft::kernels
