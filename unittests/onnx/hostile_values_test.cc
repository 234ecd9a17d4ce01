// Tensors, types and attributes that contradict themselves.
#include "unittests/onnx/hostile_test_util.h"

namespace weft::onnx {
namespace {

using Attr = pb::AttributeProto;
using Tensor = pb::TensorProto;

// --- tensors --------------------------------------------------------------------------

void ExpectTensorRefused(int type, const std::vector<int64_t>& dims,
                         const std::function<void(Tensor*)>& fill, const std::string& expected) {
  ExpectModelRefused(
      [&](ModelBuilder& m) {
        Tensor* tensor = m.graph()->add_initializer();
        tensor->set_name("w");
        tensor->set_data_type(type);
        for (int64_t d : dims) tensor->add_dims(d);
        fill(tensor);
      },
      "initializer 'w': " + expected);
}

TEST(HostileTensor, Dims) {
  const auto none = [](Tensor*) {};
  const int64_t large = int64_t{1} << 40;
  ExpectTensorRefused(Tensor::FLOAT, {-1}, none, "has a dimension of size -1");
  ExpectTensorRefused(Tensor::FLOAT, {INT64_MIN}, none, "has a dimension of size -92");
  ExpectTensorRefused(Tensor::FLOAT, {large, large}, none, "has more than 2^63 bytes");
  ExpectTensorRefused(Tensor::FLOAT, {0, large, large}, none, "has more than 2^63 bytes");
  ExpectTensorRefused(Tensor::FLOAT, {INT64_MAX}, none, "has more than 2^63 bytes");
  ExpectTensorRefused(Tensor::FLOAT, {large}, none,
                      "holds 0 elements of f32 but its type needs 1099511627776");
  ExpectTensorRefused(Tensor::FLOAT, std::vector<int64_t>(65, 1), none,
                      "has rank 65, more than the limit of 64");
}

TEST(HostileTensor, ContentsThatDoNotFit) {
  const int64_t large = int64_t{1} << 40;
  ExpectTensorRefused(
      Tensor::FLOAT, {2}, [](auto* t) { t->set_raw_data("1234567"); },
      "holds 7 bytes but its type needs 8");
  ExpectTensorRefused(
      Tensor::FLOAT, {1}, [](auto* t) { t->set_raw_data("12345678"); },
      "holds 8 bytes but its type needs 4");
  ExpectTensorRefused(
      Tensor::FLOAT, {large}, [](auto* t) { t->set_raw_data("1234"); },
      "holds 4 bytes but its type needs 4398046511104");
  ExpectTensorRefused(
      Tensor::FLOAT, {2}, [](auto* t) { t->add_float_data(1); }, "holds 1 elements of f32");
  ExpectTensorRefused(
      Tensor::COMPLEX64, {1}, [](auto* t) { t->add_float_data(1); }, "holds -1 elements of c64");
  ExpectTensorRefused(
      Tensor::FLOAT, {1}, [](auto* t) { t->add_int32_data(1); }, "holds 0 elements of f32");
  ExpectTensorRefused(
      Tensor::INT8, {1}, [](auto* t) { t->add_int32_data(300); }, "holds a value that is no i8");
  ExpectTensorRefused(
      Tensor::UINT32, {1}, [](auto* t) { t->add_uint64_data(UINT64_MAX); },
      "holds a value that is no u32");
  ExpectTensorRefused(
      Tensor::BOOL, {2}, [](auto* t) { t->set_raw_data("\x01\x07"); },
      "a bool is 7, expected 0 or 1");
  ExpectTensorRefused(
      Tensor::FLOAT, {1},
      [](auto* t) {
        t->set_raw_data("1234");
        t->add_float_data(1);
      },
      "has its data in more than one field");
}

TEST(HostileTensor, Types) {
  const auto none = [](Tensor*) {};
  ExpectTensorRefused(0, {1}, none, "element type 0 does not exist");
  ExpectTensorRefused(99, {1}, none, "element type 99 does not exist");
  ExpectTensorRefused(-1, {1}, none, "element type -1 does not exist");
  ExpectTensorRefused(
      Tensor::STRING, {1}, [](auto* t) { t->set_raw_data("abcd"); },
      "a string tensor has raw_data");
  ExpectTensorRefused(
      Tensor::STRING, {2}, [](auto* t) { t->add_string_data("a"); },
      "holds 1 strings but its type needs 2");
  ExpectTensorRefused(Tensor::STRING, {int64_t{1} << 40}, none, "holds 0 strings");
}

// --- types and attributes ---------------------------------------------------------------

TEST(HostileType, ShapesOfValues) {
  ExpectModelRefused(
      [](auto& m) {
        m.Input("z", {});
        auto* shape =
            m.graph()->mutable_input(1)->mutable_type()->mutable_tensor_type()->mutable_shape();
        shape->add_dim()->set_dim_value(-5);
      },
      "type of 'z': has a dimension of size -5");
  ExpectModelRefused([](auto& m) { m.Input("z", std::vector<int64_t>(65, 1)); },
                     "a shape has more than 64 dimensions");
  ExpectModelRefused(
      [](auto& m) {
        m.Input("z", {INT64_MAX, INT64_MAX});
      },
      "type of 'z': has more than 2^63 bytes");
  ExpectModelRefused([](auto& m) { m.Input("z", {1}, 77); }, "element type 77 does not exist");
}

TEST(HostileType, NestedTooDeep) {
  ExpectModelRefused(
      [](auto& m) {
        auto* type = m.graph()->add_input()->mutable_type();
        m.graph()->mutable_input(1)->set_name("z");
        for (int i = 0; i < 40; ++i) type = type->mutable_sequence_type()->mutable_elem_type();
      },
      "types are nested deeper than 16");
}

void ExpectAttributeRefused(const std::function<void(pb::NodeProto*)>& set,
                            const std::string& expected) {
  ExpectModelRefused(
      [&](ModelBuilder& m) {
        auto* node = m.Node("LeakyRelu", {"x"}, {"z"});
        set(node);
      },
      expected);
}

TEST(HostileAttribute, ThatContradictItself) {
  ExpectAttributeRefused([](auto* n) { SetFloat(n, "", 1); }, "bad name ''");
  ExpectAttributeRefused(
      [](auto* n) {
        SetFloat(n, "alpha", 1);
        SetFloat(n, "alpha", 1);
      },
      "attribute 'alpha' is given twice");
  ExpectAttributeRefused([](auto* n) { AddAttribute(n, "alpha", Attr::FLOAT)->set_i(1); },
                         "attribute 'alpha' is tagged as FLOAT but holds INT");
  ExpectAttributeRefused(
      [](auto* n) {
        auto* attribute = AddAttribute(n, "alpha", Attr::FLOAT);
        attribute->set_f(1);
        attribute->set_s("1");
      },
      "attribute 'alpha' has more than one value");
  ExpectAttributeRefused([](auto* n) { n->add_attribute()->set_name("alpha"); },
                         "attribute 'alpha' has no value");
  ExpectAttributeRefused([](auto* n) { AddAttribute(n, "alpha", Attr::TENSOR); },
                         "attribute 'alpha' has no value");
  ExpectAttributeRefused([](auto* n) { AddAttribute(n, "alpha", Attr::GRAPH); },
                         "attribute 'alpha' has no value");
  ExpectAttributeRefused(
      [](auto* n) { AddAttribute(n, "alpha", Attr::FLOAT)->set_ref_attr_name("a"); },
      "refers to 'a' outside of a function");
}

TEST(HostileAttribute, OfTheWrongKind) {
  ExpectAttributeRefused([](auto* n) { SetInt(n, "alpha", 1); },
                         "attribute alpha is 1, expected float");
  ExpectModelRefused([](auto& m) { SetInt(m.Node("Cast", {"x"}, {"z"}), "to", 99); },
                     "attribute to is 99, expected element type");
  ExpectModelRefused([](auto& m) { m.Node("Cast", {"x"}, {"z"}); },
                     "attribute to is required but not given");
  ExpectModelRefused(
      [](auto& m) {
        m.Input("i", {1, 1, 4, 4});
        auto* node = m.Node("MaxPool", {"i"}, {"z"});
        SetInts(node, "kernel_shape", {2, 2});
        SetString(node, "auto_pad", "SAME_UPPERMOST");
      },
      "attribute auto_pad is 'SAME_UPPERMOST', expected one of NOTSET");
  ExpectModelRefused(
      [](auto& m) {
        m.Input("i", {1, 1, 4, 4});
        auto* node = m.Node("MaxPool", {"i"}, {"z"});
        SetInts(node, "kernel_shape", {2, 2});
        SetInts(node, "strides", {0, 0});
      },
      "onnx.MaxPool");
  ExpectModelRefused([](auto& m) { m.Node("Constant", {}, {"z"}); },
                     "a constant has 0 values, expected 1");
  ExpectModelRefused([](auto& m) { SetInt(m.Node("Constant", {}, {"z"}), "value", 3); },
                     "attribute 'value' is no constant");
}

}  // namespace
}  // namespace weft::onnx
