"""Activations in parts, and the gates built of them."""
import math

import torch
from torch import nn
import torch.nn.functional as F

from gallery import example

SEQUENCE = 'f32[batch=2,length=6,16]'
IMAGE = 'f32[batch=2,8,height=6,width=5]'


@example(SEQUENCE)
def gelu(x):
    return F.gelu(x)


@example(SEQUENCE)
def gelu_tanh(x):
    return F.gelu(x, approximate='tanh')


@example(SEQUENCE)
def gelu_by_hand(x):
    """BERT."""
    return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


@example(SEQUENCE)
def gelu_gpt2(x):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


@example(SEQUENCE)
def gelu_fast(x):
    return 0.5 * x * (1.0 + torch.tanh(x * 0.7978845608 * (1.0 + 0.044715 * x * x)))


@example(SEQUENCE)
def gelu_megatron(x):
    return x * 0.5 * (1.0 + torch.tanh(0.79788456 * x * (1 + 0.044715 * x * x)))


@example(SEQUENCE)
def quick_gelu(x):
    return x * torch.sigmoid(1.702 * x)


@example(SEQUENCE)
def silu(x):
    return F.silu(x)


@example(SEQUENCE)
def mish(x):
    return F.mish(x)


@example(SEQUENCE)
def mish_by_hand(x):
    return x * torch.tanh(F.softplus(x))


@example(SEQUENCE)
def softplus(x):
    return F.softplus(x), F.softplus(x, beta=2)


@example(SEQUENCE)
def softplus_by_hand(x):
    return torch.log(1 + torch.exp(x)), torch.log1p(torch.exp(x))


@example(SEQUENCE)
def hardswish(x):
    return F.hardswish(x), F.hardsigmoid(x)


@example(SEQUENCE)
def hardswish_by_hand(x):
    """MobileNetV3 before torch had it."""
    return x * F.relu6(x + 3) / 6


@example(SEQUENCE)
def hardsigmoid_by_hand(x):
    return F.relu6(x + 3) / 6.


@example(SEQUENCE)
def clamps(x):
    return F.relu6(x), x.clamp(min=0), torch.clamp(F.relu(x), max=6), F.hardtanh(x)


@example(SEQUENCE)
def leaky(x):
    return F.leaky_relu(x, 0.1), F.elu(x), F.selu(x), F.celu(x), torch.max(x, 0.2 * x)


@example(IMAGE)
def prelu():
    return nn.Sequential(nn.Conv2d(8, 8, 1), nn.PReLU(8))


@example(SEQUENCE)
def log_of_softmax(x):
    return torch.log(F.softmax(x, dim=-1)), F.log_softmax(x, dim=-1)


@example(SEQUENCE)
def softmax_by_hand(x):
    y = torch.exp(x - x.max(dim=-1, keepdim=True)[0])
    return y / y.sum(dim=-1, keepdim=True)


@example(SEQUENCE)
def log_sum_exp(x):
    return torch.logsumexp(x, dim=-1), x - torch.logsumexp(x, dim=-1, keepdim=True)


@example(SEQUENCE)
def softmax_of_middle(x):
    return F.softmax(x, dim=1), F.softmin(x, dim=-1)


@example(SEQUENCE)
def relu_squared(x):
    return torch.relu(x)**2, torch.square(F.relu(x)), torch.sigmoid(-x), 1 - torch.sigmoid(x)


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.up = nn.Linear(16, 24, bias=False), nn.Linear(16, 24, bias=False)
        self.down = nn.Linear(24, 16, bias=False)

    def forward(self, x):
        return self.down(self.activation(self.gate(x)) * self.up(x))


@example(SEQUENCE)
class Swiglu(Gated):
    activation = staticmethod(F.silu)


@example(SEQUENCE)
class Geglu(Gated):
    activation = staticmethod(lambda x: F.gelu(x, approximate='tanh'))


@example(SEQUENCE)
class GegluErf(Gated):
    activation = staticmethod(F.gelu)


class GatedOfOne(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj, self.out = nn.Linear(16, 48), nn.Linear(24, 16)


@example(SEQUENCE)
class SwigluOfOne(GatedOfOne):
    def forward(self, x):
        a, b = self.proj(x).chunk(2, dim=-1)
        return self.out(F.silu(a) * b)


@example(SEQUENCE)
class GegluOfOne(GatedOfOne):
    """Diffusers."""

    def forward(self, x):
        x, gate = self.proj(x).chunk(2, dim=-1)
        return self.out(x * F.gelu(gate))


@example(SEQUENCE)
class GluOfOne(GatedOfOne):
    def forward(self, x):
        return self.out(F.glu(self.proj(x), dim=-1))


@example(SEQUENCE)
def linear_activations():
    return nn.Sequential(nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 16), nn.SiLU(),
                         nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 16, bias=False), nn.Sigmoid())


@example('f32[batch=2,16]')
def linear_activations_of_rows():
    return nn.Sequential(nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 16), nn.SiLU(),
                         nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 16, bias=False), nn.Sigmoid())
