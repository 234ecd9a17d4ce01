"""The eleven networks the benchmarks use, as plain torch modules with random weights.

`build(name)` seeds torch and numpy, then returns (module in eval mode, example inputs, input
names). The same name always gives the same weights and inputs; the order in which parameters and
inputs are drawn is part of that promise. `build(name, Scale(...))` is the same network on inputs of
another size. Attribute names of submodules become ONNX value names.

Transformers are written out op by op, as exporters leave them: separate MatMul and Add, softmax
and GELU spelled in primitives, LayerNorm decomposed by torch's exporter.
"""
import collections
import math

import numpy as np
import torch
import torchvision
from torch import nn

SEED = 1234


class Attention(nn.Module):
    """Multi-head self-attention with separate q, k, v and an optional additive mask."""

    def __init__(self, width, heads, tokens, batch=1):
        super().__init__()
        self.width, self.heads, self.tokens, self.batch = width, heads, tokens, batch
        self.head_width = width // heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))

    def split_heads(self, x):
        return x.view(self.batch, self.tokens, self.heads, self.head_width).permute(0, 2, 1, 3)

    def forward(self, x, mask=None):
        q, k, v = (self.split_heads(f(x)) for f in (self.q, self.k, self.v))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head_width)
        if mask is not None:
            scores = scores + mask
        context = torch.matmul(torch.softmax(scores, -1), v).permute(0, 2, 1, 3)
        return self.o(context.contiguous().view(self.batch, self.tokens, self.width))


def erf_gelu(x):
    return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


class BertLayer(nn.Module):
    """Post-norm encoder layer."""

    def __init__(self, width, heads, hidden, tokens, batch=1):
        super().__init__()
        self.att = Attention(width, heads, tokens, batch)
        self.ln1 = nn.LayerNorm(width, eps=1e-12)
        self.fc1 = nn.Linear(width, hidden)
        self.fc2 = nn.Linear(hidden, width)
        self.ln2 = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x, mask):
        x = self.ln1(self.att(x, mask) + x)
        return self.ln2(self.fc2(erf_gelu(self.fc1(x))) + x)


class BertEncoder(nn.Module):
    """Float hidden states and an additive mask in, hidden states out."""

    def __init__(self, layers, width, heads, hidden, tokens, batch=1):
        super().__init__()
        self.ln = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(
            BertLayer(width, heads, hidden, tokens, batch) for _ in range(layers))

    def forward(self, x, mask):
        x = self.ln(x)
        for layer in self.layers:
            x = layer(x, mask)
        return x


class BertFromIds(nn.Module):
    """The shape of Hugging Face's BertModel: ids, token types and a 0/1 mask in; embeddings,
    encoder, pooler."""

    def __init__(self, layers, width, heads, hidden, tokens, vocabulary=30522):
        super().__init__()
        self.we = nn.Embedding(vocabulary, width)
        self.pe = nn.Embedding(512, width)
        self.te = nn.Embedding(2, width)
        self.ln = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(
            BertLayer(width, heads, hidden, tokens) for _ in range(layers))
        self.pool = nn.Linear(width, width)
        self.register_buffer('pos', torch.arange(tokens).unsqueeze(0))

    def forward(self, ids, token_types, attention_mask):
        mask = attention_mask.unsqueeze(1).unsqueeze(2).to(torch.float32)
        mask = (1.0 - mask) * -10000.0
        x = self.ln(self.we(ids) + self.te(token_types) + self.pe(self.pos))
        for layer in self.layers:
            x = layer(x, mask)
        return x, torch.tanh(self.pool(x[:, 0]))


class VitBlock(nn.Module):
    """One pre-norm block of ViT-B/16, q, k and v in one projection."""

    def __init__(self, width=768, heads=12, hidden=3072, tokens=197, batch=1):
        super().__init__()
        self.width, self.heads, self.tokens, self.batch = width, heads, tokens, batch
        self.head_width = width // heads
        self.ln1 = nn.LayerNorm(width, eps=1e-6)
        self.qkv = nn.Linear(width, 3 * width)
        self.o = nn.Linear(width, width)
        self.ln2 = nn.LayerNorm(width, eps=1e-6)
        self.fc1 = nn.Linear(width, hidden)
        self.fc2 = nn.Linear(hidden, width)

    def forward(self, x):
        y = self.qkv(self.ln1(x)).view(self.batch, self.tokens, 3, self.heads, self.head_width)
        y = y.permute(2, 0, 3, 1, 4)
        q, k, v = y[0], y[1], y[2]
        scores = torch.matmul(q, k.transpose(-1, -2)) * (1 / math.sqrt(self.head_width))
        context = torch.matmul(torch.softmax(scores, -1), v).transpose(1, 2)
        x = x + self.o(context.reshape(self.batch, self.tokens, self.width))
        return x + self.fc2(erf_gelu(self.fc1(self.ln2(x))))


class GemmaAttention(nn.Module):
    """Gemma 3 1B attention over a key/value cache, as AI Edge Torch writes it: the new keys and
    values are not joined to the cache, the scores are. No weights."""

    def __init__(self, tokens, heads=4, kv_heads=1, head_width=256, cache=1280):
        super().__init__()
        self.tokens, self.heads, self.kv_heads = tokens, heads, kv_heads
        self.head_width, self.cache = head_width, cache

    def forward(self, q, kslice, vslice, kcache, vcache, mask):
        tokens, heads, kv_heads = self.tokens, self.heads, self.kv_heads
        head_width, cached = self.head_width, self.kv_heads * self.cache
        length = cached + kv_heads * tokens
        q = (q * (head_width**-0.5)).permute(0, 2, 1, 3).reshape(1, 1, heads * tokens, head_width)
        new_k = kslice.reshape(1, 1, kv_heads * tokens, head_width)
        new_v = vslice.permute(0, 2, 3, 1)
        scores = torch.cat([
            torch.matmul(q, kcache.transpose(-1, -2)),
            torch.matmul(q, new_k.transpose(-1, -2)),
        ], -1).reshape(1, heads, tokens, length)
        scores = (scores + mask).reshape(1, 1, heads * tokens, length)
        p = torch.softmax(scores, -1)
        p_cached, p_new = p[..., :cached], p[..., cached:]
        out = (torch.matmul(p_cached, vcache.transpose(-1, -2)) +
               torch.matmul(p_new, new_v.transpose(-1, -2)))
        out = out.reshape(1, heads, tokens, head_width).permute(0, 2, 1, 3)
        return out.reshape(1, tokens, heads * head_width), new_k, new_v


class PaddleAttention(nn.Module):
    """The attention of Paddle's DRR demo: the scale is on q, the mask is full, no projection."""

    def __init__(self, tokens=300, width=256, heads=8):
        super().__init__()
        self.tokens, self.width, self.heads = tokens, width, heads
        for n in 'qkv':
            setattr(self, 'w' + n, nn.Parameter(torch.randn(width, width) * width**-0.5))
            setattr(self, 'b' + n, nn.Parameter(torch.randn(width) * 0.1))

    def project(self, x, weight, bias):
        y = torch.matmul(x, weight) + bias
        return y.reshape(1, self.tokens, self.heads, self.width // self.heads).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        q = self.project(x, self.wq, self.bq) * 0.176777
        k = self.project(x, self.wk, self.bk)
        v = self.project(x, self.wv, self.bv)
        p = torch.softmax(torch.matmul(q, k.transpose(-1, -2)) + mask, -1)
        return torch.matmul(p, v).permute(0, 2, 1, 3).reshape(1, self.tokens, self.width)


def randomize_batch_norm(module):
    """Gives BatchNormalization statistics that a wrong folding would not survive."""
    for part in module.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.weight.data.uniform_(0.6, 1.2)
            part.bias.data.uniform_(-0.2, 0.2)
            part.running_mean.uniform_(-0.2, 0.2)
            part.running_var.uniform_(0.6, 1.6)
    return module


class Scale(collections.namedtuple('Scale', ['batch', 'tokens', 'image'])):
    """Sizes of inputs: how many at once, the length of each sequence, the side of each image. None:
    as the model has it."""

    def name_of(self, name):
        """bert_tiny_b8_t512 of bert_tiny"""
        parts = [f'{key[0]}{size}' for key, size in self._asdict().items() if size is not None]
        return '_'.join([name, *parts])


AS_IT_IS = Scale(None, None, None)


def vision(name, scale):
    module = randomize_batch_norm(getattr(torchvision.models, name)(weights=None))
    side = scale.image or 224
    return module, (torch.randn(scale.batch or 1, 3, side, side),), ['x']


def keep_mask(tokens):
    """1 for tokens to attend to; the last eighth is padding."""
    padding = tokens // 8
    return torch.cat([torch.ones(1, tokens - padding), torch.zeros(1, padding)], 1)


def additive_mask(tokens):
    return (1 - keep_mask(tokens)).view(1, 1, 1, tokens) * -10000


def bert(layers, width, heads, hidden, scale):
    batch, tokens = scale.batch or 1, scale.tokens or 128
    module = BertEncoder(layers, width, heads, hidden, tokens, batch)
    return module, (torch.randn(batch, tokens, width), additive_mask(tokens)), ['x', 'mask']


def vit(scale):
    batch, tokens = scale.batch or 1, scale.tokens or 197
    module = VitBlock(tokens=tokens, batch=batch)
    return module, (torch.randn(batch, tokens, 768),), ['x']


def bert_from_ids(tokens=128):
    module = BertFromIds(12, 768, 12, 3072, tokens)
    inputs = (torch.randint(0, 30522, (1, tokens)), torch.zeros(1, tokens, dtype=torch.long),
              keep_mask(tokens).long())
    return module, inputs, ['ids', 'tt', 'am']


def gemma(tokens, cache=1280):
    inputs = (torch.randn(1, tokens, 4, 256), torch.randn(1, tokens, 1, 256),
              torch.randn(1, tokens, 1, 256), torch.randn(1, 1, cache, 256),
              torch.randn(1, 1, 256, cache), torch.zeros(1, 1, tokens, cache + tokens))
    names = ['q', 'kslice', 'vslice', 'kcache', 'vcache', 'mask']
    return GemmaAttention(tokens, cache=cache), inputs, names


def paddle():
    module = PaddleAttention()
    return module, (torch.randn(1, 300, 256), torch.randn(1, 8, 300, 300)), ['x', 'mask']


# The first ones run on other sizes too: of images, or of sequences.
OF_IMAGES = {
    'resnet50': lambda scale: vision('resnet50', scale),
    'mobilenet_v2': lambda scale: vision('mobilenet_v2', scale),
    'mobilenet_v3_large': lambda scale: vision('mobilenet_v3_large', scale),
    'squeezenet': lambda scale: vision('squeezenet1_1', scale),
}
OF_TOKENS = {
    'bert_base': lambda scale: bert(12, 768, 12, 3072, scale),
    'bert_tiny': lambda scale: bert(2, 128, 2, 512, scale),
    'vit_block': vit,
}
OF_ONE_SIZE = {
    'bert_base_ids': lambda _: bert_from_ids(),
    'gemma_prefill': lambda _: gemma(128),
    'gemma_decode': lambda _: gemma(1),
    'paddle_attn': lambda _: paddle(),
}
MODELS = {**OF_IMAGES, **OF_TOKENS, **OF_ONE_SIZE}


def why_not(name, scale):
    """Why a model has no such inputs, or None."""
    if scale.image is not None and name not in OF_IMAGES:
        return f'{name} takes no images; these do: {", ".join(OF_IMAGES)}'
    if scale.tokens is not None and name not in OF_TOKENS:
        return f'{name} takes no sequences of any length; these do: {", ".join(OF_TOKENS)}'
    if scale.batch is not None and name in OF_ONE_SIZE:
        return f'{name} takes one input; these take more: {", ".join([*OF_IMAGES, *OF_TOKENS])}'
    return None


def build(name, scale=AS_IT_IS):
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    module, inputs, names = MODELS[name](scale)
    return module.eval(), inputs, names
