"""Normalizations, and what stands before and behind them."""
import torch
from torch import nn
import torch.nn.functional as F

from gallery import example

SEQUENCE = 'f32[batch=2,length=6,16]'
IMAGE = 'f32[batch=2,8,height=6,width=5]'


@example(SEQUENCE)
def layer_norm():
    return nn.LayerNorm(16)


@example(SEQUENCE, opsets=(13,))  # torch 1.13 writes no scale in opset 17, which the format requires
def layer_norm_plain():
    return nn.LayerNorm(16, elementwise_affine=False)


@example('f32[batch=2,length=6,4,5]')
def layer_norm_over_two():
    return nn.LayerNorm((4, 5))


@example('f32[batch=2,3,4,5]')
def layer_norm_over_three():
    return nn.LayerNorm((3, 4, 5))


@example(IMAGE)
class LayerNormConvnext(nn.Module):
    """ConvNeXt: over channels that come first, in parts."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(8)), nn.Parameter(torch.zeros(8))

    def forward(self, x):
        mean = x.mean(1, keepdim=True)
        variance = (x - mean).pow(2).mean(1, keepdim=True)
        x = (x - mean) / torch.sqrt(variance + 1e-6)
        return self.weight[:, None, None] * x + self.bias[:, None, None]


@example(IMAGE)
class LayerNorm2d(nn.LayerNorm):
    """torchvision's ConvNeXt: the same between two permutes."""

    def __init__(self):
        super().__init__(8)

    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps).permute(0, 3, 1, 2)


@example(SEQUENCE)
class LayerNormTorchStd(nn.Module):
    """The Annotated Transformer: divided by std + epsilon (unbiased), no layer norm."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(16)), nn.Parameter(torch.zeros(16))

    def forward(self, x):
        return self.weight * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6) + self.bias


@example(SEQUENCE)
class LayerNormVar(nn.Module):
    """x.var(unbiased=False) and rsqrt."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(16)), nn.Parameter(torch.zeros(16))

    def forward(self, x):
        variance = x.var(-1, unbiased=False, keepdim=True)
        return (x - x.mean(-1, keepdim=True)) * torch.rsqrt(variance + 1e-5) * self.weight + self.bias


@example(SEQUENCE, SEQUENCE)
class AddNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(16, 16), nn.LayerNorm(16)

    def forward(self, x, residual):
        return self.norm(residual + self.linear(x))


@example(SEQUENCE, SEQUENCE)
class AddNormSum(AddNorm):
    """Pre-norm: the sum is read again."""

    def forward(self, x, residual):
        x = residual + self.linear(x)
        return self.norm(x), x


class RmsNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(16))


@example(SEQUENCE)
class RmsNormLlama(RmsNorm):
    def forward(self, x):
        kind = x.dtype
        x = x.to(torch.float32)
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * x.to(kind)


@example(SEQUENCE)
class RmsNormMeta(RmsNorm):
    def forward(self, x):
        y = x.float()
        return (y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-6)).type_as(x) * self.weight


@example(SEQUENCE)
class RmsNormGemma(RmsNorm):
    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * (1.0 + self.weight)


@example(SEQUENCE)
class RmsNormNormalize(RmsNorm):
    """lucidrains: F.normalize times the root of the width."""

    def forward(self, x):
        return F.normalize(x, dim=-1) * 16**0.5 * self.weight


@example(SEQUENCE)
class RmsNormByNorm(RmsNorm):
    """x.norm over the root of the width, clamped."""

    def forward(self, x):
        return x / (x.norm(dim=-1, keepdim=True) * 16**-0.5).clamp(min=1e-8) * self.weight


@example(IMAGE)
class RmsNormChannels(nn.Module):
    """Channels first."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(8, 1, 1))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(1, keepdim=True) + 1e-6) * self.weight


@example(SEQUENCE, SEQUENCE)
class AddRmsNorm(RmsNorm):
    def forward(self, x, residual):
        x = x + residual
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)), x


@example(IMAGE)
def group_norm():
    return nn.GroupNorm(4, 8)


@example(IMAGE)
def group_norm_silu():
    return nn.Sequential(nn.GroupNorm(4, 8), nn.SiLU())


@example(IMAGE)
def group_norm_silu_conv():
    return nn.Sequential(nn.GroupNorm(4, 8), nn.SiLU(), nn.Conv2d(8, 8, 3, padding=1))


@example('f32[batch=2,8,length=6]')
def group_norm_of_sequence():
    return nn.GroupNorm(2, 8)


@example(IMAGE)
def group_norm_of_one():
    """PoolFormer: a layer norm over the image with a weight per channel."""
    return nn.GroupNorm(1, 8)


@example(IMAGE)
def instance_norm():
    return nn.InstanceNorm2d(8, affine=True)


@example(IMAGE)
def instance_norm_plain():
    return nn.Sequential(nn.Conv2d(8, 8, 3), nn.InstanceNorm2d(8), nn.LeakyReLU(0.2))


@example(SEQUENCE)
def batch_norm_linear():
    return nn.Sequential(nn.Flatten(0, 1), nn.Linear(16, 8), nn.BatchNorm1d(8), nn.ReLU())


@example('f32[batch=2,16,length=6]')
def batch_norm_conv1d():
    return nn.Sequential(nn.Conv1d(16, 8, 3, padding=1, bias=False), nn.BatchNorm1d(8), nn.ReLU())


@example(IMAGE)
def batch_norm_before_conv():
    """DenseNet."""
    return nn.Sequential(nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 4, 1, bias=False))


@example(SEQUENCE)
def layer_norm_linear_gelu_linear():
    return nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))


@example(IMAGE)
class ConvnextBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(8, 8, 7, padding=3, groups=8), nn.LayerNorm(8, eps=1e-6)
        self.up, self.down = nn.Linear(8, 32), nn.Linear(32, 8)
        self.gamma = nn.Parameter(torch.rand(8))

    def forward(self, x):
        y = self.conv(x).permute(0, 2, 3, 1)
        y = self.gamma * self.down(F.gelu(self.up(self.norm(y))))
        return x + y.permute(0, 3, 1, 2)


@example(IMAGE)
class GlobalResponseNorm(nn.Module):
    """ConvNeXt V2."""

    def __init__(self):
        super().__init__()
        self.gamma, self.beta = nn.Parameter(torch.rand(1, 8, 1, 1)), nn.Parameter(torch.rand(1, 8, 1, 1))

    def forward(self, x):
        size = torch.norm(x, p=2, dim=(2, 3), keepdim=True)
        return self.gamma * (x * (size / (size.mean(dim=1, keepdim=True) + 1e-6))) + self.beta + x


@example(IMAGE, 'f32[batch=2,8]')
class AdaptiveNorm(nn.Module):
    """AdaIN and DiT: scale and shift come from a Linear."""

    def __init__(self):
        super().__init__()
        self.norm, self.linear = nn.InstanceNorm2d(8), nn.Linear(8, 16)

    def forward(self, x, style):
        scale, shift = self.linear(style)[:, :, None, None].chunk(2, dim=1)
        return (1 + scale) * self.norm(x) + shift


@example(SEQUENCE, 'f32[batch=2,16]', opsets=(13,))  # as above
class AdaptiveLayerNorm(nn.Module):
    """DiT."""

    def __init__(self):
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(16, elementwise_affine=False, eps=1e-6), nn.Linear(16, 32)

    def forward(self, x, condition):
        shift, scale = self.linear(F.silu(condition)).chunk(2, dim=1)
        return self.norm(x) * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)
