/**
 * The records of some tenants in batches as Kafka has them (format 2, https://kafka.apache.org/documentation/#recordbatch). Of a record of
 * another tenant its lengths and the header `tenant` are looked at, in the bytes, and nothing is made of it.
 */
import type { KafkaMessage } from 'kafkajs';
import { codecOf } from '../connection/kafkajs-protocol.ts';

/** Whether the records of a tenant are wanted. */
export type WantsTenant = (tenantId: number) => boolean;

/** Of one partition: what is wanted of its batches, and the offset that comes behind them; null where there is no whole batch. */
export type TenantRecords = { readonly messages: readonly KafkaMessage[]; readonly next: number | null };

/** Where the fields of a batch lie; the records begin behind its head. */
const LENGTH_AT = 8;
const MAGIC_AT = 16;
const ATTRIBUTES_AT = 21;
const LAST_DELTA_AT = 23;
const [FIRST_TIME_AT, MAX_TIME_AT] = [27, 35];
const COUNT_AT = 57;
const HEAD_BYTES = 61;
const MAGIC = 2;
/** Bits of the attributes: the time is that of the append; what the batch has are marks of transactions. */
const [APPEND_TIME, CONTROL] = [0x08, 0x20];
const TENANT = Buffer.from('tenant');
/** Digits of the largest number that a header may have. */
const MAX_DIGITS = 15;

type Batch = { readonly firstOffset: number; readonly firstTime: number; readonly appendTime: number | null };

/** Reads all whole batches; the last one may be cut. `wants`: null for all. Rejects where a batch is invalid. */
export async function tenantRecords(bytes: Buffer, wants: WantsTenant | null): Promise<TenantRecords> {
  const messages: KafkaMessage[] = [];
  let next: number | null = null;
  for (let at = 0; at + HEAD_BYTES <= bytes.length;) {
    const end = at + LENGTH_AT + 4 + bytes.readInt32BE(at + LENGTH_AT);
    if (end > bytes.length) break;
    if (end < at + HEAD_BYTES) throw new Error('A batch of records is shorter than its head.');
    next = Number(bytes.readBigInt64BE(at));
    // what is older than that has no headers, and so no tenant
    if (bytes[at + MAGIC_AT] === MAGIC) {
      const attributes = bytes.readInt16BE(at + ATTRIBUTES_AT);
      if ((attributes & CONTROL) === 0) await take(bytes.subarray(at, end), attributes, wants, messages);
      next += bytes.readInt32BE(at + LAST_DELTA_AT);
    }
    next += 1;
    at = end;
  }
  return { messages, next };
}

async function take(bytes: Buffer, attributes: number, wants: WantsTenant | null, messages: KafkaMessage[]): Promise<void> {
  const batch: Batch = {
    firstOffset: Number(bytes.readBigInt64BE(0)),
    firstTime: Number(bytes.readBigInt64BE(FIRST_TIME_AT)),
    appendTime: (attributes & APPEND_TIME) === 0 ? null : Number(bytes.readBigInt64BE(MAX_TIME_AT)),
  };
  const codec = codecOf(attributes);
  const plain = bytes.subarray(HEAD_BYTES);
  const cursor = new Cursor(codec === null ? plain : await codec.decompress(plain));
  for (let left = bytes.readInt32BE(COUNT_AT); left > 0; left--) {
    const end = cursor.length() + cursor.at;
    const from = cursor.at;
    if (wants === null || isWanted(cursor, wants)) messages.push(messageOf(cursor, from, batch));
    cursor.go(end);
  }
}

/** Whether a record has the header `tenant` with a tenant that is wanted. */
function isWanted(cursor: Cursor, wants: WantsTenant): boolean {
  cursor.at += 1;
  // time, offset, key, value
  cursor.int();
  cursor.int();
  cursor.skip();
  cursor.skip();
  for (let left = cursor.length(); left > 0; left--) {
    const isTenant = cursor.isNext(TENANT);
    cursor.skip();
    if (isTenant && wants(cursor.digits())) return true;
    cursor.skip();
  }
  return false;
}

/** The record that begins at `from`, as kafkajs gives it. */
function messageOf(cursor: Cursor, from: number, { firstOffset, firstTime, appendTime }: Batch): KafkaMessage {
  cursor.go(from + 1);
  const time = appendTime ?? firstTime + cursor.int();
  if (appendTime !== null) cursor.int();
  const offset = String(firstOffset + cursor.int());
  const [key, value] = [cursor.take(), cursor.take()];
  // a header may have any name
  const headers = Object.create(null) as Record<string, Buffer | Buffer[]>;
  for (let left = cursor.length(); left > 0; left--) {
    const [name, one] = [cursor.take()?.toString() ?? '', cursor.take() ?? NOTHING];
    const known = headers[name];
    headers[name] = known === undefined ? one : [known, one].flat();
  }
  return { key, value, headers, offset, timestamp: String(time), attributes: 0 };
}

const NOTHING = Buffer.alloc(0);

/** Reads the numbers and byte strings of records, one after the other. Throws where they end too soon. */
class Cursor {
  at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** A signed number of variable length (zigzag). */
  int(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.#bytes[this.at++];
      if (byte === undefined) throw new Error('A batch of records ends inside a record.');
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
  }

  /** A length that must be one. */
  length(): number {
    const length = this.int();
    if (length < 0) throw new Error('A record has a length below zero.');
    return length;
  }

  /** Bytes with their length before them; null where that is below zero. */
  take(): Buffer | null {
    const length = this.int();
    if (length < 0) return null;
    const from = this.at;
    this.go(from + length);
    return this.#bytes.subarray(from, this.at);
  }

  skip(): void {
    const length = this.int();
    if (length > 0) this.go(this.at + length);
  }

  go(at: number): void {
    if (at > this.#bytes.length) throw new Error('A batch of records ends inside a record.');
    this.at = at;
  }

  /** Whether the byte string that comes next is this one, of at most 63 bytes. */
  isNext(text: Buffer): boolean {
    if (this.#bytes[this.at] !== text.length * 2) return false;
    for (let index = 0; index < text.length; index++) if (this.#bytes[this.at + 1 + index] !== text[index]) return false;
    return true;
  }

  /** The number whose digits come next; -1 where it is none. It stays where it is. */
  digits(): number {
    const start = this.at;
    const length = this.int();
    const from = this.at;
    this.at = start;
    if (length < 1 || length > MAX_DIGITS) return -1;
    let value = 0;
    for (let index = from; index < from + length; index++) {
      const digit = (this.#bytes[index] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) return -1;
      value = value * 10 + digit;
    }
    return value;
  }
}
