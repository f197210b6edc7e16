// How names are written in JSON, with their quotes: which name it is, and what followed it last time, as a guess.
import {
  FIRST_SPELLINGS,
  MAX_NAMES,
  MAX_SPELLINGS,
  NAMES_SEEN,
  SLOT_COUNT,
  SLOTS,
  SPELLING_SIZE,
  SPELLINGS,
  TAPE,
  TOKENS,
  TOKENS_ROOM,
} from './memory';

/** The longest token that is learnt. */
const MAX_TOKEN: usize = 1024;

/** A spelling by its number, counted from 1; 0 is none. */
let count: u32 = 0;
let tokensUsed: usize = 0;
/** Given by the process, so that no client can choose names that collide. */
let seed: u64 = 0;

function place(spelling: u32): usize {
  return SPELLINGS + <usize>(spelling - 1) * SPELLING_SIZE;
}

export function tokenOf(spelling: u32): usize {
  return load<u32>(place(spelling));
}

export function lengthOf(spelling: u32): usize {
  return load<u32>(place(spelling), 4);
}

/** The number of its name. */
export function nameOf(spelling: u32): u32 {
  return load<u32>(place(spelling), 8);
}

/** The object that it stands in: 0 at the top, else the number of the name above, plus 1. */
function objectOf(spelling: u32): u32 {
  return load<u32>(place(spelling), 12);
}

/** The spelling that followed it last time. */
export function nextOf(spelling: u32): u32 {
  return load<u32>(place(spelling), 16);
}

export function setNext(spelling: u32, next: u32): void {
  store<u32>(place(spelling), next, 16);
}

/** The spelling that such an object began with last time. */
export function firstOf(object: u32): u32 {
  return load<u32>(FIRST_SPELLINGS + ((<usize>object) << 2));
}

export function setFirst(object: u32, spelling: u32): void {
  store<u32>(FIRST_SPELLINGS + ((<usize>object) << 2), spelling);
}

/** Whether the bytes at both places are equal; up to 7 more are read. */
export function equal(a: usize, b: usize, length: usize): bool {
  let i: usize = 0;
  for (; i + 8 <= length; i += 8) if (load<u64>(a + i) != load<u64>(b + i)) return false;
  return i == length || (load<u64>(a + i) ^ load<u64>(b + i)) << ((8 - (length - i)) << 3) == 0;
}

function hash(object: u32, token: usize, length: usize): u32 {
  let x = seed ^ (((<u64>object) << 32) | <u64>length);
  let i: usize = 0;
  for (; i + 8 <= length; i += 8) x = mix(x ^ load<u64>(token + i));
  if (i < length) x = mix(x ^ (load<u64>(token + i) << ((8 - (length - i)) << 3)));
  // a product's low bits know nothing of the high ones
  return <u32>((x * 0xc4ceb9fe1a85ec53) >> 32);
}

function mix(x: u64): u64 {
  const y = x * 0xff51afd7ed558ccd;
  return y ^ (y >> 32);
}

/** The slot that holds the spelling, or the empty one where it belongs. */
function slotOf(object: u32, token: usize, length: usize): usize {
  let slot = hash(object, token, length) & (SLOT_COUNT - 1);
  while (true) {
    const at = SLOTS + ((<usize>slot) << 2);
    const spelling = load<u32>(at);
    if (spelling == 0) return at;
    if (lengthOf(spelling) == length && objectOf(spelling) == object && equal(tokenOf(spelling), token, length)) return at;
    slot = (slot + 1) & (SLOT_COUNT - 1);
  }
}

/** The spelling with this token in such an object; 0 where it is not known. */
export function findSpelling(object: u32, token: usize, length: usize): u32 {
  return load<u32>(slotOf(object, token, length));
}

/** Forgets all spellings and names. */
export function forgetSpellings(newSeed: u32): void {
  seed = <u64>newSeed * 0x9e3779b97f4a7c15;
  count = 0;
  tokensUsed = 0;
  memory.fill(SLOTS, 0, (<usize>SLOT_COUNT) << 2);
  memory.fill(FIRST_SPELLINGS, 0, (<usize>(MAX_NAMES + 1)) << 2);
  memory.fill(NAMES_SEEN, 0, (<usize>(MAX_NAMES + 1)) << 2);
}

/** Learns the token at the begin of the tape, in such an object. Does nothing where there is no space. */
export function learnSpelling(object: u32, length: usize, name: u32): void {
  if (count >= MAX_SPELLINGS || length > MAX_TOKEN || tokensUsed + length + 8 > TOKENS_ROOM || object > MAX_NAMES || name >= MAX_NAMES)
    return;
  const slot = slotOf(object, TAPE, length);
  if (load<u32>(slot) != 0) return;
  const token = TOKENS + tokensUsed;
  memory.copy(token, TAPE, length);
  tokensUsed += length;
  count += 1;
  const at = place(count);
  store<u32>(at, <u32>token);
  store<u32>(at, <u32>length, 4);
  store<u32>(at, name, 8);
  store<u32>(at, object, 12);
  store<u32>(at, 0, 16);
  store<u32>(slot, count);
}
