"""Models that the tests share."""
import os

BERT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models", "bert_tiny.onnx")

# sum = a + b and difference = a - b
SUMS = '''module {input_names:strings["a","b"],output_names:strings["sum","difference"]} (%0: tensor<"N"x2xf32>, %1: tensor<"N"x2xf32>) {
 (%2) = "onnx.Add" (%0, %1) {} : (tensor<"N"x2xf32>, tensor<"N"x2xf32>) -> tensor<"N"x2xf32>
 (%3) = "onnx.Sub" (%0, %1) {} : (tensor<"N"x2xf32>, tensor<"N"x2xf32>) -> tensor<"N"x2xf32>
 () = "builtin.return" (%2, %3) {} : (tensor<"N"x2xf32>, tensor<"N"x2xf32>) -> 
}
'''
# y = relu(relu(x))
RELUS = '''module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<"N"x3xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<"N"x3xf32>) -> tensor<"N"x3xf32>
 (%2) = "onnx.Relu" (%1) {} : (tensor<"N"x3xf32>) -> tensor<"N"x3xf32>
 () = "builtin.return" (%2) {} : (tensor<"N"x3xf32>) -> 
}
'''
# A sequence of x and twice x, and an optional without an element; and what takes those
MAKE = '''module {input_names:strings["x"],output_names:strings["s","o"]} (%0: tensor<2xf32>) {
 (%1) = "onnx.Add" (%0, %0) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
 (%2) = "onnx.SequenceConstruct" (%0, %1) {} : (tensor<2xf32>, tensor<2xf32>) -> seq<tensor<2xf32>>
 (%3) = "onnx.Optional" () {type:type<tensor<f32>>} : () -> optional<tensor<f32>>
 () = "builtin.return" (%2, %3) {} : (seq<tensor<2xf32>>, optional<tensor<f32>>) ->
}
'''
TAKE = '''module {input_names:strings["s","o"],output_names:strings["has","all"]} (%0: seq<tensor<?xf32>>, %1: optional<tensor<f32>>) {
 (%2) = "onnx.OptionalHasElement" (%1) {} : (optional<tensor<f32>>) -> tensor<bool>
 (%3) = "onnx.ConcatFromSequence" (%0) {axis:0} : (seq<tensor<?xf32>>) -> tensor<?xf32>
 () = "builtin.return" (%2, %3) {} : (tensor<bool>, tensor<?xf32>) ->
}
'''
WRONG_RULE = '''rule relu-to-tanh {
  numerics exact
  source { %0 = onnx.Relu(%x) }
  result { !0 = onnx.Tanh(%x) }
  replace %0 with !0
}
'''


def tanhs(count):
    """y = tanh(... tanh(x)), an operation each."""
    lines = [f' (%{i + 1}) = "onnx.Tanh" (%{i}) {{}} : (tensor<"N"xf32>) -> tensor<"N"xf32>' for i in range(count)]
    return '\n'.join(['module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<"N"xf32>) {', *lines,
                      f' () = "builtin.return" (%{count}) {{}} : (tensor<"N"xf32>) -> ', '}', ''])


def identity(type_):
    return f'''module {{input_names:strings["x"],output_names:strings["y"]}} (%0: {type_}) {{
 (%1) = "onnx.Identity" (%0) {{}} : ({type_}) -> {type_}
 () = "builtin.return" (%1) {{}} : ({type_}) -> 
}}
'''
