#!/usr/bin/python3
"""Exports the small modules of gallery/ to ONNX: what torch itself writes of each.

  benchmarks/models/export_gallery.py [-o DIR] [--list] [NAME...]

NAME is a part of an example's name, or a subject (attention, norms, activations, images, tokens). Of each:

  DIR/NAME.13.onnx, .17.onnx              as torch exports it, in a few cases of other opsets
  DIR/NAME.18.onnx, .22.onnx              raised, in the spelling of its newer exporter (raise_opset.py)
  DIR/NAME.dynamic.{13,17,18,22}.onnx     the same with dynamic axes, where sizes are free

DIR is build/models/gallery of this checkout unless given. How many nodes we leave of them, and ONNX Runtime:

  benchmarks/peers/simplify/against_ort.js --gallery build/models/gallery gallery/

Needs what export.py needs. What torch cannot export is named on stderr; exit 1 then. The weights are random from
a fixed seed, so a run with the same package versions writes the same bytes.
"""
import argparse
import io
import pathlib
import sys
import warnings

import onnx
import torch

import gallery
import raise_opset

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
RAISED_TO = (18, 22)


def parse_arguments():
    parser = argparse.ArgumentParser(description='Exports the small modules of gallery/ to ONNX.')
    parser.add_argument('names', nargs='*', metavar='NAME', help='part of a name, or a subject (default: all)')
    parser.add_argument('-o', '--output', type=pathlib.Path, metavar='DIR',
                        default=REPOSITORY / 'build' / 'models' / 'gallery',
                        help='folder to write to (default: build/models/gallery)')
    parser.add_argument('--list', action='store_true', help='print the names and exit')
    return parser.parse_args()


def outputs_of(module, inputs):
    outputs = module(*inputs)
    return outputs if isinstance(outputs, (tuple, list)) else (outputs,)


def free_axes(example, module):
    """The dynamic axes of inputs and outputs. An axis of an output is free if its size differs between inputs of
    two sizes; it has the name of the input's axis that it follows, if one does."""
    names = {name: size for value in example.inputs for name, size in zip(value.names, value.sizes) if name}
    few, more = (outputs_of(module, [value.draw(step) for value in example.inputs]) for step in (0, 2))
    axes = {f'in_{i}': value.axes() for i, value in enumerate(example.inputs) if value.axes()}
    for i, (small, large) in enumerate(zip(few, more)):
        sizes = list(zip(small.shape, large.shape))
        free = {axis: next((name for name, size in names.items() if (size, size + 2) == pair), f'size_{i}_{axis}')
                for axis, pair in enumerate(sizes) if pair[0] != pair[1]}
        if free:
            axes[f'out_{i}'] = free
    return axes


def export(example, opset, dynamic):
    """The bytes of a model."""
    module = example.build()
    with warnings.catch_warnings():  # gradients are on, so that torch's attention takes no fast path of its own
        warnings.simplefilter('ignore')  # of tracing
        inputs = tuple(value.draw() for value in example.inputs)
        results = len(outputs_of(module, inputs))
        file = io.BytesIO()
        torch.onnx.export(module, inputs, file, opset_version=opset,
                          input_names=[f'in_{i}' for i in range(len(inputs))],
                          output_names=[f'out_{i}' for i in range(results)],
                          dynamic_axes=free_axes(example, module) if dynamic else None)
    return file.getvalue()


def export_all(example, folder):
    """Writes every variant of an example; returns what failed."""
    failures = []
    for dynamic in (False, True) if example.has_free_sizes() else (False,):
        stem = f'{example.name}.dynamic' if dynamic else example.name
        for opset in example.opsets:
            try:
                data = export(example, opset, dynamic)
            except Exception as error:  # torch raises many kinds
                failures.append(f'{stem}.{opset}: {str(error).strip().splitlines()[0]}')
                continue
            (folder / f'{stem}.{opset}.onnx').write_bytes(data)
            if opset == example.opsets[-1]:
                model = onnx.load_from_string(data)
                typed = onnx.shape_inference.infer_shapes(model).SerializeToString()
                for to in RAISED_TO:
                    raise_opset.raise_model(typed, folder / f'{stem}.{to}.onnx', to)
    return failures


def main():
    arguments = parse_arguments()
    chosen = [example for example in gallery.EXAMPLES.values()
              if not arguments.names or
              any(name in example.name or name == example.subject for name in arguments.names)]
    if not chosen:
        sys.exit('export_gallery.py: no example has such a name; --list prints them')
    if arguments.list:
        print('\n'.join(f'{example.subject:<12} {example.name}' for example in chosen))
        return
    arguments.output.mkdir(parents=True, exist_ok=True)
    failures = [failure for example in chosen for failure in export_all(example, arguments.output)]
    for failure in failures:
        print(f'export_gallery.py: {failure}', file=sys.stderr)
    print(f'{len(chosen)} examples, {len(list(arguments.output.glob("*.onnx")))} files in {arguments.output}')
    sys.exit(1 if failures else 0)


if __name__ == '__main__':
    main()
