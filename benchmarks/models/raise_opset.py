#!/usr/bin/python3
"""Raises an exported model to a later opset, in the spelling of torch's newer exporter (torch.onnx with
dynamo=True), which Debian 12's torch does not have.

  benchmarks/models/raise_opset.py IN.onnx OUT.onnx --opset 18|22 [--external-data]

IN has opset 13 to 17. It shares nothing with Weft but the schema of the file format, tools/onnx/proto/model.proto,
so that Weft is not tested against itself. What is spelled anew: spellings.py. --external-data puts large
weights into OUT.onnx.data. Needs protoc, python3-protobuf and python3-numpy.
"""
import argparse
import importlib
import pathlib
import re
import subprocess
import sys
import tempfile

import spellings

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / 'tools' / 'onnx' / 'proto'
EXTERNAL_BYTES = 1024  # weights of at least as many bytes


def load_schema():
    """The classes of model.proto, compiled for Python."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(['protoc', f'-I{SCHEMA}', f'--python_out={folder}', 'model.proto'], check=True)
        sys.path.insert(0, folder)
        try:
            return importlib.import_module('model_pb2')
        finally:
            sys.path.pop(0)


def rename_dimensions(model):
    """Names as torch.export gives them: s0, s1 for those of inputs, u0 for those the data decides;
    sums and products of them keep their form."""
    names = {}

    def renamed(text, prefix):
        def name(match):
            count = sum(value[0] == prefix for value in names.values())
            return names.setdefault(match[0], f'{prefix}{count}')
        return re.sub(r'[A-Za-z_][\w./:]*', name, text)

    def visit(values, prefix):
        for value in values:
            for dim in value.type.tensor_type.shape.dim:
                if dim.HasField('dim_param'):
                    dim.dim_param = renamed(dim.dim_param, prefix)

    def visit_graph(graph, prefix):
        visit(graph.input, prefix)
        for group in (graph.output, graph.value_info):
            visit(group, 'u')
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.HasField('g'):
                    visit_graph(attribute.g, 'u')

    visit_graph(model.graph, 's')


def add_metadata(node, index):
    """What the newer exporter notes of every node."""
    scopes = [part for part in node.name.strip('/').split('/') if part][:-1]
    entries = {
        'namespace': '/'.join(scopes) + f': {node.op_type.lower()}',
        'pkg.torch.onnx.class_hierarchy': repr([f'torch.nn.{scope}' for scope in scopes]),
        'pkg.torch.onnx.fx_node': f'%{node.output[0]} : call_function[target=aten.{node.op_type.lower()}]',
        'pkg.torch.onnx.name_scopes': repr(scopes),
        'pkg.torch.onnx.stack_trace': f'File "model.py", line {index + 1}, in forward',
    }
    for key, value in entries.items():
        entry = node.metadata_props.add()
        entry.key, entry.value = key, value
    node.name = f'node_{node.op_type}_{index}'


def move_weights(model, pb, path):
    """Large weights of the main graph into a file beside the model."""
    with open(path, 'wb') as file:
        for tensor in model.graph.initializer:
            if len(tensor.raw_data) < EXTERNAL_BYTES:
                continue
            file.write(b'\0' * (-file.tell() % 4096))
            entries = (('location', path.name), ('offset', file.tell()), ('length', len(tensor.raw_data)))
            file.write(tensor.raw_data)
            tensor.ClearField('raw_data')
            tensor.data_location = pb.TensorProto.EXTERNAL
            for key, value in entries:
                entry = tensor.external_data.add()
                entry.key, entry.value = key, str(value)


def raise_model(data, path, opset, external_data=False):
    """Writes the model in the bytes `data`, raised to `opset`, to `path`."""
    pb = load_schema()
    model = pb.ModelProto.FromString(data)
    imported = {entry.domain: entry for entry in model.opset_import}
    if not 13 <= imported[''].version <= 17:
        sys.exit(f'raise_opset.py: opset {imported[""].version} is not one of 13 to 17')
    imported[''].version = opset
    model.ir_version = 10
    model.producer_name, model.producer_version = 'pytorch', '2.9.0'
    model.graph.name = 'main_graph'
    spellings.respell(pb, model.graph, opset)
    for index, node in enumerate(model.graph.node):
        add_metadata(node, index)
    rename_dimensions(model)
    if external_data:
        move_weights(model, pb, path.with_name(path.name + '.data'))
    path.write_bytes(model.SerializeToString(deterministic=True))


def main():
    parser = argparse.ArgumentParser(
        description="Raises a model to a later opset, in the spelling of torch's newer exporter.")
    parser.add_argument('model', type=pathlib.Path, metavar='IN.onnx')
    parser.add_argument('output', type=pathlib.Path, metavar='OUT.onnx')
    parser.add_argument('--opset', type=int, choices=(18, 22), default=18)
    parser.add_argument('--external-data', action='store_true',
                        help='large weights into OUT.onnx.data')
    arguments = parser.parse_args()
    raise_model(arguments.model.read_bytes(), arguments.output, arguments.opset,
                arguments.external_data)


if __name__ == '__main__':
    main()
