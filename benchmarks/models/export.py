#!/usr/bin/python3
"""Exports the benchmark models of architectures.py to ONNX, with torch's own results beside them.

  benchmarks/models/export.py [--install] [-o DIR] [--list] [--quantize] [NAME...]

Writes DIR/NAME.onnx (opset 13, 0.9 GB for all eleven), DIR/models.json (inputs, outputs, op
counts) and DIR/ref/NAME/in_<input>.bin, out_<i>.bin (raw little-endian, shapes in models.json).
DIR is build/models of this checkout unless given. BatchNormalization nodes are kept, so that
folding them is the optimizer's job. --quantize also writes DIR/NAME_static.onnx or DIR/NAME_dynamic.onnx
of those in QUANTIZED, with build/release/bin/ir-opt, which prints the error of each.

Needs Debian 12's python3-torch, python3-torchvision and python3-onnx; --install fetches them with
apt-get (with sudo when not root). The weights are random from a fixed seed, so a run with the same
package versions writes the same bytes; nothing is downloaded.
"""
import argparse
import collections
import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import warnings

OPSET = 13
PACKAGES = ['python3-torch', 'python3-torchvision', 'python3-onnx', 'python3-numpy']
QUANTIZED = {'resnet50': 'static', 'mobilenet_v2': 'static', 'bert_base': 'dynamic'}
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def parse_arguments():
    parser = argparse.ArgumentParser(
        description='Exports the benchmark models to ONNX with reference inputs and outputs.')
    parser.add_argument('names', nargs='*', metavar='NAME', help='models to export (default: all)')
    parser.add_argument('-o', '--output', type=pathlib.Path, metavar='DIR',
                        default=REPOSITORY / 'build' / 'models',
                        help='folder to write to (default: build/models)')
    parser.add_argument('--install', action='store_true',
                        help='install what is needed with apt-get first')
    parser.add_argument('--quantize', action='store_true',
                        help=f'quantise {", ".join(QUANTIZED)} too')
    parser.add_argument('--list', action='store_true', help='print the names and exit')
    return parser.parse_args()


def install():
    command = ['apt-get', 'install', '-y', '--no-install-recommends', *PACKAGES]
    if os.geteuid() != 0:
        if not shutil.which('sudo'):
            sys.exit('export.py: --install needs root or sudo')
        command.insert(0, 'sudo')
    print('+', ' '.join(command), file=sys.stderr)
    status = subprocess.run(command, stdout=sys.stderr, check=False).returncode
    if status != 0:
        sys.exit(f'export.py: apt-get failed with status {status} (is `apt-get update` due?)')
    importlib.invalidate_caches()


def load_architectures():
    """Imported late, so that --help and --install work without torch."""
    try:
        importlib.import_module('onnx')
        return importlib.import_module('architectures')
    except ImportError as error:
        sys.exit(f'export.py: {error}; run `/usr/bin/python3 {sys.argv[0]} --install`, which '
                 f'installs {" ".join(PACKAGES)}')


def export_model(name, architectures, folder):
    """Writes one model and its reference data; returns its entry for models.json."""
    import onnx
    import torch

    module, inputs, input_names = architectures.build(name)
    path = folder / f'{name}.onnx'
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter('ignore')  # PRESERVE on an eval model is what we want
        outputs = module(*inputs)
        torch.onnx.export(module, inputs, str(path), opset_version=OPSET, input_names=input_names,
                          training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=True)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)

    reference = folder / 'ref' / name
    reference.mkdir(parents=True, exist_ok=True)
    for input_name, value in zip(input_names, inputs):
        value.numpy().tofile(reference / f'in_{input_name}.bin')
    for i, value in enumerate(outputs):
        value.detach().numpy().tofile(reference / f'out_{i}.bin')

    graph = onnx.load(str(path)).graph
    ops = collections.Counter(node.op_type for node in graph.node)
    print(f'{name:<20}{len(graph.node):5d} nodes {path.stat().st_size / 1e6:7.1f} MB', flush=True)
    return {
        'inputs': [{'name': n, 'shape': list(v.shape), 'dtype': str(v.dtype)[len('torch.'):]}
                   for n, v in zip(input_names, inputs)],
        'outputs': [list(v.shape) for v in outputs],
        'nodes': len(graph.node),
        'ops': dict(ops.most_common()),
    }


def quantize_model(name, folder):
    """Writes the model in 8 bits beside it; ir-opt says what that costs."""
    mode = QUANTIZED[name]
    ir_opt = REPOSITORY / 'build' / 'release' / 'bin' / 'ir-opt'
    command = [str(ir_opt), str(folder / f'{name}.onnx'), '--quantize', mode,
               '-o', str(folder / f'{name}_{mode}.onnx')]
    print('+', ' '.join(command), file=sys.stderr)
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit(f'export.py: {name} was not quantised; is ir-opt built (tools/dev build ir-opt)?')


def main():
    arguments = parse_arguments()
    if arguments.install:
        install()
    architectures = load_architectures()
    if arguments.list:
        print('\n'.join(architectures.MODELS))
        return
    unknown = [name for name in arguments.names if name not in architectures.MODELS]
    if unknown:
        sys.exit(f'export.py: no model {unknown[0]!r}; there are {", ".join(architectures.MODELS)}')

    arguments.output.mkdir(parents=True, exist_ok=True)
    manifest_path = arguments.output / 'models.json'
    manifest = json.loads(manifest_path.read_text()) if manifest_path.exists() else {}
    for name in architectures.MODELS:
        if not arguments.names or name in arguments.names:
            manifest[name] = export_model(name, architectures, arguments.output)
            manifest_path.write_text(json.dumps(manifest, indent=1) + '\n')
            if arguments.quantize and name in QUANTIZED:
                quantize_model(name, arguments.output)


if __name__ == '__main__':
    main()
