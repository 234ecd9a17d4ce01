// Reads and writes ONNX TensorProto files (.pb), the form ir-run takes and gives tensors in.
//
// A tensor is {name, type, dims, data}: `type` and `data` are what onnxruntime-node uses for it
// ('float32' and Float32Array, 'int64' and BigInt64Array, 'bool' and Uint8Array, ...); 'float16' is a
// Uint16Array of the bits, numberOfHalf() gives their value, and halfOfNumber() the bits.
// Strings, complex numbers, other types below 32 bits and external data are not supported and throw.
'use strict';

// TensorProto.DataType, https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
const kTypes = [
  { code: 1, type: 'float32', array: Float32Array },
  { code: 2, type: 'uint8', array: Uint8Array },
  { code: 3, type: 'int8', array: Int8Array },
  { code: 4, type: 'uint16', array: Uint16Array },
  { code: 5, type: 'int16', array: Int16Array },
  { code: 6, type: 'int32', array: Int32Array },
  { code: 7, type: 'int64', array: BigInt64Array },
  { code: 9, type: 'bool', array: Uint8Array },
  { code: 10, type: 'float16', array: Uint16Array },
  { code: 11, type: 'float64', array: Float64Array },
  { code: 12, type: 'uint32', array: Uint32Array },
  { code: 13, type: 'uint64', array: BigUint64Array },
];

const kWireVarint = 0, kWire64 = 1, kWireBytes = 2, kWire32 = 5;
const kField = {
  dims: 1, dataType: 2, floatData: 4, int32Data: 5, int64Data: 7, name: 8, rawData: 9,
  doubleData: 10, uint64Data: 11, externalData: 13, dataLocation: 14,
};

function arrayOf(type) {
  const found = kTypes.find((t) => t.type === type);
  if (!found) throw new Error(`tensor type ${type} is not supported`);
  return found.array;
}

function elementCount(dims) {
  return dims.reduce((count, dim) => count * dim, 1);
}

function varint(value) {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes = [];
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(bytes);
}

function bytesField(field, bytes) {
  return Buffer.concat([varint((field << 3) | kWireBytes), varint(bytes.length), bytes]);
}

function varintField(field, value) {
  return Buffer.concat([varint((field << 3) | kWireVarint), varint(value)]);
}

function encode({ name, type, dims, data }) {
  const { code } = kTypes.find((t) => t.type === type) ?? {};
  if (code === undefined) throw new Error(`${name}: tensor type ${type} is not supported`);
  if (data.length !== elementCount(dims)) {
    throw new Error(`${name}: ${data.length} elements do not fill [${dims}]`);
  }
  return Buffer.concat([
    ...dims.map((dim) => varintField(kField.dims, dim)),
    varintField(kField.dataType, code),
    bytesField(kField.name, Buffer.from(name, 'utf8')),
    bytesField(kField.rawData, Buffer.from(data.buffer, data.byteOffset, data.byteLength)),
  ]);
}

// Yields {field, wire, value} for each field of one message; value is a BigInt or a Buffer.
function* fields(bytes) {
  let at = 0;
  const take = (count) => {
    if (count > bytes.length - at) throw new Error('truncated message');
    at += count;
    return bytes.subarray(at - count, at);
  };
  const readVarint = () => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = take(1)[0];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new Error('varint longer than ten bytes');
  };
  while (at < bytes.length) {
    const key = Number(readVarint());
    const field = key >>> 3, wire = key & 7;
    if (wire === kWireVarint) yield { field, wire, value: readVarint() };
    else if (wire === kWire64) yield { field, wire, value: take(8) };
    else if (wire === kWireBytes) yield { field, wire, value: take(Number(readVarint())) };
    else if (wire === kWire32) yield { field, wire, value: take(4) };
    else throw new Error(`field ${field} has unknown wire type ${wire}`);
  }
}

// The numbers of a repeated field, packed or not.
function* repeatedVarints({ field, wire, value }) {
  if (wire === kWireVarint) {
    yield value;
    return;
  }
  // A packed field is a row of varints without keys: give each one the key of `field`.
  for (let at = 0; at < value.length;) {
    let end = at;
    while (end < value.length && value[end] >= 0x80) ++end;
    const key = varint((field << 3) | kWireVarint);
    yield [...fields(Buffer.concat([key, value.subarray(at, end + 1)]))][0].value;
    at = end + 1;
  }
}

// Little-endian bytes as a typed array; copies, for alignment.
function fromBytes(array, bytes) {
  if (bytes.length % array.BYTES_PER_ELEMENT !== 0) {
    throw new Error(`${bytes.length} bytes are no row of ${array.BYTES_PER_ELEMENT}-byte elements`);
  }
  const copy = new Uint8Array(bytes);
  return new array(copy.buffer, 0, copy.length / array.BYTES_PER_ELEMENT);
}

function decode(bytes) {
  const tensor = { name: '', dims: [] };
  const wide = [], packed = [];
  let code = 0, raw = null;
  for (const entry of fields(bytes)) {
    const { field, value } = entry;
    if (field === kField.dims) {
      for (const dim of repeatedVarints(entry)) tensor.dims.push(Number(dim));
    } else if (field === kField.dataType) code = Number(value);
    else if (field === kField.name) tensor.name = value.toString('utf8');
    else if (field === kField.rawData) raw = value;
    else if (field === kField.floatData || field === kField.doubleData) packed.push(value);
    else if ([kField.int32Data, kField.int64Data, kField.uint64Data].includes(field)) {
      for (const number of repeatedVarints(entry)) wide.push(number);
    } else if (field === kField.externalData || (field === kField.dataLocation && value !== 0n)) {
      throw new Error(`${tensor.name}: external data is not supported`);
    }
  }
  const known = kTypes.find((t) => t.code === code);
  if (!known) throw new Error(`${tensor.name}: tensor type ${code} is not supported`);
  tensor.type = known.type;
  if (raw) tensor.data = fromBytes(known.array, raw);
  else if (packed.length) tensor.data = fromBytes(known.array, Buffer.concat(packed));
  else {
    const wideArray = [BigInt64Array, BigUint64Array].includes(known.array);
    const element = wideArray ? (v) => v : (v) => Number(BigInt.asIntN(64, v));
    tensor.data = known.array.from(wide, element);
  }
  if (tensor.data.length !== elementCount(tensor.dims)) {
    throw new Error(`${tensor.name}: ${tensor.data.length} elements do not fill [${tensor.dims}]`);
  }
  return tensor;
}

// IEEE 754 binary16: one sign bit, five of the exponent (bias 15), ten of the fraction.
function numberOfHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 0x1f;
  const fraction = (bits & 0x3ff) / 1024;
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? fraction * 2 ** -14 : (1 + fraction) * 2 ** (exponent - 15));
}

// The bits of the half nearest to a number, ties to even; an infinity from 65520 on.
function halfOfNumber(number) {
  if (Number.isNaN(number)) return 0x7e00;
  const sign = number < 0 || Object.is(number, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(number);
  if (magnitude >= 65520) return sign | 0x7c00;
  // Steps of 2^-24 below 2^-13, of a 1024th of the power of two above.
  const exponent = Math.max(-14, Math.floor(Math.log2(magnitude)));
  const steps = magnitude / 2 ** (exponent - 10);
  const below = Math.floor(steps), rest = steps - below;
  const rounded = below + (rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? 1 : 0);
  return sign | ((exponent + 14) * 1024 + rounded);
}

module.exports = { arrayOf, decode, elementCount, encode, halfOfNumber, numberOfHalf };
