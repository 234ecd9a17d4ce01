"""Networks on tokens, written out in plain torch as well-known implementations have them: a decoder with
grouped queries, rotary embedding and a cache (Llama), GPT-2, an encoder-decoder (T5), and a decoder that
generates token after token in a loop of the graph.
"""
import math
from typing import Tuple

import torch
from torch import nn


class RmsNorm(nn.Module):
    """Scale by the root of the mean square; no bias, no mean."""

    def __init__(self, width, epsilon=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, x):
        variance = x.to(torch.float32).pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(variance + self.epsilon))


def randomize_norms(module):
    """Gives normalizations weights and statistics that a wrong rewrite would not survive."""
    for part in module.modules():
        if isinstance(part, (nn.LayerNorm, nn.GroupNorm, nn.BatchNorm2d, RmsNorm)):
            part.weight.data.uniform_(0.6, 1.4)
            if not isinstance(part, RmsNorm):
                part.bias.data.uniform_(-0.2, 0.2)
        if isinstance(part, nn.BatchNorm2d):
            part.running_mean.uniform_(-0.2, 0.2)
            part.running_var.uniform_(0.6, 1.6)


# --- Llama --------------------------------------------------------------------------


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), -1)


def repeat_heads(x, times):
    """Each key/value head for `times` query heads."""
    batch, heads, length, width = x.shape
    x = x[:, :, None, :, :].expand(batch, heads, times, length, width)
    return x.reshape(batch, heads * times, length, width)


def scaled_dot_product_attention(q, k, v, mask):
    """As torch's exporter spells the function: the root of the scale on both factors."""
    root = math.sqrt(1.0 / math.sqrt(q.shape[-1]))
    scores = torch.matmul(q * root, k.transpose(-1, -2) * root)
    return torch.matmul(torch.softmax(scores + mask, -1), v)


class LlamaAttention(nn.Module):
    def __init__(self, width, heads, kv_heads):
        super().__init__()
        self.heads, self.kv_heads, self.head_width = heads, kv_heads, width // heads
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, kv_heads * self.head_width, bias=False)
        self.v_proj = nn.Linear(width, kv_heads * self.head_width, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)

    def forward(self, x, cos, sin, mask, past_key, past_value):
        batch, length, _ = x.shape
        q = self.q_proj(x).view(batch, length, self.heads, self.head_width).transpose(1, 2)
        k = self.k_proj(x).view(batch, length, self.kv_heads, self.head_width).transpose(1, 2)
        v = self.v_proj(x).view(batch, length, self.kv_heads, self.head_width).transpose(1, 2)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        key, value = torch.cat((past_key, k), 2), torch.cat((past_value, v), 2)
        times = self.heads // self.kv_heads
        context = scaled_dot_product_attention(q, repeat_heads(key, times),
                                               repeat_heads(value, times), mask)
        context = context.transpose(1, 2).contiguous().reshape(batch, length, -1)
        return self.o_proj(context), key, value


class LlamaLayer(nn.Module):
    def __init__(self, width, heads, kv_heads, hidden):
        super().__init__()
        self.input_layernorm = RmsNorm(width)
        self.self_attn = LlamaAttention(width, heads, kv_heads)
        self.post_attention_layernorm = RmsNorm(width)
        self.gate_proj = nn.Linear(width, hidden, bias=False)
        self.up_proj = nn.Linear(width, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, width, bias=False)

    def forward(self, x, cos, sin, mask, past_key, past_value):
        context, key, value = self.self_attn(self.input_layernorm(x), cos, sin, mask, past_key,
                                             past_value)
        x = x + context
        y = self.post_attention_layernorm(x)
        y = self.down_proj(nn.functional.silu(self.gate_proj(y)) * self.up_proj(y))
        return x + y, key, value


class Llama(nn.Module):
    """Ids, a 0/1 mask over cache and new tokens, positions and the cache in; logits and the longer
    cache out."""

    def __init__(self, layers=2, width=128, heads=8, kv_heads=2, hidden=352, vocabulary=512):
        super().__init__()
        head_width = width // heads
        self.kv_heads, self.head_width = kv_heads, head_width
        self.embed_tokens = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(
            LlamaLayer(width, heads, kv_heads, hidden) for _ in range(layers))
        self.norm = RmsNorm(width)
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        self.register_buffer(
            'inv_freq', 1.0 / 10000.0**(torch.arange(0, head_width, 2).float() / head_width))

    def rotary(self, position_ids):
        frequencies = self.inv_freq[None, :, None].expand(position_ids.shape[0], -1, 1)
        angles = torch.matmul(frequencies, position_ids[:, None, :].to(torch.float32))
        angles = angles.transpose(1, 2)
        angles = torch.cat((angles, angles), -1)
        return angles.cos().unsqueeze(1), angles.sin().unsqueeze(1)

    def causal_mask(self, attention_mask, position_ids):
        total = attention_mask.shape[1]
        columns = torch.arange(total, device=attention_mask.device)
        visible = columns[None, None, None, :] <= position_ids[:, None, :, None]
        visible = visible & attention_mask[:, None, None, :].to(torch.bool)
        lowest = torch.tensor(torch.finfo(torch.float32).min)
        return torch.where(visible, torch.tensor(0.0), lowest)

    def forward(self, input_ids, attention_mask, position_ids, *past):
        x = self.embed_tokens(input_ids)
        cos, sin = self.rotary(position_ids)
        mask = self.causal_mask(attention_mask, position_ids)
        present = []
        for i, layer in enumerate(self.layers):
            x, key, value = layer(x, cos, sin, mask, past[2 * i], past[2 * i + 1])
            present += [key, value]
        return (self.lm_head(self.norm(x)), *present)


# --- GPT-2 --------------------------------------------------------------------------


class Conv1D(nn.Module):
    """GPT-2's name for a linear layer whose weight is stored transposed."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * inputs**-0.5)
        self.bias = nn.Parameter(torch.randn(outputs) * 0.02)

    def forward(self, x):
        shape = x.size()[:-1] + (self.weight.shape[1],)
        return torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight).view(shape)


def tanh_gelu(x):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


class Gpt2Attention(nn.Module):
    def __init__(self, width, heads, positions):
        super().__init__()
        self.width, self.heads, self.head_width = width, heads, width // heads
        self.c_attn, self.c_proj = Conv1D(width, 3 * width), Conv1D(width, width)
        lower = torch.tril(torch.ones(positions, positions, dtype=torch.bool))
        self.register_buffer('bias', lower.view(1, 1, positions, positions))

    def split_heads(self, x):
        return x.view(x.size()[:-1] + (self.heads, self.head_width)).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        q, k, v = (self.split_heads(y) for y in self.c_attn(x).split(self.width, dim=2))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head_width)
        length = x.size(1)
        lowest = torch.full([], torch.finfo(torch.float32).min, dtype=torch.float32)
        scores = torch.where(self.bias[:, :, :length, :length], scores, lowest) + mask
        context = torch.matmul(torch.softmax(scores, -1), v).permute(0, 2, 1, 3).contiguous()
        return self.c_proj(context.view(context.size()[:-2] + (self.width,)))


class Gpt2Block(nn.Module):
    def __init__(self, width, heads, positions):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = Gpt2Attention(width, heads, positions)
        self.c_fc, self.c_proj = Conv1D(width, 4 * width), Conv1D(4 * width, width)

    def forward(self, x, mask):
        x = x + self.attn(self.ln_1(x), mask)
        return x + self.c_proj(tanh_gelu(self.c_fc(self.ln_2(x))))


class Gpt2(nn.Module):
    """Ids and a 0/1 mask in, logits out; the weight of the last product is the embedding's."""

    def __init__(self, layers=2, width=128, heads=4, positions=64, vocabulary=512):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.h = nn.ModuleList(Gpt2Block(width, heads, positions) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)

    def forward(self, input_ids, attention_mask):
        batch, length = input_ids.shape
        mask = attention_mask.view(batch, -1)[:, None, None, :].to(torch.float32)
        mask = (1.0 - mask) * torch.finfo(torch.float32).min
        positions = torch.arange(0, length, dtype=torch.long).unsqueeze(0).view(-1, length)
        x = self.wte(input_ids) + self.wpe(positions)
        for block in self.h:
            x = block(x, mask)
        return torch.matmul(self.ln_f(x), self.wte.weight.t())


# --- T5 -----------------------------------------------------------------------------


class T5Attention(nn.Module):
    """No scale and no bias; the first layer of a stack adds a learnt bias per distance."""

    def __init__(self, width, heads, head_width, bidirectional=None, buckets=32):
        super().__init__()
        self.heads, self.head_width = heads, head_width
        self.bidirectional, self.buckets = bidirectional, buckets
        self.q, self.k, self.v = (nn.Linear(width, heads * head_width, bias=False) for _ in 'qkv')
        self.o = nn.Linear(heads * head_width, width, bias=False)
        if bidirectional is not None:
            self.relative_attention_bias = nn.Embedding(buckets, heads)

    def bucket(self, distance, max_distance=128):
        result, buckets = 0, self.buckets
        if self.bidirectional:
            buckets //= 2
            result = (distance > 0).to(torch.long) * buckets
            distance = torch.abs(distance)
        else:
            distance = -torch.min(distance, torch.zeros_like(distance))
        exact = buckets // 2
        far = exact + (torch.log(distance.float() / exact) / math.log(max_distance / exact) *
                       (buckets - exact)).to(torch.long)
        far = torch.min(far, torch.full_like(far, buckets - 1))
        return result + torch.where(distance < exact, distance, far)

    def position_bias(self, queries, keys):
        distance = torch.arange(keys)[None, :] - torch.arange(queries)[:, None]
        return self.relative_attention_bias(self.bucket(distance)).permute([2, 0, 1]).unsqueeze(0)

    def forward(self, x, source, bias):
        batch = x.shape[0]
        split = lambda y: y.view(batch, -1, self.heads, self.head_width).transpose(1, 2)
        q, k, v = split(self.q(x)), split(self.k(source)), split(self.v(source))
        scores = torch.matmul(q, k.transpose(3, 2)) + bias
        weights = torch.softmax(scores.float(), dim=-1).type_as(scores)
        context = torch.matmul(weights, v).transpose(1, 2).contiguous()
        return self.o(context.view(batch, -1, self.heads * self.head_width))


class T5Block(nn.Module):
    def __init__(self, width, heads, head_width, hidden, decoder, first):
        super().__init__()
        norms = 3 if decoder else 2
        self.norms = nn.ModuleList(RmsNorm(width) for _ in range(norms))
        self.self_attention = T5Attention(width, heads, head_width, not decoder if first else None)
        self.cross_attention = T5Attention(width, heads, head_width) if decoder else None
        self.wi, self.wo = nn.Linear(width, hidden, bias=False), nn.Linear(hidden, width, bias=False)

    def forward(self, x, bias, encoded=None, cross_bias=None):
        y = self.norms[0](x)
        x = x + self.self_attention(y, y, bias)
        if self.cross_attention is not None:
            x = x + self.cross_attention(self.norms[1](x), encoded, cross_bias)
        return x + self.wo(torch.relu(self.wi(self.norms[-1](x))))


class T5(nn.Module):
    """Ids and mask of the source and ids of the target so far in, logits out."""

    def __init__(self, layers=2, width=128, heads=4, head_width=32, hidden=256, vocabulary=512):
        super().__init__()
        self.width = width
        self.shared = nn.Embedding(vocabulary, width)
        self.encoder = nn.ModuleList(
            T5Block(width, heads, head_width, hidden, False, i == 0) for i in range(layers))
        self.decoder = nn.ModuleList(
            T5Block(width, heads, head_width, hidden, True, i == 0) for i in range(layers))
        self.encoder_norm, self.decoder_norm = RmsNorm(width), RmsNorm(width)

    def forward(self, input_ids, attention_mask, decoder_input_ids):
        lowest = torch.finfo(torch.float32).min
        cross_bias = (1.0 - attention_mask[:, None, None, :].to(torch.float32)) * lowest
        source, target = input_ids.shape[1], decoder_input_ids.shape[1]
        x = self.shared(input_ids)
        bias = self.encoder[0].self_attention.position_bias(source, source) + cross_bias
        for block in self.encoder:
            x = block(x, bias)
        encoded = self.encoder_norm(x)
        steps = torch.arange(target)
        causal = steps[None, None, :].repeat(input_ids.shape[0], target, 1) <= steps[None, :, None]
        causal = (1.0 - causal[:, None, :, :].to(torch.float32)) * lowest
        bias = self.decoder[0].self_attention.position_bias(target, target) + causal
        y = self.shared(decoder_input_ids)
        for block in self.decoder:
            y = block(y, bias, encoded, cross_bias)
        y = self.decoder_norm(y) * self.width**-0.5
        return torch.matmul(y, self.shared.weight.t())


# --- a loop -------------------------------------------------------------------------


class DecoderStep(nn.Module):
    """A causal transformer over all tokens so far; the logits of the next one."""

    def __init__(self, width=64, heads=4, vocabulary=128, positions=64):
        super().__init__()
        self.heads, self.head_width = heads, width // heads
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        batch, length = ids.size(0), ids.size(1)
        x = self.tokens(ids) + self.positions(torch.arange(length))
        qkv = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, self.head_width)
        qkv = qkv.permute(2, 0, 3, 1, 4)
        scores = torch.matmul(qkv[0], qkv[1].transpose(-1, -2)) / math.sqrt(self.head_width)
        later = torch.arange(length).unsqueeze(0) > torch.arange(length).unsqueeze(1)
        scores = scores.masked_fill(later, -10000.0)
        context = torch.matmul(torch.softmax(scores, -1), qkv[2]).transpose(1, 2)
        x = x + self.out(context.reshape(batch, length, -1))
        x = x + self.down(torch.relu(self.up(self.norm2(x))))
        return self.head(self.norm3(x[:, -1]))


class Generator(nn.Module):
    """A prompt and a bound in; the prompt with what was generated, and the sum of the chosen logits.
    Ends early when every row has ended."""

    def __init__(self, end=7):
        super().__init__()
        step = DecoderStep().eval()
        randomize_norms(step)  # while they can still be told
        self.step = torch.jit.trace(step, torch.zeros(2, 5, dtype=torch.long))
        self.end = end

    def forward(self, ids: torch.Tensor, steps: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        total = torch.zeros(ids.size(0))
        ended = torch.zeros(ids.size(0), dtype=torch.bool)
        done, i = False, 0
        while i < int(steps) and not done:
            best, chosen = torch.max(self.step(ids), dim=-1)
            chosen = chosen.masked_fill(ended, self.end)
            total = total + best.masked_fill(ended, 0.0)
            ids = torch.cat((ids, chosen.unsqueeze(1)), 1)
            ended = ended | (chosen == self.end)
            done = bool(torch.all(ended))
            i += 1
        return ids, total
