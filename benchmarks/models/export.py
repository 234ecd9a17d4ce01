#!/usr/bin/python3
"""Exports models with random weights to ONNX, with torch's own results beside them.

  benchmarks/models/export.py [--install] [-o DIR] [--size small|full] [--quantize] [--list] [NAME...]
  benchmarks/models/export.py [-o DIR] [--batch N] [--tokens N] [--image N] NAME...

Of each of the eleven benchmark models of architectures.py: DIR/NAME.onnx (opset 13, 0.9 GB for all),
an entry in DIR/models.json (inputs, outputs, op counts) and DIR/ref/NAME/in_<input>.bin, out_<i>.bin (raw
little-endian, shapes in models.json). BatchNormalization nodes are kept, so that folding them is the
optimizer's job. --quantize also writes DIR/NAME_static.onnx or DIR/NAME_dynamic.onnx of those in QUANTIZED, with
build/release/bin/ir-opt, which prints the error of each. --batch, --tokens and --image make other sizes of
inputs of it: DIR/NAME_b8_t512.onnx is bert_tiny on eight sequences of 512 tokens, with the same weights; without
torch's results and without an entry in models.json.

Of each of the eight networks with dynamic axes in dynamic/: DIR/NAME/model.onnx, as torch exports it;
opset18.onnx and opset22.onnx, as its newer exporter spells it (raise_opset.py); and
test_data_set_N/{input,output}_I.pb for two or more shapes. 45 MB for all; with --size full, some GB of the
sizes of real ones.

DIR is build/models of this checkout unless given. Needs Debian 12's python3-torch, python3-torchvision,
python3-onnx, python3-protobuf and protobuf-compiler; --install fetches them with
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
PACKAGES = ['python3-torch', 'python3-torchvision', 'python3-onnx', 'python3-numpy',
            'python3-protobuf', 'protobuf-compiler']
QUANTIZED = {'resnet50': 'static', 'mobilenet_v2': 'static', 'bert_base': 'dynamic'}
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
IR_OPT = REPOSITORY / 'build' / 'release' / 'bin' / 'ir-opt'


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def parse_arguments():
    parser = argparse.ArgumentParser(
        description='Exports models to ONNX with reference inputs and outputs.')
    parser.add_argument('names', nargs='*', metavar='NAME', help='models to export (default: all)')
    parser.add_argument('-o', '--output', type=pathlib.Path, metavar='DIR',
                        default=REPOSITORY / 'build' / 'models',
                        help='folder to write to (default: build/models)')
    parser.add_argument('--install', action='store_true',
                        help='install what is needed with apt-get first')
    parser.add_argument('--size', choices=('small', 'full'), default='small',
                        help='of the networks with dynamic axes: for tests, or as real ones (default: small)')
    parser.add_argument('--quantize', action='store_true',
                        help=f'quantise {", ".join(QUANTIZED)} too')
    for size, what in (('batch', 'inputs at once'), ('tokens', 'length of sequences'),
                       ('image', 'side of images')):
        parser.add_argument(f'--{size}', type=positive, metavar='N',
                            help=f'{what}, of the named benchmark models')
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
    """The modules of both kinds of model. Imported late, so that --help and --install work without
    torch."""
    try:
        importlib.import_module('onnx')
        return importlib.import_module('architectures'), importlib.import_module('dynamic')
    except ImportError as error:
        sys.exit(f'export.py: {error}; run `/usr/bin/python3 {sys.argv[0]} --install`, which '
                 f'installs {" ".join(PACKAGES)}')


def write_onnx(module, inputs, input_names, path):
    import torch
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter('ignore')  # PRESERVE on an eval model is what we want
        torch.onnx.export(module, inputs, str(path), opset_version=OPSET, input_names=input_names,
                          training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=True)


def export_scaled(name, scale, architectures, folder):
    path = folder / f'{scale.name_of(name)}.onnx'
    write_onnx(*architectures.build(name, scale), path)
    print(f'{path.stem:<30} {path.stat().st_size / 1e6:7.1f} MB', flush=True)


def export_model(name, architectures, folder):
    """Writes one model and its reference data; returns its entry for models.json."""
    import onnx
    import torch

    module, inputs, input_names = architectures.build(name)
    path = folder / f'{name}.onnx'
    with torch.no_grad():
        outputs = module(*inputs)
    write_onnx(module, inputs, input_names, path)
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


def write_tensors(folder, kind, values):
    from onnx import numpy_helper
    for i, value in enumerate(values):
        tensor = numpy_helper.from_array(value.numpy(), f'{kind}_{i}')
        (folder / f'{kind}_{i}.pb').write_bytes(tensor.SerializeToString())


def export_dynamic(name, dynamic, size, folder):
    """Writes one network in three spellings, with data for each of its sets of inputs."""
    import onnx
    import raise_opset
    import torch

    network = dynamic.build(name, size)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    path = folder / 'model.onnx'
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter('ignore')  # of tracing: the second set of inputs shows what it broke
        for i, inputs in enumerate(network.input_sets):
            outputs = network.module(*inputs)
            data = folder / f'test_data_set_{i}'
            data.mkdir()
            write_tensors(data, 'input', inputs)
            write_tensors(data, 'output', outputs if isinstance(outputs, tuple) else (outputs,))
        torch.onnx.export(network.module, network.input_sets[0], str(path),
                          opset_version=network.opset, input_names=network.input_names,
                          output_names=network.output_names, dynamic_axes=network.axes)
    model = onnx.load(str(path))
    typed = onnx.shape_inference.infer_shapes(model, data_prop=True).SerializeToString()
    for opset in (18, 22):
        raise_opset.raise_model(typed, folder / f'opset{opset}.onnx', opset,
                                external_data=network.external_data)
    bytes_ = sum(file.stat().st_size for file in folder.rglob('*'))
    print(f'{name:<20}{len(model.graph.node):5d} nodes {bytes_ / 1e6:7.1f} MB', flush=True)


def quantize_model(name, folder):
    """Writes the model in 8 bits beside it; ir-opt says what that costs."""
    mode = QUANTIZED[name]
    command = [str(IR_OPT), str(folder / f'{name}.onnx'), '--quantize', mode,
               '-o', str(folder / f'{name}_{mode}.onnx')]
    print('+', ' '.join(command), file=sys.stderr)
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit(f'export.py: {name} was not quantised')


def main():
    arguments = parse_arguments()
    if arguments.install:
        install()
    architectures, dynamic = load_architectures()
    names = [*architectures.MODELS, *dynamic.MODELS]
    if arguments.list:
        print('\n'.join(names))
        return
    unknown = [name for name in arguments.names if name not in names]
    if unknown:
        sys.exit(f'export.py: no model {unknown[0]!r}; there are {", ".join(names)}')

    if arguments.quantize and not IR_OPT.exists():
        sys.exit(f'export.py: --quantize needs {IR_OPT}; run tools/dev build ir-opt')

    scale = architectures.Scale(arguments.batch, arguments.tokens, arguments.image)
    if scale != architectures.AS_IT_IS:
        if not arguments.names:
            sys.exit('export.py: --batch, --tokens and --image need names of models')
        for name in arguments.names:
            why = architectures.why_not(name, scale) if name in architectures.MODELS else \
                f'{name} has dynamic axes, one file for all sizes'
            if why:
                sys.exit(f'export.py: {why}')

    arguments.output.mkdir(parents=True, exist_ok=True)
    if scale != architectures.AS_IT_IS:
        for name in arguments.names:
            export_scaled(name, scale, architectures, arguments.output)
        return
    manifest_path = arguments.output / 'models.json'
    manifest = json.loads(manifest_path.read_text()) if manifest_path.exists() else {}
    chosen = arguments.names or names
    for name in architectures.MODELS:
        if name in chosen:
            manifest[name] = export_model(name, architectures, arguments.output)
            manifest_path.write_text(json.dumps(manifest, indent=1) + '\n')
            if arguments.quantize and name in QUANTIZED:
                quantize_model(name, arguments.output)
    for name in dynamic.MODELS:
        if name in chosen:
            export_dynamic(name, dynamic, arguments.size, arguments.output / name)


if __name__ == '__main__':
    main()
