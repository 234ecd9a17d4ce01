// Programs of one operator each, of the sizes that networks have.
'use strict';

const { uniform } = require('./tensors');

// [operator, operands, attributes, element types of the results]. An operand is a type without its
// tensor<>, for an input; TYPE=[numbers], TYPE=random, zeros or ones for a constant (a scalar's may be
// TYPE=number); or _ where it is not given.
const kImage = '8x64x56x56';
const kTokens = '32x128x768';
const kCases = [];

function add(operator, operands, attributes, ...results) {
  kCases.push([operator, operands, attributes, results]);
}
// The same of several operators.
function each(operators, operands, attributes, ...results) {
  for (const operator of operators.split(' ')) add(operator, operands, attributes, ...results);
}
const image = (type, count = 1) => Array(count).fill(`${kImage}x${type}`).join(', ');
const weight = (dims) => `${dims}xf32=random`;

function elementwise() {
  each('Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish ' +
       'LeakyRelu Log Mish Neg Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan ' +
       'Tanh ThresholdedRelu', image('f32'), '', 'f32');
  each('IsNaN IsInf', image('f32'), '', 'bool');
  each('Add Mul Div Sub Pow Max Min PRelu', image('f32', 2), '', 'f32');
  each('Add Mul Div Sub Pow', `${image('f32')}, 64x1x1xf32`, '', 'f32');
  add('Add', '8x1x56x56xf32, 1x64x1x1xf32', '', 'f32');
  add('Add', '128x1x768xf32, 1x32x768xf32', '', 'f32');
  each('Add Mul Sub Max Min', image('i64', 2), '', 'i64');
  add('Div', `${image('i64')}, 1xi64=[7]`, '', 'i64');
  add('Mod', `${image('i64')}, 1xi64=[7]`, '', 'i64');
  add('Mod', image('f32', 2), 'fmod:1', 'f32');
  add('Add', image('i32', 2), '', 'i32');
  add('Mul', image('f64', 2), '', 'f64');
  add('Add', image('f16', 2), '', 'f16');
  each('Equal Less Greater GreaterOrEqual LessOrEqual', image('f32', 2), '', 'bool');
  add('Equal', `${image('i64')}, 1xi64=[1]`, '', 'bool');
  each('Equal Less', image('i64', 2), '', 'bool');
  add('Equal', image('i32', 2), '', 'bool');
  each('And Or Xor', image('bool', 2), '', 'bool');
  add('And', '1x1x512x512xbool, 8x1x1x512xbool', '', 'bool');
  add('Not', image('bool'), '', 'bool');
  each('BitwiseAnd BitwiseOr BitwiseXor', image('i32', 2), '', 'i32');
  add('BitwiseNot', image('i32'), '', 'i32');
  add('BitShift', image('u32', 2), 'direction:"LEFT"', 'u32');
  add('Where', `${image('bool')}, ${image('f32', 2)}`, '', 'f32');
  add('Where', `${image('bool')}, ${image('i64')}, 1xi64=[3]`, '', 'i64');
  add('Where', '8x1x512x512xbool, 1xf32=[-1.0], 8x12x512x512xf32', '', 'f32');
  add('Clip', `${image('f32')}, xf32=0.0, xf32=6.0`, '', 'f32');
  add('Clip', `${image('i64')}, xi64=0, xi64=6`, '', 'i64');
  each('Sum Mean Max', image('f32', 3), '', 'f32');
  for (const pair of ['f32 f16', 'f16 f32', 'f32 i32', 'f32 i64', 'i64 f32', 'i64 i32', 'i32 i64', 'bool f32',
    'f32 bool', 'u8 f32', 'i32 u8', 'i32 f32', 'bool i64', 'i64 bool', 'f64 f32', 'f32 f64']) {
    const [from, to] = pair.split(' ');
    add('Cast', image(from), `to:${to}`, to);
  }
}

function reductions() {
  const kinds = 'ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ' +
    'ReduceLogSumExp ReduceSumSquare';
  for (const axes of ['1xi64=[2]', '1xi64=[1]', '2xi64=[0,2]'])
    each(kinds, `${kTokens}xf32, ${axes}`, 'keepdims:0', 'f32');
  add('ReduceSum', `${kTokens}xf32, 3xi64=[0,1,2]`, 'keepdims:0', 'f32');
  each('ReduceSum ReduceMax', `${kTokens}xi64, 1xi64=[2]`, 'keepdims:0', 'i64');
  add('ReduceSum', `${kTokens}xi32, 1xi64=[1]`, 'keepdims:0', 'i32');
  add('ReduceMax', `${kTokens}xi8, 1xi64=[2]`, 'keepdims:0', 'i8');
  add('ReduceMean', '8x256x56x56xf32, 2xi64=[2,3]', 'keepdims:1', 'f32');
  add('ArgMax', '1x21x512x512xf32', 'axis:1,keepdims:0', 'i64');
  each('ArgMax ArgMin', '128x30522xf32', 'axis:-1,keepdims:0', 'i64');
  add('ArgMax', '64x512x64xf32', 'axis:1,keepdims:0', 'i64');
  for (const [dims, k, axis] of [['1x30522', 50, -1], ['128x1000', 5, -1], ['1x100000', 1000, -1],
    ['1x20000', 20000, -1], ['64x512x64', 8, 1]])
    add('TopK', `${dims}xf32, 1xi64=[${k}]`, `axis:${axis}`, 'f32', 'i64');
  add('CumSum', '128x8192xf32, xi64=1', '', 'f32');
  add('CumSum', '128x512x64xf32, xi64=1', '', 'f32');
  add('CumSum', '8x1024xi64, xi64=1', '', 'i64');
}

function normalizations() {
  add('Softmax', '32x12x128x128xf32', 'axis:-1', 'f32');
  add('Softmax', '32x12x128x128xf16', 'axis:-1', 'f16');
  add('Softmax', '1x21x512x512xf32', 'axis:1', 'f32');
  each('LogSoftmax Hardmax', '128x30522xf32', 'axis:-1', 'f32');
  add('LogSoftmax', '8x21x128x128xf32', 'axis:1', 'f32');
  const [scale, shift] = [weight(64), weight(64)];
  add('BatchNormalization', `${image('f32')}, ${scale}, ${shift}, ${weight(64)}, 64xf32=ones`, '', 'f32');
  add('InstanceNormalization', `${image('f32')}, ${scale}, ${shift}`, '', 'f32');
  add('GroupNormalization', `${image('f32')}, ${scale}, ${shift}`, 'num_groups:8', 'f32');
  add('LayerNormalization', `8x128x768xf32, ${weight(768)}, ${weight(768)}`, 'axis:-1', 'f32');
  add('LayerNormalization', '8x128x768xf16, 768xf16=random, 768xf16=random', 'axis:-1', 'f16');
  add('RMSNormalization', `8x128x768xf32, ${weight(768)}`, 'axis:-1', 'f32');
  add('LRN', image('f32'), 'size:5', 'f32');
  add('LpNormalization', '8x128x768xf32', 'axis:-1,p:2', 'f32');
  add('LpNormalization', image('f32'), 'axis:1,p:2', 'f32');
  add('MeanVarianceNormalization', image('f32'), '', 'f32');
  add('com.microsoft.SkipLayerNormalization',
      `8x128x768xf32, 8x128x768xf32, ${weight(768)}, ${weight(768)}`, '', 'f32');
  each('SoftmaxCrossEntropyLoss NegativeLogLikelihoodLoss', '256x1000xf32, 256xi64', '', 'f32');
}

function movement() {
  for (const perm of ['0,2,1,3', '0,1,3,2', '0,3,1,2', '0,2,3,1', '3,2,1,0', '1,0,2,3'])
    add('Transpose', '8x64x96x80xf32', `perm:array[${perm}]`, 'f32');
  for (const type of ['f32', 'i64', 'u8', 'f16']) add('Transpose', `1024x1024x${type}`, 'perm:array[1,0]', type);
  for (const type of ['u8', 'f32']) add('Transpose', `1x224x224x3x${type}`, 'perm:array[0,3,1,2]', type);
  add('Transpose', '4x8x16x8x16x32xf32', 'perm:array[0,2,4,1,3,5]', 'f32');
  for (const axis of [1, 3]) add('Concat', image('f32', 2), `axis:${axis}`, 'f32');
  add('Concat', '512x300xf32, 512x300xf32', 'axis:-1', 'f32');
  add('Concat', Array(4).fill('100000x1xf32').join(', '), 'axis:-1', 'f32');
  add('Split', image('f32'), 'axis:1,num_outputs:2', 'f32', 'f32');
  add('Split', '512x2304xf32', 'axis:-1,num_outputs:3', 'f32', 'f32', 'f32');
  add('Split', '100000x4xf32', 'axis:-1,num_outputs:4', 'f32', 'f32', 'f32', 'f32');
  add('Slice', '8x64x112x112xf32, 2xi64=[0,0], 2xi64=[112,112], 2xi64=[2,3], 2xi64=[2,2]', '', 'f32');
  add('Slice', `${image('f32')}, 1xi64=[8], 1xi64=[56], 1xi64=[1]`, '', 'f32');
  add('Slice', `${image('f32')}, 1xi64=[-1], 1xi64=[-1000], 1xi64=[3], 1xi64=[-1]`, '', 'f32');
  add('Slice', '512x768xf32, 1xi64=[0], 1xi64=[384], 1xi64=[1]', '', 'f32');
  add('Gather', '30522x768xf32, 8x128xi64', 'axis:0', 'f32');
  add('Gather', '30522x768xf16, 8x128xi32', 'axis:0', 'f16');
  for (const axis of [1, 2]) add('Gather', '8x512x768xf32, 256xi64', `axis:${axis}`, 'f32');
  add('Gather', '8x512x768xf32, xi64=1', 'axis:1', 'f32');
  add('GatherElements', '64x8400x4xf32, 64x100x4xi64', 'axis:1', 'f32');
  add('GatherElements', '512x768xf32, 512x768xi64', 'axis:1', 'f32');
  add('GatherND', '64x64x64x64xf32, 10000x2xi64', '', 'f32');
  add('GatherND', '64x64x64xf32, 100000x3xi64', '', 'f32');
  for (const reduction of ['none', 'add'])
    add('ScatterElements', '512x768xf32, 512x768xi64, 512x768xf32', `axis:1,reduction:"${reduction}"`, 'f32');
  add('ScatterND', '64x64x64x64xf32, 1000x2xi64, 1000x64x64xf32', '', 'f32');
  add('ScatterND', '64x64x64xf32, 100000x3xi64, 100000xf32', '', 'f32');
  add('Tile', '1x64x56x56xf32, 4xi64=[8,1,1,1]', '', 'f32');
  add('Tile', '8x64x56x1xf32, 4xi64=[1,1,1,56]', '', 'f32');
  add('Tile', '512x768xf32, 2xi64=[1,4]', '', 'f32');
  add('Tile', '64x8x32xf32, 3xi64=[1,12,1]', '', 'f32');
  for (const dims of ['1x64x56x56', '8x64x1x56', '8x64x56x1'])
    add('Expand', `${dims}xf32, 4xi64=[8,64,56,56]`, '', 'f32');
  add('Expand', '8x1x1x512xbool, 4xi64=[8,1,512,512]', '', 'bool');
  for (const mode of ['constant', 'reflect', 'edge', 'wrap'])
    add('Pad', `${image('f32')}, 8xi64=[0,0,2,2,0,0,2,2]`, `mode:"${mode}"`, 'f32');
  add('DepthToSpace', '8x256x28x28xf32', 'blocksize:2', 'f32');
  add('DepthToSpace', '8x256x28x28xf32', 'blocksize:2,mode:"CRD"', 'f32');
  add('SpaceToDepth', image('f32'), 'blocksize:2', 'f32');
  add('ReverseSequence', '128x32x256xf32, 32xi64', 'batch_axis:1,time_axis:0', 'f32');
  add('OneHot', '8x128xi64, xi64=1000, 2xf32=[0.0,1.0]', 'axis:-1', 'f32');
  add('OneHot', '1x512x512xi64, xi64=21, 2xf32=[0.0,1.0]', 'axis:1', 'f32');
  add('Trilu', '8x1024x1024xf32', 'upper:0', 'f32');
  add('Compress', '8x512x768xf32, 512xbool', 'axis:1', 'f32');
  add('NonZero', '512x512xf32', '', 'i64');
  add('NonZero', '1000000xbool', '', 'i64');
  add('EyeLike', '1024x1024xf32', 'dtype:f32', 'f32');
  add('Unique', '100000xf32', 'sorted:1', 'f32');
}

function pooling() {
  const window = (k, s, p) => `kernel_shape:array[${k}],strides:array[${s}]${p ? `,pads:array[${p}]` : ''}`;
  add('MaxPool', '8x64x112x112xf32', window('3,3', '2,2', '1,1,1,1'), 'f32');
  add('MaxPool', image('f32'), window('2,2', '2,2'), 'f32', 'i64');
  add('MaxPool', '8x64x40x40xf32', window('5,5', '1,1', '2,2,2,2'), 'f32');
  add('AveragePool', image('f32'), window('3,3', '2,2', '1,1,1,1'), 'f32');
  add('AveragePool', image('f32'), window('2,2', '2,2'), 'f32');
  each('MaxPool AveragePool', '8x64x4000xf32', window('3', '2'), 'f32');
  each('MaxPool AveragePool', '2x16x16x56x56xf32', window('2,2,2', '2,2,2'), 'f32');
  add('LpPool', image('f32'), `${window('2,2', '2,2')},p:2`, 'f32');
  each('GlobalMaxPool GlobalAveragePool', '8x256x56x56xf32', '', 'f32');
  add('MaxUnpool', '8x64x28x28xf32, 8x64x28x28xi64', window('2,2', '2,2'), 'f32');
}

function convolutions() {
  const pads = (n, rank = 2) => `pads:array[${Array(2 * rank).fill(n)}]`;
  const conv = (x, w, attributes) => add('Conv', `${x}xf32, ${weight(w)}`, attributes, 'f32');
  conv('1x64x56x56', '64x64x3x3', pads(1));
  conv('1x64x56x56', '64x64x3x3', `${pads(2)},dilations:array[2,2]`);
  conv('1x64x56x56', '64x16x3x3', `${pads(1)},group:4`);
  for (const k of [5, 7]) conv('1x128x56x56', `128x1x${k}x${k}`, `${pads((k - 1) / 2)},group:128`);
  conv('1x3x224x224', '64x3x7x7', `${pads(3)},strides:array[2,2]`);
  conv('1x3x224x224', '768x3x16x16', 'strides:array[16,16]');
  conv('1x80x3000', '384x80x3', pads(1, 1));
  conv('1x384x3000', '384x384x3', `${pads(1, 1)},strides:array[2]`);
  conv('1x256x1000', '256x1x31', `${pads(15, 1)},group:256`);
  conv('1x16x16x56x56', '32x16x3x3x3', pads(1, 3));
  conv('1x3x16x112x112', '64x3x3x7x7', 'pads:array[1,3,3,1,3,3],strides:array[1,2,2]');
  add('Conv', '1x64x56x56xf32, 64x64x3x3xf32', pads(1), 'f32');
  add('Conv', '1x64x56x56xf16, 64x64x3x3xf16=random', pads(1), 'f16');
  const transposed = (x, w, attributes) => add('ConvTranspose', `${x}xf32, ${weight(w)}`, attributes, 'f32');
  transposed('1x64x56x56', '64x32x2x2', 'strides:array[2,2]');
  transposed('1x256x14x14', '256x128x4x4', `strides:array[2,2],${pads(1)}`);
  transposed('1x64x28x28', '64x1x4x4', `strides:array[2,2],${pads(1)},group:64`);
  transposed('1x512x200', '512x256x16', `strides:array[8],${pads(4, 1)}`);
  transposed('1x16x8x28x28', '16x16x2x2x2', 'strides:array[2,2,2]');
  add('DeformConv', `1x64x28x28xf32, ${weight('64x64x3x3')}, 1x18x28x28xf32`, pads(1), 'f32');
  add('Col2Im', '8x576x3136xf32, 2xi64=[56,56], 2xi64=[3,3]', pads(1), 'f32');
}

function images() {
  const resize = (x, scales, mode, coordinates, more = '', type = 'f32') =>
    add('Resize', `${x}x${type}, _, ${scales.split(',').length}xf32=[${scales}]`,
        `coordinate_transformation_mode:"${coordinates}",mode:"${mode}",nearest_mode:"floor"${more}`, type);
  resize('1x64x56x56', '1.0,1.0,2.0,2.0', 'nearest', 'asymmetric');
  resize('1x64x28x28', '1.0,1.0,1.7,1.7', 'nearest', 'half_pixel');
  resize('1x64x56x56', '1.0,1.0,2.0,2.0', 'linear', 'half_pixel');
  resize('1x64x56x56', '1.0,1.0,2.0,2.0', 'linear', 'align_corners');
  resize('1x3x512x512', '1.0,1.0,0.4375,0.4375', 'linear', 'half_pixel');
  resize('1x3x512x512', '1.0,1.0,0.4375,0.4375', 'linear', 'half_pixel', ',antialias:1');
  resize('1x64x56x56', '1.0,1.0,2.0,2.0', 'cubic', 'half_pixel');
  resize('1x3x512x512', '1.0,1.0,0.4375,0.4375', 'linear', 'half_pixel', '', 'u8');
  resize('1x3x112x112', '1.0,1.0,2.0,2.0', 'linear', 'asymmetric', '', 'u8');
  resize('1x512x512x3', '1.0,0.4375,0.4375,1.0', 'linear', 'half_pixel', '', 'u8');
  resize('1x16x8x28x28', '1.0,1.0,2.0,2.0,2.0', 'linear', 'half_pixel');
  for (const mode of ['linear', 'nearest', 'cubic'])
    add('GridSample', '4x32x64x64xf32, 4x64x64x2xf32', `mode:"${mode}"`, 'f32');
  add('AffineGrid', '4x2x3xf32, 4xi64=[4,3,128,128]', '', 'f32');
  add('NonMaxSuppression', '1x2000x4xf32, 1x8x2000xf32, xi64=100, xf32=0.5, xf32=0.5', '', 'i64');
  add('NonMaxSuppression', '1x8400x4xf32, 1x80x8400xf32, xi64=300, xf32=0.45', '', 'i64');
}

function products() {
  const recurrent = (batch, gates, directions) => `50x${batch}x256xf32, ` +
    [`${gates * 256}x256`, `${gates * 256}x256`, `${2 * gates * 256}`]
      .map((dims) => weight(`${directions}x${dims}`)).join(', ');
  add('LSTM', recurrent(8, 4, 1), 'hidden_size:256', 'f32', 'f32', 'f32');
  add('LSTM', recurrent(1, 4, 1), 'hidden_size:256', 'f32', 'f32', 'f32');
  add('LSTM', recurrent(8, 4, 2), 'hidden_size:256,direction:"bidirectional"', 'f32', 'f32', 'f32');
  for (const reset of [0, 1])
    add('GRU', recurrent(8, 3, 1), `hidden_size:256,linear_before_reset:${reset}`, 'f32', 'f32');
  add('RNN', recurrent(8, 1, 1), 'hidden_size:256', 'f32', 'f32');
  for (const rows of [1, 128]) add('MatMul', `${rows}x768xf32, ${weight('768x3072')}`, '', 'f32');
  add('MatMul', '128x768xf16, 768x768xf16=random', '', 'f16');
  for (const [a, b] of [['128x768', '768x768'], ['12x128x64', '12x64x128'], ['12x1x64', '12x64x512'],
    ['1024x1024', '1024'], ['64x32x3x3', '64x32x3x3'], ['4096x4x4', '4096x4x4']])
    add('MatMul', `${a}xf32, ${b}xf32`, '', 'f32');
  for (const type of ['f64', 'i32']) add('MatMul', `256x256x${type}, 256x256x${type}`, '', type);
  add('Gemm', `128x768xf32, ${weight('3072x768')}, ${weight(3072)}`, 'transB:1', 'f32');
  add('Gemm', `768x128xf32, ${weight('768x512')}, ${weight(512)}`, 'transA:1', 'f32');
  add('Gemm', `1x2048xf32, ${weight('1000x2048')}, ${weight(1000)}`, 'transB:1', 'f32');
  for (const [operands, equation] of [['8x128x12x64 8x128x12x64', 'bihd,bjhd->bhij'],
    ['8x12x128x64 8x12x128x64', 'bhid,bhjd->bhij'], ['512x768', 'ij->ji'], ['256x256', 'ii->i'],
    ['128x512 512x256 256x64', 'ij,jk,kl->il'], ['64x128x64 64x128', 'bij,bi->bj']])
    add('Einsum', operands.split(' ').map((dims) => `${dims}xf32`).join(', '), `equation:"${equation}"`, 'f32');
  add('Attention', Array(3).fill('1x12x128x64xf32').join(', '), '', 'f32');
  add('Attention', '1x8x256x64xf32, 1x2x256x64xf32, 1x2x256x64xf32', 'is_causal:1', 'f32');
  add('RotaryEmbedding', '1x12x128x64xf32, 128x32xf32=random, 128x32xf32=random, 1x128xi64', '', 'f32');
  add('com.microsoft.MultiHeadAttention', Array(3).fill('1x128x768xf32').join(', '), 'num_heads:12', 'f32');
  add('com.microsoft.Attention', `1x128x768xf32, ${weight('768x2304')}, ${weight(2304)}`, 'num_heads:12', 'f32');
  for (const places of [4096, 4097])  // of the caches: one is left, or none, and they grow
    add('com.microsoft.GroupQueryAttention', '1x1x2048xf32, 1x1x512xf32, 1x1x512xf32, 1x8x4096x64xf32, ' +
        `1x8x4096x64xf32, 1xi32=[${places - 1}], xi32=${places}`, 'kv_num_heads:8,num_heads:32', 'f32', 'f32', 'f32');
  add('com.microsoft.FastGelu', `8x128x768xf32, ${weight(768)}`, '', 'f32');
}

function quantized() {
  for (const rows of [1, 128])
    add('com.microsoft.MatMulNBits', `${rows}x2048xf32, 2048x64x16xu8=random, 131072xf32=random`,
        'K:2048,N:2048,bits:4,block_size:32', 'f32');
  add('MatMulInteger', '128x768xu8, 768x768xi8=random, xu8=3', '', 'i32');
  add('QLinearMatMul', '128x768xu8, xf32=0.1, xu8=3, 768x768xi8=random, xf32=0.1, xi8=0, xf32=0.5, xu8=3', '', 'u8');
  add('QLinearConv', '1x64x56x56xu8, xf32=0.1, xu8=3, 64x64x3x3xi8=random, xf32=0.1, xi8=0, xf32=0.5, xu8=3',
      'pads:array[1,1,1,1]', 'u8');
  add('ConvInteger', '1x64x56x56xu8, 64x64x3x3xi8=random, xu8=3', 'pads:array[1,1,1,1]', 'i32');
  add('DynamicQuantizeLinear', '8x128x768xf32', '', 'u8', 'f32', 'u8');
  add('QuantizeLinear', '8x128x768xf32, xf32=0.1, xu8=3', '', 'u8');
  add('QuantizeLinear', `${image('f32')}, 64xf32=ones, 64xi8=zeros`, 'axis:1', 'i8');
  add('DequantizeLinear', '8x128x768xu8, xf32=0.1, xu8=3', '', 'f32');
  add('com.microsoft.DynamicQuantizeMatMul', '128x768xf32, 768x768xi8=random, 1xf32=[0.1]', '', 'f32');
  add('com.microsoft.QLinearAdd',
      '8x128x768xu8, xf32=0.1, xu8=3, 8x128x768xu8, xf32=0.1, xu8=3, xf32=0.2, xu8=3', '', 'u8');
}

function signals() {
  for (const length of [1024, 1000]) add('DFT', `8x${length}x1xf32, _, xi64=1`, '', 'f32');
  add('STFT', '1x16000x1xf32, xi64=160, 400xf32=ones, xi64=400', 'onesided:1', 'f32');
  add('Det', '256x16x16xf32', '', 'f32');
}

// Commas that are in no list.
function split(operands) {
  return operands.split(/,\s*(?![^[]*\])/);
}

// The numbers of a constant of `count` elements of `type`, as IR text.
function numbers(spec, count, type, next) {
  const isFloat = /^(f|bf)/.test(type);
  const random = () => {
    if (isFloat) return (Math.floor(next() * 1000) / 1000 - 0.4995).toFixed(4);
    return `${Math.floor(next() * 256) - (type.startsWith('i') ? 128 : 0)}`;
  };
  const same = { zeros: isFloat ? '0.0' : '0', ones: isFloat ? '1.0' : '1' }[spec];
  if (spec !== 'random' && same === undefined) return spec.startsWith('[') ? spec : `[${spec}]`;
  return `[${Array.from({ length: count }, () => same ?? random())}]`;
}

// The program of a case as IR text.
function programOf([operator, operands, attributes, results]) {
  const next = uniform(1);
  const inputs = [], constants = [], names = [], types = [];
  for (const [i, operand] of split(operands).entries()) {
    if (operand === '_') {
      names.push('<<NULL VALUE>>');
      types.push('<<NULL TYPE>>');
      continue;
    }
    const [of, spec] = operand.split('=');
    const dims = of.split('x').filter((part) => part !== '');
    const element = dims.pop();
    const type = `tensor<${[...dims, element].join('x')}>`;
    names.push(`%${i}`);
    types.push(type);
    if (spec === undefined) {
      inputs.push(`%${i}: ${type}`);
    } else {
      const count = dims.reduce((product, dim) => product * Number(dim), 1);
      const value = `dense<${type}, ${numbers(spec, count, element, next)}>`;
      constants.push(` (%${i}) = "builtin.constant" () {value:${value}} : () -> ${type}`);
    }
  }
  const list = (text, values) => values.map((_, i) => `${text}${i}`);
  const quoted = (values) => values.map((name) => `"${name}"`).join(',');
  const values = list('%y', results);
  const resultTypes = results.map((type) => `tensor<*x${type}>`).join(', ');
  const name = operator.includes('.') ? operator : `onnx.${operator}`;
  return [
    `module {input_names:strings[${quoted(list('x', inputs))}],` +
      `output_names:strings[${quoted(list('y', results))}]} (${inputs.join(', ')}) {`,
    ...constants,
    ` (${values.join(', ')}) = "${name}" (${names.join(', ')}) {${attributes}} : (${types.join(', ')}) -> ` +
      resultTypes,
    ` () = "builtin.return" (${values.join(', ')}) {} : (${resultTypes}) ->`, '}', ''].join('\n');
}

for (const subject of [elementwise, reductions, normalizations, movement, pooling, convolutions, images, products,
  quantized, signals]) subject();

// A case with floats of another type, or nothing where it has no f32. The scales of Resize stay as they are.
function withFloats(floats, [operator, operands, attributes, results]) {
  const renamed = (text) => text.replaceAll('f32', floats);
  const ofOperands = operator === 'Resize' ? operands.replace('f32', floats) : renamed(operands);
  if (ofOperands === operands && renamed(results.join()) === results.join()) return [];
  return [[operator, ofOperands, renamed(attributes), results.map(renamed)]];
}

// [{name, program()}] of all cases, or, where `floats` is no f32, of those that have such, with that type in its place.
function casesOf(floats = 'f32') {
  const chosen = floats === 'f32' ? kCases : kCases.flatMap((one) => withFloats(floats, one));
  return chosen.map((one) => {
    const [operator, operands, attributes] = one;
    const shown = operands.replace(/=\[[^\]]{12,}\]/g, '=[...]');
    return { name: `${operator}(${shown})${attributes ? ` {${attributes}}` : ''}`, program: () => programOf(one) };
  });
}

module.exports = { casesOf };
