"""A graph of ONNX messages that spellings.py edits: who makes a value, who reads it, which are constants."""
import collections

import numpy as np

FLOAT, INT64, BOOL = 1, 7, 9
DTYPES = {FLOAT: np.float32, INT64: np.int64, BOOL: np.bool_}


class Editor:
    """Of one graph; `outer` are the constants that it sees from the graphs around it. The graph gets its
    nodes back with store()."""

    def __init__(self, pb, graph, outer=()):
        self.pb, self.graph = pb, graph
        self.constants = dict(outer)
        self.constants.update({t.name: self.array(t) for t in graph.initializer})
        self.nodes = []
        for node in graph.node:  # copies that last as long as they are referred to
            self.nodes.append(pb.NodeProto())
            self.nodes[-1].CopyFrom(node)
        self.refresh()

    def refresh(self):
        """After nodes were added, removed or rewired."""
        self.makers, self.readers = {}, collections.defaultdict(list)
        for node in self.nodes:
            self.makers.update({name: node for name in node.output})
            for name in self.reads(node):
                self.readers[name].append(node)
        for value in self.graph.output:
            self.readers[value.name].append(None)

    @classmethod
    def reads(cls, node):
        """What the node reads, its subgraphs included."""
        yield from node.input
        for attribute in node.attribute:
            if attribute.HasField('g'):
                for inner in attribute.g.node:
                    yield from cls.reads(inner)
                yield from (value.name for value in attribute.g.output)

    @staticmethod
    def array(tensor):
        if tensor.data_type not in DTYPES:
            return None
        dtype = DTYPES[tensor.data_type]
        if tensor.raw_data:
            return np.frombuffer(tensor.raw_data, dtype).reshape(tuple(tensor.dims))
        values = {FLOAT: tensor.float_data, INT64: tensor.int64_data, BOOL: tensor.int32_data}
        return np.array(list(values[tensor.data_type]), dtype).reshape(tuple(tensor.dims))

    def maker(self, name, op_type):
        """The node of this kind that makes `name`, or None."""
        node = self.makers.get(name)
        return node if node is not None and node.op_type == op_type else None

    def scalar(self, name):
        """The one element of a constant, or None."""
        value = self.constants.get(name)
        return value.item() if value is not None and value.size == 1 else None

    def only_reader(self, name, op_type):
        readers = self.readers[name]
        return readers[0] if len(readers) == 1 and readers[0] is not None and \
            readers[0].op_type == op_type else None

    def add_constant(self, name, value):
        """An initializer; `name` is made unique."""
        while name in self.constants or name in self.makers:
            name += '_'
        tensor = self.pb.TensorProto(name=name, dims=value.shape)
        tensor.raw_data = np.ascontiguousarray(value).tobytes()
        tensor.data_type = next(k for k, dtype in DTYPES.items() if dtype == value.dtype)
        self.add_initializer(tensor)
        return name

    def add_initializer(self, tensor):
        self.graph.initializer.add().CopyFrom(tensor)
        self.constants[tensor.name] = self.array(tensor)

    def make(self, op_type, inputs, outputs, **attributes):
        node = self.pb.NodeProto(op_type=op_type, input=inputs, output=outputs)
        for name, value in attributes.items():
            set_attribute(self.pb, node, name, value)
        return node

    def replace(self, node, new):
        """Puts `new` in place of `node`, whose operands may die with it."""
        at = next(i for i, other in enumerate(self.nodes) if other is node)
        self.nodes[at:at + 1] = new
        self.refresh()

    def rewire(self, old, new):
        """Those who read `old` read `new`, in subgraphs too. Outputs of graphs stay."""
        def visit(nodes):
            for node in nodes:
                for i, name in enumerate(node.input):
                    if name == old:
                        node.input[i] = new
                for inner in node.attribute:
                    if inner.HasField('g'):
                        visit(inner.g.node)
        visit(self.nodes)
        self.refresh()

    def store(self):
        """Gives the graph its nodes, without those whose results nobody reads."""
        while True:
            live = [node for node in self.nodes if any(self.readers[name] for name in node.output)]
            if len(live) == len(self.nodes):
                break
            self.nodes = live
            self.refresh()
        replace_all(self.graph.node, self.nodes)
        replace_all(self.graph.initializer,
                    [t for t in self.graph.initializer if self.readers[t.name]])
        replace_all(self.graph.value_info, [v for v in self.graph.value_info if v.name in self.makers])


def replace_all(field, messages):
    copies = []
    for message in messages:
        copies.append(type(message)())
        copies[-1].CopyFrom(message)
    del field[:]
    field.extend(copies)


def attribute(node, name):
    return next((a for a in node.attribute if a.name == name), None)


def set_attribute(pb, node, name, value):
    """Adds an int, float, string or list of ints, in place of what there is."""
    remove_attribute(node, name)
    added = node.attribute.add(name=name)
    if isinstance(value, (list, tuple)):
        added.type = pb.AttributeProto.INTS
        added.ints.extend(value)
    elif isinstance(value, float):
        added.type, added.f = pb.AttributeProto.FLOAT, value
    elif isinstance(value, str):
        added.type, added.s = pb.AttributeProto.STRING, value.encode()
    else:
        added.type, added.i = pb.AttributeProto.INT, value


def remove_attribute(node, name):
    for i in reversed(range(len(node.attribute))):
        if node.attribute[i].name == name:
            del node.attribute[i]
