import type { IHeaders } from 'kafkajs';
import { isOn } from '../../core/fault-points.ts';
import { crc32c } from '../../wasm/crc32c.ts';
import type { Compression } from './pending-record.ts';
import { snappyCodec } from '../connection/snappy-codec.ts';

/** Whom Kafka knows a producer as. `id` is an int64, as its decimal digits. */
export type ProducerIdentity = { readonly id: string; readonly epoch: number };

type BatchRecord = { readonly value: Buffer; readonly headers: IHeaders };

type BatchOptions = {
  readonly records: readonly BatchRecord[];
  readonly identity: ProducerIdentity;
  /** Of the first record. */
  readonly sequence: number;
  readonly compression: Compression;
  /** Milliseconds. */
  readonly now?: number;
};

/** Where the fields of a batch lie: offset int64, length int32, leader epoch int32, magic int8, checksum uint32; the checksum is of what follows. */
const LENGTH_AT = 8;
const MAGIC_AT = 16;
const CHECKSUM_AT = 17;
const BODY_AT = 21;
/** Attributes int16, last offset delta int32, first and last time int64, producer id int64, epoch int16, first sequence int32, count int32. */
const RECORDS_AT = BODY_AT + 40;
const MAGIC = 2;
const CODES: Readonly<Record<Compression, number>> = { none: 0, snappy: 2 };
/** More than the fixed fields of a record take, and more than the lengths of a header. */
const MOST_RECORD_BYTES = 32;
const MOST_HEADER_BYTES = 10;
/** Most bytes of UTF-8 for a unit of a string. */
const MOST_PER_UNIT = 3;
/** A shorter text is written unit by unit, which takes less time than a call of the engine. */
const SHORT_TEXT = 64;
const IS_IDEMPOTENT = isOn('idempotence');

/**
 * A batch of records as Kafka keeps it (format 2). Its bytes are what is sent again where an answer is lost: the same records, producer and
 * sequence, so that Kafka knows them again.
 */
export async function encodeRecordBatch({ records, identity, sequence, compression, now = Date.now() }: BatchOptions): Promise<Buffer> {
  const plain = encodeRecords(records, compression === 'none' ? RECORDS_AT : 0);
  let batch = plain;
  if (compression !== 'none') {
    const compressed = await snappyCodec.compress({ buffer: plain });
    batch = Buffer.allocUnsafe(RECORDS_AT + compressed.length);
    compressed.copy(batch, RECORDS_AT);
  }
  batch.fill(0, 0, RECORDS_AT);
  batch.writeInt32BE(batch.length - LENGTH_AT - 4, LENGTH_AT);
  batch.writeInt8(MAGIC, MAGIC_AT);
  batch.writeInt16BE(CODES[compression], BODY_AT);
  batch.writeInt32BE(records.length - 1, BODY_AT + 2);
  const time = BigInt(now);
  batch.writeBigInt64BE(time, BODY_AT + 6);
  batch.writeBigInt64BE(time, BODY_AT + 14);
  batch.writeBigInt64BE(IS_IDEMPOTENT ? BigInt(identity.id) : -1n, BODY_AT + 22);
  batch.writeInt16BE(IS_IDEMPOTENT ? identity.epoch : -1, BODY_AT + 30);
  batch.writeInt32BE(IS_IDEMPOTENT ? sequence : -1, BODY_AT + 32);
  batch.writeInt32BE(records.length, BODY_AT + 36);
  batch.writeUInt32BE(crc32c(batch.subarray(BODY_AT)), CHECKSUM_AT);
  return batch;
}

/** The records one after the other, from `at` on. */
function encodeRecords(records: readonly BatchRecord[], at: number): Buffer {
  let most = at;
  let headersBytes = 0;
  for (const { value, headers } of records) {
    const own = mostBytesOf(headers);
    most += MOST_RECORD_BYTES + value.length + own;
    headersBytes = Math.max(headersBytes, own);
  }
  const out = Buffer.allocUnsafe(most);
  const scratch = Buffer.allocUnsafe(headersBytes);
  let end = at;
  records.forEach(({ value, headers }, index) => {
    const headersLength = writeHeaders(scratch, headers);
    const length = 3 + sizeOf(index) + sizeOf(value.length) + value.length + headersLength;
    end = writeInt(out, end, length);
    // attributes, time since the first record's
    out[end++] = 0;
    out[end++] = 0;
    end = writeInt(out, end, index);
    // no key
    out[end++] = 1;
    end = writeInt(out, end, value.length);
    end += value.copy(out, end);
    end += scratch.copy(out, end, 0, headersLength);
  });
  return out.subarray(0, end);
}

/** Bytes that are enough for the headers. */
function mostBytesOf(headers: IHeaders): number {
  let most = MOST_HEADER_BYTES;
  for (const name in headers) {
    const value = headers[name];
    for (const one of Array.isArray(value) ? value : [value])
      most += 2 * MOST_HEADER_BYTES + (name.length + (one?.length ?? 0)) * MOST_PER_UNIT;
  }
  return most;
}

function writeHeaders(out: Buffer, headers: IHeaders): number {
  let count = 0;
  for (const name in headers) {
    const value = headers[name];
    count += Array.isArray(value) ? value.length : 1;
  }
  let at = writeInt(out, 0, count);
  for (const name in headers) {
    const value = headers[name];
    for (const one of Array.isArray(value) ? value : [value]) {
      at = writeText(out, at, name);
      if (typeof one === 'string') at = writeText(out, at, one);
      else if (one === undefined) out[at++] = 1;
      else {
        at = writeInt(out, at, one.length);
        at += one.copy(out, at);
      }
    }
  }
  return at;
}

/** A string with its length before it. */
function writeText(out: Buffer, at: number, text: string): number {
  if (text.length < SHORT_TEXT) {
    const start = writeInt(out, at, text.length);
    let end = start;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      if (unit > 0x7f) break;
      out[end++] = unit;
    }
    if (end - start === text.length) return end;
  }
  const start = writeInt(out, at, Buffer.byteLength(text));
  return start + out.write(text, start);
}

/** Bytes of a length as a signed integer of variable length. */
function sizeOf(length: number): number {
  let size = 1;
  for (let rest = length * 2; rest > 0x7f; rest = Math.floor(rest / 0x80)) size += 1;
  return size;
}

function writeInt(out: Buffer, at: number, length: number): number {
  let rest = length * 2;
  let end = at;
  while (rest > 0x7f) {
    out[end++] = (rest & 0x7f) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  out[end++] = rest;
  return end;
}
