import { mutate } from './mutate.ts';
import { EXAMPLES } from './queries.ts';
import type { Random } from './random.ts';

/** Frames that one client sends. */
export const FRAMES = 10;
const [CONTINUATION, TEXT, BINARY, END, PING, PONG] = [0, 1, 2, 8, 9, 10] as const;
const KINDS = [TEXT, TEXT, TEXT, CONTINUATION, BINARY, END, PING, PONG, 3, 11] as const;
const LENGTHS = [125n, 126n, 65_535n, 65_536n, 131_072n, 131_073n, 1n << 31n, 1n << 53n, (1n << 63n) - 1n, 1n << 63n, (1n << 64n) - 1n];
const CODES = [0, 999, 1000, 1001, 1002, 1004, 1005, 1006, 1007, 1010, 1011, 1014, 1015, 2999, 3000, 4999, 5000, 65_535];

/** A message of a tail, whole or half JSON. */
function message(random: Random): Buffer {
  const query = random.pick(EXAMPLES);
  const more = random.pick([
    {},
    { control: true },
    { control: 1 },
    { sample: true },
    { since: '-5m' },
    { since: 'x' },
    { resume: 'x' },
    { resume: '{}' },
  ]);
  const text = random.pick([
    JSON.stringify({ query, ...more }),
    JSON.stringify({ query: '*', control: true, ...more }),
    query,
    '[]',
    'null',
    '{}',
  ]);
  const bytes = Buffer.from(text);
  return random.below(2) === 0 ? bytes : mutate(bytes, Buffer.from(query), random);
}

function payloadOf(random: Random, opcode: number): Buffer {
  if (opcode === END) {
    const code = Buffer.alloc(random.below(3));
    if (code.length === 2) code.writeUInt16BE(random.pick(CODES));
    return Buffer.concat([code, random.below(2) === 0 ? Buffer.alloc(0) : message(random).subarray(0, 123)]);
  }
  if (opcode === PING || opcode === PONG) return message(random).subarray(0, random.below(140));
  if (random.below(200) === 0) return Buffer.alloc(random.pick([65_535, 65_536, 131_072, 131_073]), 0x20);
  return message(random);
}

/** A length in as few bytes as it takes, or in those of `size`. */
function lengthBytes(length: bigint, size = length < 126n ? 0 : length < 65_536n ? 1 : 2): Buffer {
  if (size === 0) return Buffer.from([Number(length & 0x7fn)]);
  const bytes = Buffer.alloc(size === 1 ? 3 : 9, size === 1 ? 126 : 127);
  if (size === 1) bytes.writeUInt16BE(Number(length & 0xffffn), 1);
  else bytes.writeBigUInt64BE(length, 1);
  return bytes;
}

/** The length as a frame has it; now and then another one, or written longer than it need be. */
function damagedLength(random: Random, length: number): Buffer {
  const told = random.below(20) === 0 ? random.pick(LENGTHS) : BigInt(length);
  return random.below(20) === 0 ? lengthBytes(told, random.below(3)) : lengthBytes(told);
}

/** `isStrict`: as the protocol has it. */
type Frame = { readonly opcode: number; readonly payload: Buffer; readonly isLast: boolean; readonly isStrict: boolean };

/** A frame as a client sends it, or nearly so. */
function frame(random: Random, { opcode, payload, isLast, isStrict }: Frame): Buffer {
  const reserved = !isStrict && random.below(25) === 0 ? random.below(8) << 4 : 0;
  const isMasked = isStrict || random.below(25) > 0;
  const length = isStrict ? lengthBytes(BigInt(payload.length)) : damagedLength(random, payload.length);
  const head = Buffer.concat([Buffer.from([(isLast ? 0x80 : 0) | reserved | opcode]), length]);
  head[1] = (head[1] as number) | (isMasked ? 0x80 : 0);
  if (!isMasked) return Buffer.concat([head, payload]);
  const mask = Buffer.from(Array.from({ length: 4 }, () => random.below(256)));
  return Buffer.concat([head, mask, payload.map((byte, at) => byte ^ (mask[at & 3] as number))]);
}

/** The frames of one client: messages in one and in several, control frames between. Half of all clients keep to the protocol. */
export function framesOf(random: Random): Buffer {
  const frames: Buffer[] = [];
  const isStrict = random.below(2) === 0;
  let isOpen = false;
  while (frames.length < FRAMES) {
    const opcode = isStrict ? random.pick([TEXT, TEXT, PING, PONG]) : random.pick(KINDS);
    const isControl = opcode >= END;
    const isLast = isControl ? isStrict || random.below(10) > 0 : random.below(3) > 0;
    const own = isStrict && !isControl && isOpen ? CONTINUATION : opcode;
    if (!isControl) isOpen = !isLast;
    const payload = payloadOf(random, opcode);
    frames.push(frame(random, { opcode: own, payload: isStrict && isControl ? payload.subarray(0, 125) : payload, isLast, isStrict }));
  }
  const bytes = Buffer.concat(frames);
  return !isStrict && random.below(4) === 0 ? mutate(bytes, bytes, random) : bytes;
}
