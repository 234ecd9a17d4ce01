"""How torch's newer exporter spells what its older one spells otherwise, as edits of a graph; each says
before => after. `respell` applies those that the opset has, and in subgraphs too.
"""
import math

import numpy as np

from graph_editor import Editor, attribute, remove_attribute, set_attribute

REDUCTIONS = ('ReduceMean', 'ReduceMax', 'ReduceMin', 'ReduceProd', 'ReduceL1', 'ReduceL2',
              'ReduceLogSum', 'ReduceLogSumExp', 'ReduceSumSquare')


def constants_as_initializers(editor):
    """Constant nodes => initializers."""
    kept = []
    for node in editor.nodes:
        value = attribute(node, 'value')
        if node.op_type == 'Constant' and value is not None:
            value.t.name = node.output[0]
            editor.add_initializer(value.t)
        else:
            kept.append(node)
    editor.nodes = kept
    editor.refresh()


def reduction_axes(editor):
    """ReduceMean {axes} (x) => ReduceMean (x, axes), what opset 18 requires."""
    for node in list(editor.nodes):
        if node.op_type not in REDUCTIONS:
            continue
        axes = attribute(node, 'axes')
        if axes is not None:
            node.input.append(editor.add_constant('val_axes', np.array(axes.ints, np.int64)))
            remove_attribute(node, 'axes')
        set_attribute(editor.pb, node, 'noop_with_empty_axes', 0)
    editor.refresh()


def split_outputs(editor):
    """Split (x, [n, n, n]) or (x) => Split {num_outputs} (x)."""
    for node in editor.nodes:
        if node.op_type != 'Split':
            continue
        sizes = editor.constants.get(node.input[1]) if len(node.input) > 1 else None
        if len(node.input) < 2 or (sizes is not None and len(set(sizes.tolist())) == 1):
            del node.input[1:]
            set_attribute(editor.pb, node, 'num_outputs', len(node.output))
    editor.refresh()


def partial_shapes(editor):
    """Unsqueeze(Gather(Shape(x), i)) => Shape {start:i,end:i+1} (x); a scalar through Squeeze."""
    for node in list(editor.nodes):
        if node.op_type != 'Gather':
            continue
        shape, index = editor.maker(node.input[0], 'Shape'), editor.scalar(node.input[1])
        if shape is None or index is None or editor.constants[node.input[1]].ndim:
            continue
        bounds = {'start': index} if index == -1 else {'start': index, 'end': index + 1}
        name = node.output[0]
        part = editor.make('Shape', shape.input, [name + '_dim'], **bounds)
        part.name = node.name
        squeeze = editor.make('Squeeze', [name + '_dim'], [name])
        editor.replace(node, [part, squeeze])
    for node in list(editor.nodes):
        squeeze = editor.maker(node.input[0], 'Squeeze') if node.op_type == 'Unsqueeze' else None
        if squeeze is not None and squeeze.input[0].endswith('_dim'):
            editor.rewire(node.output[0], squeeze.input[0])


def expand_targets(editor):
    """Expand(x, Where(target == -1, 1, target)) => Expand(x, target) where no part of it is -1."""
    for node in list(editor.nodes):
        where = editor.maker(node.input[1], 'Where') if node.op_type == 'Expand' else None
        reshape = where and editor.maker(where.input[2], 'Reshape')
        concat = reshape and editor.maker(reshape.input[0], 'Concat')
        if not concat:
            continue
        parts = [editor.constants.get(name) for name in concat.input]
        if all(part is None or (part > 0).all() for part in parts):
            node.input[1] = concat.output[0]
    editor.refresh()


def layer_normalization(editor):
    """ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div, Mul, Add => LayerNormalization."""
    for node in list(editor.nodes):
        scaled = editor.maker(node.input[0], 'Mul') if node.op_type == 'Add' else None
        normal = scaled and editor.maker(scaled.input[0], 'Div')
        root = normal and editor.maker(normal.input[1], 'Sqrt')
        centred = normal and editor.maker(normal.input[0], 'Sub')
        shifted = root and editor.maker(root.input[0], 'Add')
        variance = shifted and editor.maker(shifted.input[0], 'ReduceMean')
        if not (variance and centred and editor.maker(centred.input[1], 'ReduceMean')):
            continue
        epsilon = editor.scalar(shifted.input[1])
        new = editor.make('LayerNormalization', [centred.input[0], scaled.input[1], node.input[1]],
                          [node.output[0]], axis=-1, epsilon=float(epsilon), stash_type=1)
        new.name = node.name
        editor.replace(node, [new])


def close(value, expected):
    return value is not None and math.isclose(value, expected, rel_tol=1e-5)


def erf_gelu(editor):
    """x * (1 + Erf(x / sqrt(2))) * 0.5 => Gelu, of opset 20."""
    for node in list(editor.nodes):
        product = editor.maker(node.input[0], 'Mul') if node.op_type == 'Mul' else None
        plus = product and editor.maker(product.input[1], 'Add')
        erf = plus and editor.maker(plus.input[0], 'Erf')
        scaled = erf and editor.maker(erf.input[0], 'Div')
        if scaled and close(editor.scalar(node.input[1]), 0.5) and \
                close(editor.scalar(scaled.input[1]), math.sqrt(2)) and \
                scaled.input[0] == product.input[0]:
            new = editor.make('Gelu', [product.input[0]], [node.output[0]], approximate='none')
            new.name = node.name
            editor.replace(node, [new])


def tanh_gelu(editor):
    """0.5 x (1 + Tanh(sqrt(2/pi) (x + 0.044715 x^3))) => Gelu {approximate:tanh}, of opset 20."""
    for node in list(editor.nodes):
        half = editor.maker(node.input[0], 'Mul') if node.op_type == 'Mul' else None
        plus = editor.maker(node.input[1], 'Add') if half else None
        tanh = plus and editor.maker(plus.input[0], 'Tanh')
        scaled = tanh and editor.maker(tanh.input[0], 'Mul')
        if scaled and close(editor.scalar(half.input[1]), 0.5) and \
                close(editor.scalar(scaled.input[1]), math.sqrt(2 / math.pi)):
            new = editor.make('Gelu', [half.input[0]], [node.output[0]], approximate='tanh')
            new.name = node.name
            editor.replace(node, [new])


def group_normalization(editor):
    """Reshape, InstanceNormalization, Reshape, Mul, Add => GroupNormalization, of opset 21."""
    for node in list(editor.nodes):
        scaled = editor.maker(node.input[0], 'Mul') if node.op_type == 'Add' else None
        back = scaled and editor.maker(scaled.input[0], 'Reshape')
        normal = back and editor.maker(back.input[0], 'InstanceNormalization')
        apart = normal and editor.maker(normal.input[0], 'Reshape')
        if not apart:
            continue
        groups = int(editor.constants[apart.input[1]][1])
        weights = [editor.add_constant('val_norm', editor.constants[name].reshape(-1))
                   for name in (scaled.input[1], node.input[1])]
        new = editor.make('GroupNormalization', [apart.input[0], *weights], [node.output[0]],
                          epsilon=attribute(normal, 'epsilon').f, num_groups=groups, stash_type=1)
        new.name = node.name
        editor.replace(node, [new])


def attributes_of_18(editor):
    """Resize and Reshape with the attributes that later opsets gave them."""
    for node in editor.nodes:
        if node.op_type == 'Resize':
            remove_attribute(node, 'cubic_coeff_a')
            set_attribute(editor.pb, node, 'antialias', 0)
            set_attribute(editor.pb, node, 'keep_aspect_ratio_policy', 'stretch')
        elif node.op_type == 'Reshape':
            target = editor.constants.get(node.input[1])
            if target is not None and target.size and (target != 0).all():
                set_attribute(editor.pb, node, 'allowzero', 1)


def scalars_of_a_type(editor):
    """x * 0.5 => x * CastLike(0.5, x), as scalars of Python become tensors."""
    for node in list(editor.nodes):
        if node.op_type not in ('Mul', 'Add', 'Sub', 'Div', 'Pow'):
            continue
        value = editor.constants.get(node.input[1])
        if value is None or value.ndim or value.dtype != np.float32:
            continue
        name = node.output[0] + '_scalar'
        new = editor.make(node.op_type, [node.input[0], name], node.output)
        new.name = node.name
        editor.replace(node, [editor.make('CastLike', [node.input[1], node.input[0]], [name]), new])


def respell(pb, graph, opset, outer=()):
    editor = Editor(pb, graph, outer)
    edits = [constants_as_initializers, partial_shapes, expand_targets, layer_normalization,
             reduction_axes, split_outputs, attributes_of_18]
    if opset >= 20:
        edits += [erf_gelu, tanh_gelu]
    if opset >= 21:
        edits += [group_normalization]
    edits += [scalars_of_a_type]
    for edit in edits:
        edit(editor)
    for node in editor.nodes:
        for inner in node.attribute:
            if inner.HasField('g'):
                respell(pb, inner.g, opset, editor.constants)
    editor.refresh()
    editor.store()
