"""Convolutions with what belongs to them, sampling, pooling, heads of classifiers."""
import torch
from torch import nn
import torch.nn.functional as F

from gallery import example

IMAGE = 'f32[batch=2,8,height=8,width=6]'


def conv_bn(inputs, outputs, kernel=3, stride=1, groups=1, activation=nn.ReLU):
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
              nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([activation()] if activation else []))


@example(IMAGE)
def conv_bn_relu():
    return conv_bn(8, 8)


@example(IMAGE)
def conv_bn_activations():
    kinds = (nn.ReLU6, nn.SiLU, nn.Hardswish, nn.LeakyReLU, nn.Mish, nn.GELU, nn.Sigmoid, nn.Hardsigmoid, nn.ELU)
    return nn.Sequential(*(conv_bn(8, 8, 1, activation=kind) for kind in kinds))


@example(IMAGE)
class ResnetBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = conv_bn(8, 8, stride=2), conv_bn(8, 8, activation=None)
        self.shortcut = conv_bn(8, 8, 1, stride=2, activation=None)

    def forward(self, x):
        return F.relu(self.conv2(self.conv1(x)) + self.shortcut(x))


@example(IMAGE)
class PreactivationBlock(nn.Module):
    """ResNet v2."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.BatchNorm2d(8), nn.BatchNorm2d(8)
        self.conv1, self.conv2 = (nn.Conv2d(8, 8, 3, padding=1, bias=False) for _ in '12')

    def forward(self, x):
        y = self.conv1(F.relu(self.norm1(x)))
        return x + self.conv2(F.relu(self.norm2(y)))


@example(IMAGE)
class RepvggBlock(nn.Module):
    """Three branches that are one convolution."""

    def __init__(self):
        super().__init__()
        self.wide, self.narrow = conv_bn(8, 8, 3, activation=None), conv_bn(8, 8, 1, activation=None)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, x):
        return F.relu(self.wide(x) + self.narrow(x) + self.norm(x))


class SqueezeExcite(nn.Module):
    def __init__(self, gate=torch.sigmoid):
        super().__init__()
        self.reduce, self.expand, self.gate = nn.Conv2d(16, 4, 1), nn.Conv2d(4, 16, 1), gate

    def forward(self, x):
        return x * self.gate(self.expand(F.relu(self.reduce(F.adaptive_avg_pool2d(x, 1)))))


@example(IMAGE)
class MobilenetBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(conv_bn(8, 16, 1, activation=nn.Hardswish),
                                    conv_bn(16, 16, 3, groups=16, activation=nn.Hardswish),
                                    SqueezeExcite(F.hardsigmoid), conv_bn(16, 8, 1, activation=None))

    def forward(self, x):
        return x + self.layers(x)


@example(IMAGE)
class SqueezeExciteLinear(nn.Module):
    """The first spelling: Linear on what the pool leaves, viewed and expanded."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(8, 4, bias=False), nn.ReLU(), nn.Linear(4, 8, bias=False), nn.Sigmoid())

    def forward(self, x):
        batch, channels, _, _ = x.size()
        y = F.adaptive_avg_pool2d(x, 1).view(batch, channels)
        return x * self.fc(y).view(batch, channels, 1, 1).expand_as(x)


@example(IMAGE)
class ChannelAttention(nn.Module):
    """CBAM."""

    def __init__(self):
        super().__init__()
        self.fc, self.conv = nn.Conv2d(8, 8, 1, bias=False), nn.Conv2d(2, 1, 7, padding=3)

    def forward(self, x):
        x = x * torch.sigmoid(self.fc(F.adaptive_avg_pool2d(x, 1)) + self.fc(F.adaptive_max_pool2d(x, 1)))
        y = torch.cat([x.mean(1, keepdim=True), x.max(1, keepdim=True)[0]], dim=1)
        return x * torch.sigmoid(self.conv(y))


@example(IMAGE)
def conv_transpose_bn():
    return nn.Sequential(nn.ConvTranspose2d(8, 4, 2, 2, bias=False), nn.BatchNorm2d(4), nn.ReLU())


@example(IMAGE)
def pixel_shuffle(x):
    return F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2)


@example(IMAGE)
class Focus(nn.Module):
    """YOLOv5."""

    def __init__(self):
        super().__init__()
        self.conv = conv_bn(32, 8, activation=nn.SiLU)

    def forward(self, x):
        return self.conv(torch.cat((x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]), 1))


@example(IMAGE)
def channel_shuffle(x):
    """ShuffleNet."""
    batch, channels, height, width = x.size()
    x = x.view(batch, 2, channels // 2, height, width)
    return torch.transpose(x, 1, 2).contiguous().view(batch, -1, height, width)


@example(IMAGE)
class YoloBottleneck(nn.Module):
    """C2f: a chunk, a bottleneck, a concat."""

    def __init__(self):
        super().__init__()
        self.first, self.last = conv_bn(8, 8, 1, activation=nn.SiLU), conv_bn(12, 8, 1, activation=nn.SiLU)
        self.inner = nn.Sequential(conv_bn(4, 4, activation=nn.SiLU), conv_bn(4, 4, activation=nn.SiLU))

    def forward(self, x):
        parts = list(self.first(x).chunk(2, 1))
        parts.append(parts[-1] + self.inner(parts[-1]))
        return self.last(torch.cat(parts, 1))


@example(IMAGE)
class SpatialPyramid(nn.Module):
    """SPPF."""

    def __init__(self):
        super().__init__()
        self.conv = conv_bn(32, 8, 1, activation=nn.SiLU)

    def forward(self, x):
        y = F.max_pool2d(x, 5, 1, 2)
        z = F.max_pool2d(y, 5, 1, 2)
        return self.conv(torch.cat((x, y, z, F.max_pool2d(z, 5, 1, 2)), 1))


@example(IMAGE)
class YoloHead(nn.Module):
    """Predictions of a scale, decoded with a grid."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(8, 14, 1)
        self.register_buffer('anchors', torch.rand(1, 2, 1, 1, 2) * 8)

    def forward(self, x):
        y = self.conv(x)
        batch, _, height, width = y.shape
        y = y.view(batch, 2, 7, height, width).permute(0, 1, 3, 4, 2).contiguous().sigmoid()
        rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing='ij')
        grid = torch.stack((columns, rows), 2).view(1, 1, height, width, 2).float()
        xy, wh, rest = y.split((2, 2, 3), 4)
        return torch.cat(((xy * 2 - 0.5 + grid) * 8, (wh * 2)**2 * self.anchors, rest), 4).view(batch, -1, 7)


@example(IMAGE)
def interpolate(x):
    return (F.interpolate(x, scale_factor=2), F.interpolate(x, size=(16, 16), mode='bilinear', align_corners=False),
            F.interpolate(x, scale_factor=2, mode='bilinear', align_corners=True))


@example(IMAGE, 'f32[batch=2,8,tall=16,wide=12]')
def interpolate_to_another(x, like):
    """FPN."""
    return like + F.interpolate(x, size=like.shape[-2:], mode='nearest')


@example(IMAGE)
def upsample_conv():
    return nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(8, 4, 3, padding=1), nn.LeakyReLU(0.1))


@example('f32[batch=2,8,8,6]')
def adaptive_pools(x):
    return F.adaptive_avg_pool2d(x, 1), F.adaptive_avg_pool2d(x, (4, 3)), F.adaptive_max_pool2d(x, 1)


@example(IMAGE)
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 10)

    def forward(self, x):
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, (1, 1)), 1))


@example(IMAGE)
class ClassifierMean(Classifier):
    def forward(self, x):
        return self.fc(x.mean([2, 3])), self.fc(x.mean(3).mean(2))


@example(IMAGE)
class ClassifierView(Classifier):
    def forward(self, x):
        x = F.avg_pool2d(x, 2)
        x = F.adaptive_avg_pool2d(x, 1)
        return F.softmax(self.fc(x.view(x.size(0), -1)), dim=1), x.squeeze(-1).squeeze(-1)


@example('f32[batch=2,8,8,6]')
def flatten_linear():
    return nn.Sequential(nn.Conv2d(8, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(),
                         nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 4))


@example(IMAGE)
def pad_conv():
    return nn.Sequential(nn.ZeroPad2d((1, 1, 1, 1)), nn.Conv2d(8, 8, 3), nn.ReflectionPad2d(1), nn.Conv2d(8, 8, 3))


@example(IMAGE)
class SamePad(nn.Module):
    """EfficientNet: padded more on one side, sizes from the shape."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(8, 8, 3, 2)

    def forward(self, x):
        height, width = x.shape[-2:]
        rows = max((height + 1) // 2 * 2 + 1 - height, 0)
        columns = max((width + 1) // 2 * 2 + 1 - width, 0)
        return self.conv(F.pad(x, [columns // 2, columns - columns // 2, rows // 2, rows - rows // 2]))


@example('f32[batch=2,3,16,16]')
class PatchEmbedding(nn.Module):
    """ViT: patches, a class token, positions."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Conv2d(3, 8, 4, 4)
        self.token, self.positions = nn.Parameter(torch.randn(1, 1, 8)), nn.Parameter(torch.randn(1, 17, 8))

    def forward(self, x):
        y = self.proj(x).flatten(2).transpose(1, 2)
        return torch.cat((self.token.expand(x.shape[0], -1, -1), y), dim=1) + self.positions


@example('f32[batch=2,3,16,16]')
class PatchesByHand(nn.Module):
    """lucidrains: patches by reshape and permute, a Linear."""

    def __init__(self):
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(48), nn.Linear(48, 8)

    def forward(self, x):
        y = x.reshape(x.shape[0], 3, 4, 4, 4, 4).permute(0, 2, 4, 3, 5, 1).reshape(x.shape[0], 16, 48)
        return self.linear(self.norm(y))


@example('f32[batch=2,8,8,16]')
def swin_windows(x):
    """Shifted, cut into windows, and back."""
    x = torch.roll(x, shifts=(-1, -1), dims=(1, 2))
    batch, height, width, channels = x.shape
    y = x.view(batch, height // 4, 4, width // 4, 4, channels).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, channels)
    y = torch.tanh(y).view(batch, height // 4, width // 4, 4, 4, channels).permute(0, 1, 3, 2, 4, 5)
    return torch.roll(y.reshape(batch, height, width, channels), shifts=(1, 1), dims=(1, 2))


@example('f32[batch=2,8,8,16]')
class PatchMerging(nn.Module):
    """Swin."""

    def __init__(self):
        super().__init__()
        self.norm, self.reduction = nn.LayerNorm(64), nn.Linear(64, 32, bias=False)

    def forward(self, x):
        parts = [x[:, i::2, j::2, :] for j in (0, 1) for i in (0, 1)]
        return self.reduction(self.norm(torch.cat(parts, -1)))


@example('f32[batch=2,3,height=8,width=6]')
class Normalized(nn.Module):
    """Pixels to the mean and deviation that a convolution was trained with."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.register_buffer('mean', torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1))
        self.register_buffer('std', torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1))

    def forward(self, x):
        return self.conv((x / 255 - self.mean) / self.std)


@example(IMAGE)
class LayerScaleConv(nn.Module):
    """A convolution, scaled per channel, added."""

    def __init__(self):
        super().__init__()
        self.conv, self.gamma = nn.Conv2d(8, 8, 3, padding=1), nn.Parameter(torch.rand(8, 1, 1))

    def forward(self, x):
        return x + self.gamma * self.conv(x)


@example('f32[batch=2,8,length=6]')
class GatedConv1d(nn.Module):
    """WaveNet and Conformer: padded on the left, a gate."""

    def __init__(self):
        super().__init__()
        self.conv, self.out = nn.Conv1d(8, 16, 3), nn.Conv1d(8, 8, 1)

    def forward(self, x):
        a, b = self.conv(F.pad(x, (2, 0))).chunk(2, dim=1)
        return x + self.out(torch.tanh(a) * torch.sigmoid(b))


@example(IMAGE)
class GatedConvGlu(nn.Module):
    """Conformer's pointwise, glu, depthwise, norm, swish."""

    def __init__(self):
        super().__init__()
        self.up, self.depthwise = nn.Conv2d(8, 16, 1), nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.norm, self.down = nn.BatchNorm2d(8), nn.Conv2d(8, 8, 1)

    def forward(self, x):
        return self.down(F.silu(self.norm(self.depthwise(F.glu(self.up(x), dim=1)))))


# --- between two convolutions -------------------------------------------------------


class Between(nn.Module):
    def __init__(self, middle, channels=8):
        super().__init__()
        self.first, self.middle, self.last = nn.Conv2d(8, 8, 3), middle, nn.Conv2d(channels, 8, 1)

    def forward(self, x):
        return self.last(self.middle(self.first(x)))


class Call(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def pyramid(x):
    y = F.max_pool2d(x, 3, 1, 1)
    return torch.cat((x, y, F.max_pool2d(y, 3, 1, 1)), 1)


def gate(x):
    a, b = x.chunk(2, 1)
    return a * torch.sigmoid(b)


def dense(x):
    return torch.cat((x, torch.relu(x)), 1)


BETWEEN = {  # what makes it, and the channels it leaves
    'prelu': (lambda: nn.PReLU(8), 8),
    'elu': (nn.ELU, 8),
    'mish': (nn.Mish, 8),
    'leaky_maximum': (lambda: Call(lambda x: torch.max(x, 0.2 * x)), 8),
    'batch_norm_relu': (lambda: nn.Sequential(nn.ReLU(), nn.BatchNorm2d(8), nn.ReLU()), 8),
    'concat_batch_norm_relu': (lambda: nn.Sequential(Call(dense), nn.BatchNorm2d(16), nn.ReLU()), 16),
    'instance_norm': (lambda: nn.Sequential(nn.InstanceNorm2d(8, affine=True), nn.ReLU()), 8),
    'group_norm_silu': (lambda: nn.Sequential(nn.GroupNorm(4, 8), nn.SiLU()), 8),
    'chunk_gate': (lambda: Call(gate), 4),
    'slice': (lambda: Call(lambda x: x[:, 2:6]), 4),
    'crop': (lambda: Call(lambda x: x[:, :, 1:-1, 1:-1]), 8),
    'pyramid': (lambda: Call(pyramid), 24),
    'nearest': (lambda: nn.Upsample(scale_factor=2), 8),
    'bilinear': (lambda: nn.Upsample(scale_factor=2, mode='bilinear'), 8),
    'reflection_pad': (lambda: nn.ReflectionPad2d(1), 8),
    'pixel_shuffle': (lambda: nn.PixelShuffle(2), 2),
    'conv_transpose': (lambda: nn.Sequential(nn.ConvTranspose2d(8, 8, 2, 2), nn.ReLU()), 8),
    'softmax': (lambda: nn.Softmax(1), 8),
    'channel_mean': (lambda: Call(lambda x: x * torch.sigmoid(x.mean(1, keepdim=True))), 8),
    'channel_shuffle': (lambda: Call(channel_shuffle), 8),
    'scale': (lambda: Call(lambda x: x * torch.arange(1.0, 9.0).view(1, 8, 1, 1) + 1), 8),
    'layer_norm': (lambda: Call(lambda x: F.layer_norm(x.permute(0, 2, 3, 1), (8,)).permute(0, 3, 1, 2)), 8),
    'dropout': (lambda: nn.Dropout2d(), 8),
    'adaptive_pool': (lambda: nn.AdaptiveAvgPool2d(1), 8),
    'l2_normalize': (lambda: Call(lambda x: F.normalize(x, dim=1)), 8),
}


def register_between():
    for name, (make, channels) in BETWEEN.items():
        def build(make=make, channels=channels):
            return Between(make(), channels)
        build.__name__ = f'between_{name}'
        example(IMAGE, opsets=(13, 17) if name != 'layer_norm' else (13,))(build)


register_between()
