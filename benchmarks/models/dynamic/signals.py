"""Networks on signals, written out in plain torch: the encoder of Whisper, a diffusion UNet, a detector
with non-maximum suppression in the graph, and a tagger of two bidirectional LSTM layers.
"""
import math

import torch
from torch import nn


# --- Whisper ------------------------------------------------------------------------


def sinusoids(length, width):
    scales = torch.exp(-math.log(10000) / (width // 2 - 1) * torch.arange(width // 2))
    angles = torch.arange(length)[:, None] * scales[None, :]
    return torch.cat((angles.sin(), angles.cos()), 1)


class WhisperLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.head_width = heads, width // heads
        self.query, self.value, self.out = (nn.Linear(width, width) for _ in range(3))
        self.key = nn.Linear(width, width, bias=False)
        self.attn_ln, self.mlp_ln = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def attention(self, x):
        batch, frames, width = x.shape
        scale = self.head_width**-0.25
        split = lambda y: y.view(batch, frames, self.heads, self.head_width)
        q = split(self.query(x)).permute(0, 2, 1, 3) * scale
        k = split(self.key(x)).permute(0, 2, 3, 1) * scale
        v = split(self.value(x)).permute(0, 2, 1, 3)
        context = torch.matmul(torch.softmax((q @ k).float(), -1), v)
        return self.out(context.permute(0, 2, 1, 3).flatten(start_dim=2))

    def forward(self, x):
        x = x + self.attention(self.attn_ln(x))
        return x + self.mlp(self.mlp_ln(x))


class WhisperEncoder(nn.Module):
    """Log-mel frames in, half as many states out."""

    def __init__(self, layers=2, width=128, heads=4, mels=80, frames=128):
        super().__init__()
        self.conv1 = nn.Conv1d(mels, width, kernel_size=3, padding=1)
        self.conv2 = nn.Conv1d(width, width, kernel_size=3, stride=2, padding=1)
        self.register_buffer('positions', sinusoids(frames, width))
        self.blocks = nn.ModuleList(WhisperLayer(width, heads) for _ in range(layers))
        self.ln_post = nn.LayerNorm(width)

    def forward(self, mel):
        x = nn.functional.gelu(self.conv1(mel))
        x = nn.functional.gelu(self.conv2(x)).permute(0, 2, 1)
        x = x + self.positions[:x.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.ln_post(x)


# --- UNet ---------------------------------------------------------------------------


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs, time_width, groups=8):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(groups, inputs), nn.GroupNorm(groups, outputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.time = nn.Linear(time_width, outputs)
        self.shortcut = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()
        self.silu = nn.SiLU()

    def forward(self, x, time):
        y = self.conv1(self.silu(self.norm1(x)))
        y = y + self.time(self.silu(time))[:, :, None, None]
        return self.conv2(self.silu(self.norm2(y))) + self.shortcut(x)


class CrossAttention(nn.Module):
    def __init__(self, width, context_width, heads):
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(width, width, bias=False)
        self.to_k = nn.Linear(context_width, width, bias=False)
        self.to_v = nn.Linear(context_width, width, bias=False)
        self.to_out = nn.Linear(width, width)

    def split_heads(self, x):
        """Heads become part of the batch."""
        batch, length, width = x.shape
        x = x.reshape(batch, length, self.heads, width // self.heads).permute(0, 2, 1, 3)
        return x.reshape(batch * self.heads, length, width // self.heads)

    def forward(self, x, context):
        batch, length, width = x.shape
        q, k, v = (self.split_heads(y)
                   for y in (self.to_q(x), self.to_k(context), self.to_v(context)))
        weights = (torch.bmm(q, k.transpose(1, 2)) * (width // self.heads)**-0.5).softmax(dim=-1)
        y = torch.bmm(weights, v).reshape(batch, self.heads, length, width // self.heads)
        return self.to_out(y.permute(0, 2, 1, 3).reshape(batch, length, width))


class SpatialTransformer(nn.Module):
    """Self-attention over pixels, attention to the context, and a gated GELU, as a residual."""

    def __init__(self, width, context_width, heads=4, groups=8):
        super().__init__()
        self.norm = nn.GroupNorm(groups, width, eps=1e-6)
        self.proj_in, self.proj_out = nn.Conv2d(width, width, 1), nn.Conv2d(width, width, 1)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.attn1 = CrossAttention(width, width, heads)
        self.attn2 = CrossAttention(width, context_width, heads)
        self.geglu, self.down = nn.Linear(width, 8 * width), nn.Linear(4 * width, width)

    def forward(self, x, context):
        batch, channels, height, width = x.shape
        y = self.proj_in(self.norm(x))
        y = y.permute(0, 2, 3, 1).reshape(batch, height * width, channels)
        z = self.norm1(y)
        y = y + self.attn1(z, z)
        y = y + self.attn2(self.norm2(y), context)
        value, gate = self.geglu(self.norm3(y)).chunk(2, dim=-1)
        y = y + self.down(value * nn.functional.gelu(gate))
        y = y.reshape(batch, height, width, channels).permute(0, 3, 1, 2)
        return x + self.proj_out(y)


class Unet(nn.Module):
    """A noisy latent, its time step and the context of a prompt in, the noise out."""

    def __init__(self, channels=32, context_width=48, latent=4):
        super().__init__()
        self.channels, wide, time = channels, 2 * channels, 4 * channels
        self.time1, self.time2 = nn.Linear(channels, time), nn.Linear(time, time)
        self.conv_in = nn.Conv2d(latent, channels, 3, padding=1)
        self.down1 = ResidualBlock(channels, channels, time)
        self.shrink1 = nn.Conv2d(channels, channels, 3, stride=2, padding=1)
        self.down2 = ResidualBlock(channels, wide, time)
        self.attn2 = SpatialTransformer(wide, context_width)
        self.shrink2 = nn.Conv2d(wide, wide, 3, stride=2, padding=1)
        self.mid1, self.mid2 = ResidualBlock(wide, wide, time), ResidualBlock(wide, wide, time)
        self.mid_attn = SpatialTransformer(wide, context_width)
        self.grow2 = nn.Conv2d(wide, wide, 3, padding=1)
        self.up2 = ResidualBlock(2 * wide, wide, time)
        self.up_attn2 = SpatialTransformer(wide, context_width)
        self.grow1 = nn.Conv2d(wide, wide, 3, padding=1)
        self.up1 = ResidualBlock(wide + channels, channels, time)
        self.norm_out = nn.GroupNorm(8, channels)
        self.conv_out = nn.Conv2d(channels, latent, 3, padding=1)

    def embed_time(self, steps):
        half = self.channels // 2
        exponent = -math.log(10000) * torch.arange(0, half, dtype=torch.float32) / half
        angles = steps[:, None].float() * torch.exp(exponent)[None, :]
        embedded = torch.cat([torch.cos(angles), torch.sin(angles)], dim=-1)
        return self.time2(nn.functional.silu(self.time1(embedded)))

    def forward(self, sample, timestep, context):
        time = self.embed_time(timestep)
        grow = lambda x: nn.functional.interpolate(x, scale_factor=2.0, mode='nearest')
        x1 = self.down1(self.conv_in(sample), time)
        x2 = self.attn2(self.down2(self.shrink1(x1), time), context)
        y = self.mid1(self.shrink2(x2), time)
        y = self.mid2(self.mid_attn(y, context), time)
        y = self.up2(torch.cat((self.grow2(grow(y)), x2), 1), time)
        y = self.up_attn2(y, context)
        y = self.up1(torch.cat((self.grow1(grow(y)), x1), 1), time)
        return self.conv_out(nn.functional.silu(self.norm_out(y)))


# --- detector -----------------------------------------------------------------------


class NonMaxSuppression(torch.autograd.Function):
    """ONNX's operator: rows (image, class, box), for each image and class by falling score."""

    @staticmethod
    def symbolic(g, boxes, scores, limit, overlap, threshold):
        constant = lambda value, dtype: g.op('Constant', value_t=torch.tensor([value], dtype=dtype))
        return g.op('NonMaxSuppression', boxes, scores, constant(limit, torch.int64),
                    constant(overlap, torch.float32), constant(threshold, torch.float32))

    @staticmethod
    def forward(ctx, boxes, scores, limit, overlap, threshold):
        rows = []
        for image in range(boxes.shape[0]):
            for kind in range(scores.shape[1]):
                rows += [(image, kind, box) for box in NonMaxSuppression.select(
                    boxes[image], scores[image, kind], limit, overlap, threshold)]
        return torch.tensor(rows, dtype=torch.int64).reshape(-1, 3)

    @staticmethod
    def select(boxes, scores, limit, overlap, threshold):
        area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        kept = []
        for i in torch.argsort(scores, descending=True, stable=True).tolist():
            if scores[i] <= threshold or len(kept) == limit:
                break
            low = torch.maximum(boxes[i, :2], boxes[kept, :2])
            high = torch.minimum(boxes[i, 2:], boxes[kept, 2:])
            both = (high - low).clamp(min=0).prod(-1)
            if bool((both / (area[i] + area[kept] - both) <= overlap).all()):
                kept.append(i)
        return kept


class ConvUnit(nn.Sequential):
    def __init__(self, inputs, outputs, kernel=3, stride=1, groups=1):
        super().__init__(
            nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
            nn.BatchNorm2d(outputs), nn.Hardswish())


class Detector(nn.Module):
    """Images in; boxes (left, top, right, bottom in pixels), scores, classes and the image of each
    detection out. Two levels of a feature pyramid, three anchors per cell."""

    def __init__(self, width=32, classes=5, anchors=3):
        super().__init__()
        self.classes = classes
        self.stem = nn.Sequential(ConvUnit(3, 16, stride=2), ConvUnit(16, 16, groups=16),
                                  ConvUnit(16, width, 1), ConvUnit(width, width, stride=2))
        self.fine = nn.Sequential(ConvUnit(width, width, stride=2), ConvUnit(width, width))
        self.coarse = nn.Sequential(ConvUnit(width, 2 * width, stride=2), ConvUnit(2 * width, 2 * width))
        self.lateral, self.top = nn.Conv2d(width, width, 1), nn.Conv2d(2 * width, width, 1)
        self.smooth = ConvUnit(2 * width, width)
        self.heads = nn.ModuleList(nn.Conv2d(width, anchors * (5 + classes), 1) for _ in range(2))
        for part in self.modules():  # else the signal fades and all scores are nearly equal
            if isinstance(part, nn.Conv2d):
                nn.init.kaiming_normal_(part.weight)
        sizes = torch.tensor([[[10., 13], [16, 30], [33, 23]], [[30., 61], [62, 45], [59, 99]]])
        self.register_buffer('sizes', sizes)

    def decode(self, x, level, stride):
        """Predictions of one level as boxes and scores, anchors and cells in one dimension."""
        batch, _, height, width = x.shape
        x = self.heads[level](x).view(batch, 3, 5 + self.classes, height, width)
        x = x.permute(0, 1, 3, 4, 2).contiguous().sigmoid()
        rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing='ij')
        grid = torch.stack((columns, rows), 2).view(1, 1, height, width, 2).float()
        centre = (x[..., 0:2] * 2 - 0.5 + grid) * stride
        size = (x[..., 2:4] * 2)**2 * self.sizes[level].view(1, 3, 1, 1, 2)
        boxes = torch.cat((centre - size / 2, centre + size / 2), -1)
        scores = x[..., 4:5] * x[..., 5:]
        return boxes.view(batch, -1, 4), scores.view(batch, -1, self.classes)

    def forward(self, images):
        fine = self.fine(self.stem(images))
        top = self.top(self.coarse(fine))
        grown = nn.functional.interpolate(top, size=fine.shape[2:], mode='bilinear',
                                          align_corners=False)
        merged = self.smooth(torch.cat((grown, self.lateral(fine)), 1))
        fine_boxes, fine_scores = self.decode(merged, 0, 8)
        coarse_boxes, coarse_scores = self.decode(top, 1, 16)
        boxes = torch.cat((fine_boxes, coarse_boxes), 1)
        scores = torch.cat((fine_scores, coarse_scores), 1)
        rows = NonMaxSuppression.apply(boxes, scores.transpose(1, 2), 20, 0.45, 0.3)
        image, kind, box = rows[:, 0], rows[:, 1], rows[:, 2]
        return boxes[image, box], scores[image, box, kind], kind, image


# --- tagger -------------------------------------------------------------------------


class Tagger(nn.Module):
    """Words in, the logits of a tag for each and the tags out."""

    def __init__(self, words=500, width=48, hidden=64, tags=9):
        super().__init__()
        self.embedding = nn.Embedding(words, width, padding_idx=0)
        self.lstm = nn.LSTM(width, hidden, num_layers=2, bidirectional=True, batch_first=True)
        self.tags = nn.Linear(2 * hidden, tags)

    def forward(self, words):
        states, _ = self.lstm(self.embedding(words))
        logits = self.tags(states)
        return torch.log_softmax(logits, -1), logits.argmax(-1)
