"""Eight networks with dynamic axes and random weights, small enough for tests.

`build(name, size)` returns a Network: the module in eval mode, names of inputs and outputs, the dynamic
axes and two sets of inputs of different shapes. The same name and size always give the same weights
and inputs.
"""
import dataclasses
import typing

import torch
from torch import nn

from dynamic import language, signals

SEED = 1234
SIZES = ('small', 'full')


@dataclasses.dataclass
class Network:
    module: nn.Module
    input_names: list
    output_names: list
    axes: dict  # name of an input or output -> {axis: name of the dimension}
    input_sets: list
    opset: int = 17  # the last that torch 1.13 exports
    external_data: bool = False  # of the raised files


def ids(*shape, high):
    return torch.randint(1, high, shape)


def padded_mask(batch, length, padding):
    """1 for tokens to attend to; the last row begins with padding."""
    mask = torch.ones(batch, length, dtype=torch.long)
    mask[batch - 1, :padding] = 0
    return mask


def llama(size):
    options = {} if size == 'small' else dict(layers=16, width=1024, heads=16, kv_heads=4, hidden=2816,
                                              vocabulary=32000)
    module = language.Llama(**options)
    layers = len(module.layers)
    past = [f'past_key_values.{i}.{kind}' for i in range(layers) for kind in ('key', 'value')]
    present = [name.replace('past_key_values', 'present') for name in past]

    def inputs(batch, length, cached):
        mask = padded_mask(batch, cached + length, min(cached, 2))
        caches = [torch.randn(batch, module.kv_heads, cached, module.head_width) for _ in past]
        return (ids(batch, length, high=512), mask,
                torch.arange(cached, cached + length).expand(batch, length).contiguous(), *caches)

    axes = {'input_ids': {0: 'batch', 1: 'length'}, 'attention_mask': {0: 'batch', 1: 'past+length'},
            'position_ids': {0: 'batch', 1: 'length'}, 'logits': {0: 'batch', 1: 'length'}}
    axes.update({name: {0: 'batch', 2: 'past'} for name in past})
    axes.update({name: {0: 'batch', 2: 'past+length'} for name in present})
    # More of a prompt, one token more, a prompt on an empty cache.
    return Network(module, ['input_ids', 'attention_mask', 'position_ids', *past], ['logits', *present],
                   axes, [inputs(2, 7, 4), inputs(3, 1, 11), inputs(1, 6, 0)], external_data=True)


def gpt2(size):
    module = language.Gpt2() if size == 'small' else language.Gpt2(12, 768, 12, 1024, 50257)
    inputs = lambda batch, length: (ids(batch, length, high=512), padded_mask(batch, length, 2))
    axes = {name: {0: 'batch', 1: 'length'} for name in ('input_ids', 'attention_mask', 'logits')}
    return Network(module, ['input_ids', 'attention_mask'], ['logits'], axes,
                   [inputs(2, 9), inputs(1, 33)], opset=13)


def t5(size):
    module = language.T5() if size == 'small' else language.T5(6, 512, 8, 64, 2048, 32128)

    def inputs(batch, source, target):
        return (ids(batch, source, high=512), padded_mask(batch, source, 3),
                ids(batch, target, high=512))

    axes = {'input_ids': {0: 'batch', 1: 'source'}, 'attention_mask': {0: 'batch', 1: 'source'},
            'decoder_input_ids': {0: 'batch', 1: 'target'}, 'logits': {0: 'batch', 1: 'target'}}
    return Network(module, ['input_ids', 'attention_mask', 'decoder_input_ids'], ['logits'], axes,
                   [inputs(2, 12, 5), inputs(1, 37, 9)])


def whisper_encoder(size):
    options = {} if size == 'small' else dict(layers=6, width=512, heads=8, frames=1500)
    axes = {'mel': {0: 'batch', 2: '2*frames'}, 'states': {0: 'batch', 1: 'frames'}}
    return Network(signals.WhisperEncoder(**options), ['mel'], ['states'], axes,
                   [(torch.randn(2, 80, 60),), (torch.randn(1, 80, 128),)])


def unet(size):
    module = signals.Unet() if size == 'small' else signals.Unet(160, 768)
    context_width = module.attn2.attn2.to_k.in_features

    def inputs(batch, height, width, length):
        return (torch.randn(batch, 4, height, width), torch.randint(0, 1000, (batch,)),
                torch.randn(batch, length, context_width))

    latent = {0: 'batch', 2: '4*height', 3: '4*width'}
    axes = {'sample': latent, 'timestep': {0: 'batch'}, 'context': {0: 'batch', 1: 'length'},
            'noise': latent}
    return Network(module, ['sample', 'timestep', 'context'], ['noise'], axes,
                   [inputs(2, 16, 12, 7), inputs(1, 8, 20, 11)])


def detector(size):
    module = signals.Detector() if size == 'small' else signals.Detector(128, 80)
    axes = {'images': {0: 'batch', 2: '16*height', 3: '16*width'}}
    axes.update({name: {0: 'detections'} for name in ('boxes', 'scores', 'classes', 'image')})
    return Network(module, ['images'], ['boxes', 'scores', 'classes', 'image'], axes,
                   [(torch.randn(2, 3, 96, 64),), (torch.randn(1, 3, 64, 128),)])


def lstm_tagger(size):
    module = signals.Tagger() if size == 'small' else signals.Tagger(30000, 300, 512, 50)
    axes = {name: {0: 'batch', 1: 'length'} for name in ('words', 'scores', 'tags')}
    return Network(module, ['words'], ['scores', 'tags'], axes,
                   [(ids(3, 11, high=500),), (ids(1, 26, high=500),)], opset=14)


def generator(size):
    del size  # the time of a loop is in its steps, not in its weights
    axes = {'ids': {0: 'batch', 1: 'length'}, 'tokens': {0: 'batch', 1: 'generated'},
            'total': {0: 'batch'}}
    return Network(torch.jit.script(language.Generator()), ['ids', 'steps'], ['tokens', 'total'], axes,
                   [(ids(2, 5, high=128), torch.tensor(9)), (ids(1, 3, high=128), torch.tensor(40))])


MODELS: typing.Dict[str, typing.Callable] = {
    function.__name__: function
    for function in (llama, gpt2, t5, whisper_encoder, unet, detector, lstm_tagger, generator)
}


def build(name, size='small'):
    torch.manual_seed(SEED)
    network = MODELS[name](size)
    language.randomize_norms(network.module)
    network.module.eval()
    return network
