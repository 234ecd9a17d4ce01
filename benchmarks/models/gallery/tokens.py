"""Embeddings, products, masks, positions, and recurrent layers."""
import torch
from torch import nn
import torch.nn.functional as F

from gallery import example

SEQUENCE = 'f32[batch=2,length=6,16]'
IDS = 'ids<32>[batch=2,length=6]'
ROWS = 'f32[batch=2,16]'


@example(IDS, 'ids<2>[batch=2,length=6]')
class BertEmbeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.positions = nn.Embedding(32, 16, padding_idx=0), nn.Embedding(24, 16)
        self.kinds, self.norm = nn.Embedding(2, 16), nn.LayerNorm(16, eps=1e-12)
        self.register_buffer('ids', torch.arange(24).expand((1, -1)))

    def forward(self, words, kinds):
        x = self.words(words) + self.kinds(kinds)
        x += self.positions(self.ids[:, :words.shape[1]])
        return self.norm(x)


@example(IDS)
class RobertaEmbeddings(nn.Module):
    """Positions count what is no padding."""

    def __init__(self):
        super().__init__()
        self.words, self.positions = nn.Embedding(32, 16), nn.Embedding(24, 16)
        self.norm = nn.LayerNorm(16)

    def forward(self, words):
        mask = words.ne(1).int()
        positions = (torch.cumsum(mask, dim=1).type_as(mask) * mask).long() + 1
        return self.norm(self.words(words) + self.positions(positions))


@example(IDS)
class DistilbertEmbeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.positions = nn.Embedding(32, 16), nn.Embedding(24, 16)
        self.norm = nn.LayerNorm(16)

    def forward(self, words):
        positions = torch.arange(words.size(1), dtype=torch.long).unsqueeze(0).expand_as(words)
        return self.norm(self.words(words) + self.positions(positions))


@example(IDS)
class SinusoidalPositions(nn.Module):
    """The Annotated Transformer: a table cut to the length, the embedding scaled."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(32, 16)
        self.register_buffer('table', torch.randn(1, 24, 16))

    def forward(self, words):
        x = self.words(words) * 16**0.5
        return x + self.table[:, :x.size(1)]


@example('f32[batch=2]')
def timestep_embedding(t):
    """Diffusion."""
    frequencies = torch.exp(-torch.log(torch.tensor(10000.0)) * torch.arange(0, 4).float() / 4)
    angles = t[:, None].float() * frequencies[None]
    return torch.cat([torch.cos(angles), torch.sin(angles)], dim=-1)


@example(IDS)
class TiedHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.norm = nn.Embedding(32, 16), nn.LayerNorm(16)
        self.head = nn.Linear(16, 32, bias=False)
        self.head.weight = self.words.weight

    def forward(self, words):
        return self.head(self.norm(self.words(words)))[:, -1, :]


@example(IDS)
class LabelPooler(nn.Module):
    """BERT: the first token's Linear and Tanh, a classifier."""

    def __init__(self):
        super().__init__()
        self.words, self.dense, self.classifier = nn.Embedding(32, 16), nn.Linear(16, 16), nn.Linear(16, 3)

    def forward(self, words):
        return self.classifier(torch.tanh(self.dense(self.words(words)[:, 0])))


@example(SEQUENCE, 'ids<2>[batch=2,length=6]')
def mean_pooling(x, mask):
    """Sentence transformers: the mean of unmasked tokens, of length 1."""
    mask = mask.unsqueeze(-1).expand(x.size()).float()
    return F.normalize(torch.sum(x * mask, 1) / torch.clamp(mask.sum(1), min=1e-9), p=2, dim=1)


@example(SEQUENCE)
def linear_of_sequence():
    return nn.Sequential(nn.Linear(16, 8), nn.Linear(8, 16, bias=False))


@example(SEQUENCE)
class Bottleneck(nn.Module):
    """LoRA: two small products beside a Linear."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)
        self.a, self.b = nn.Linear(16, 2, bias=False), nn.Linear(2, 16, bias=False)

    def forward(self, x):
        return self.linear(x) + self.b(self.a(x)) * 0.5


@example(SEQUENCE)
class Conv1dOfGpt2(nn.Module):
    """addmm on rows, viewed back."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(16, 24)), nn.Parameter(torch.randn(24))

    def forward(self, x):
        return torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight).view(x.size()[:-1] + (24,))


@example(ROWS)
class ArcFace(nn.Module):
    """Cosines with normalized rows of a weight."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(10, 16))

    def forward(self, x):
        return F.linear(F.normalize(x), F.normalize(self.weight)) * 30.0, x @ self.weight.T


@example(ROWS, ROWS)
def similarities(x, y):
    return F.cosine_similarity(x, y), F.normalize(x) @ F.normalize(y).t(), torch.cdist(x, y), (x - y).norm(dim=1)


@example(ROWS, 'f32[others=3,16]')
def clip_logits(x, y):
    x, y = x / x.norm(dim=1, keepdim=True), y / y.norm(dim=1, keepdim=True)
    logits = torch.tensor(2.6592).exp() * x @ y.t()
    return logits, logits.t()


@example(ROWS)
class MlpMixer(nn.Module):
    """Linear between transposes, a residual."""

    def __init__(self):
        super().__init__()
        self.norm, self.mix = nn.LayerNorm(4), nn.Linear(4, 4)

    def forward(self, x):
        x = x.view(-1, 4, 4)
        return x + self.mix(self.norm(x).transpose(1, 2)).transpose(1, 2)


@example('f32[batch=2,8,height=4,width=3]')
class LinearOverChannels(nn.Module):
    """SegFormer and DETR: an image as tokens, and back."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 12)

    def forward(self, x):
        batch, _, height, width = x.shape
        y = self.linear(x.flatten(2).transpose(1, 2))
        return y.permute(0, 2, 1).reshape(batch, -1, height, width)


@example(SEQUENCE, 'bool[batch=2,length=6]')
def masks(x, mask):
    lowest = torch.finfo(x.dtype).min
    return (x.masked_fill(mask.unsqueeze(-1), 0.0), torch.where(mask[:, :, None], x, torch.zeros_like(x)),
            x * mask.unsqueeze(-1).to(x.dtype), (1.0 - mask[:, None, None, :].float()) * lowest)


@example(IDS)
def shapes_of_ids(ids):
    batch, length = ids.shape
    positions = torch.arange(length, device=ids.device)
    causal = positions[None, :] <= positions[:, None]
    return (causal[None, None].expand(batch, 1, length, length), positions.unsqueeze(0).repeat(batch, 1),
            torch.zeros_like(ids, dtype=torch.float32), torch.ones(batch, length), ids.new_full((batch, 1), 2))


@example(SEQUENCE)
def views_of_sequence(x):
    batch, length, width = x.shape
    y = x.reshape(batch * length, width)
    z = torch.relu(y).view(batch, length, width).transpose(1, 2).contiguous().view(batch, width // 4, 4, length)
    return z.permute(0, 3, 1, 2).flatten(2).unsqueeze(1).squeeze(1), x.view(batch, -1, 4).flatten(1)


@example(SEQUENCE)
def transposes_of_sequence(x):
    return (x.transpose(0, 1) + 1).transpose(0, 1), torch.relu(x.permute(2, 0, 1)).permute(1, 2, 0).transpose(1, 2)


@example(SEQUENCE)
def indices_of_sequence(x):
    return (x[:, -1], x[:, 0, :], x[..., 1:], x.narrow(2, 4, 8), torch.index_select(x, 2, torch.tensor([0, 1, 2])),
            x[:, :, [3, 1]], x.flip(1), torch.cat((x[:, :1], x[:, 1:]), 1))


@example(IDS)
def one_hot(ids):
    return F.one_hot(ids, 32).float(), (ids == 3).sum(dim=1), torch.cumsum(ids, dim=1)


@example(SEQUENCE, 'ids<6>[batch=2,2]')
def gathers(x, at):
    index = at.unsqueeze(-1).expand(-1, -1, x.size(-1))
    return torch.gather(x, 1, index), x[torch.arange(x.shape[0]), at[:, 0]]


@example(SEQUENCE)
def statistics(x):
    """A mean that is a sum over a size, and what a head often ends with."""
    mean, std = x.mean(1), x.std(1)
    return torch.cat((mean, std), 1), x.sum(1) / x.shape[1], x.max(1)[0], x.var(1), x.topk(2, dim=-1)[0]


@example(SEQUENCE)
def dropouts():
    return nn.Sequential(nn.Dropout(), nn.Linear(16, 8), nn.Identity(), nn.ReLU(), nn.ReLU(), nn.Dropout(0.1))


@example(SEQUENCE)
class MixtureOfExperts(nn.Module):
    """All experts, weighted by a router."""

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(16, 2, bias=False)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(16, 8), nn.SiLU(), nn.Linear(8, 16)) for _ in '12')

    def forward(self, x):
        weights = F.softmax(self.router(x), dim=-1)
        return sum(weights[..., i:i + 1] * expert(x) for i, expert in enumerate(self.experts))


@example('f32[batch=2,10]')
class FactorizationMachine(nn.Module):
    """Recommenders: half of the square of a sum without the sum of squares."""

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(10, 4))

    def forward(self, x):
        y = x.unsqueeze(-1) * self.table
        return 0.5 * (torch.sum(y, dim=1)**2 - torch.sum(y**2, dim=1)).sum(dim=1, keepdim=True)


@example(SEQUENCE)
class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(16, 8, batch_first=True, bidirectional=True), nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.lstm(x)[0])


@example(SEQUENCE)
class Gru(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru, self.head = nn.GRU(16, 8, num_layers=2), nn.Linear(8, 4)

    def forward(self, x):
        states, last = self.gru(x)
        return self.head(states), last[-1]


@example(ROWS, 'f32[batch=2,8]')
class GruCell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(16, 8)

    def forward(self, x, h):
        return self.cell(x, h)


@example(ROWS, 'f32[batch=2,8]', 'f32[batch=2,8]')
class LstmCell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(16, 8)

    def forward(self, x, h, c):
        return self.cell(x, (h, c))
