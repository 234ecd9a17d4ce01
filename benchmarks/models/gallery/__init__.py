"""Small modules, each of one subject, in the spellings that networks have them in.

`EXAMPLES` has them by name. An example is registered by a decorator that says its inputs:

    @example('f32[batch=2,length=6,16]', 'ids<32>[batch=2,length=6]')

A size with a name is free in the variant with dynamic axes. What is decorated is a class of a module, a
function of the inputs, or a function without arguments that makes a module. Same name, same weights.
"""
import dataclasses
import importlib
import inspect
import re
import typing

import torch
from torch import nn

SEED = 1234
SUBJECTS = ('attention', 'norms', 'activations', 'images', 'tokens')
EXAMPLES = {}


@dataclasses.dataclass
class Input:
    kind: str  # f32, bool, or ids below `high`
    high: int
    sizes: list
    names: list  # of each axis, or None

    def axes(self):
        return {i: name for i, name in enumerate(self.names) if name}

    def draw(self, more=0):
        """Values, with each free size by `more` larger."""
        shape = [size + (more if name else 0) for size, name in zip(self.sizes, self.names)]
        if self.kind == 'ids':
            return torch.randint(0, self.high, shape)
        return torch.rand(shape) < 0.7 if self.kind == 'bool' else torch.randn(shape)


@dataclasses.dataclass
class Example:
    name: str
    subject: str
    target: typing.Callable
    inputs: list
    opsets: tuple

    def has_free_sizes(self):
        return any(value.axes() for value in self.inputs)

    def build(self):
        torch.manual_seed(SEED)
        if inspect.isclass(self.target):
            module = self.target()
        elif any(p.default is p.empty for p in inspect.signature(self.target).parameters.values()):
            module = Function(self.target)
        else:
            module = self.target()
        randomize(module)
        return module.eval()


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def randomize(module):
    """Gives norms weights and statistics that a wrong rewrite would not survive."""
    for name, value in (*module.named_parameters(), *module.named_buffers()):
        last = name.split('.')[-1]
        if last == 'running_mean' or (value.dim() == 1 and last.endswith('bias')):
            value.data.uniform_(-0.2, 0.2)
        elif last == 'running_var' or (value.dim() == 1 and last == 'weight'):
            value.data.uniform_(0.6, 1.4)


def parse(text):
    kind, high, sizes = re.fullmatch(r'(f32|bool|ids)(?:<(\d+)>)?\[([\w=,]*)\]', text).groups()
    parts = [part.rpartition('=') for part in sizes.split(',')]
    return Input(kind, int(high or 0), [int(size) for _, _, size in parts], [name or None for name, _, _ in parts])


def snake(name):
    return re.sub(r'(?<=[a-z0-9])(?=[A-Z])', '_', name).lower()


def example(*inputs, opsets=(13, 17)):
    def register(target):
        name = snake(target.__name__)
        if name in EXAMPLES:
            raise ValueError(f'two examples are called {name}')
        subject = target.__module__.rpartition('.')[2]
        EXAMPLES[name] = Example(name, subject, target, [parse(text) for text in inputs], opsets)
        return target
    return register


for _subject in SUBJECTS:
    importlib.import_module(f'gallery.{_subject}')
