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
WRONG_RULE = '''rule relu-to-tanh {
  numerics exact
  source { %0 = onnx.Relu(%x) }
  result { !0 = onnx.Tanh(%x) }
  replace %0 with !0
}
'''


def identity(type_):
    return f'''module {{input_names:strings["x"],output_names:strings["y"]}} (%0: {type_}) {{
 (%1) = "onnx.Identity" (%0) {{}} : ({type_}) -> {type_}
 () = "builtin.return" (%1) {{}} : ({type_}) -> 
}}
'''
