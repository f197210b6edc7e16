import { OPEN_ARRAY, OPEN_OBJECT } from '../wire/bytes.ts';
import { invalidBody } from '../core/errors.ts';
import { skipSpace, skipValue } from '../wire/json-tokens.ts';
import { lastJsonError, validUtf8, type EntryWriter } from '../logs/writer.ts';
import { LOGS } from '../logs/record.ts';
import { endOfLine } from './shared/bytes.ts';
import { jsonErrorReason, NO_OBJECT } from './shared/json-error.ts';
import type { Ack, IngestRequest, Normalizer, Written } from './normalizer.ts';

/**
 * Plain JSON: an array of objects, NDJSON, or objects one after the other. What is not JSON is a 400 that names the line or
 * element, with nothing accepted; an element that is JSON but not an entry is rejected by itself.
 */
export const jsonEntries: Normalizer = {
  name: 'json',
  signal: LOGS,
  paths: ['/api/v1/ingest', '/insert/jsonline'],
  batchSettings: '`batch.max_bytes` in Vector, the chunk size in Fluent Bit and Fluentd',
  methods: ['POST'],

  normalize(request: IngestRequest, out: EntryWriter): void {
    const body = validUtf8(request.body);
    const start = skipSpace(body, 0, body.length);
    if (start === body.length) throw invalidBody('The body is empty; send a JSON array of objects, or NDJSON.');
    if (isMessagePack(request.body)) throw invalidBody('The body is not JSON but looks like MessagePack, which /api/v1/fluent takes.');
    if (body[start] === OPEN_ARRAY) readArray(body, start, out);
    else readLines(body, out);
    if (out.total > 0 && out.total === out.rejected.count && out.outOfBounds === 0) {
      throw invalidBody(`No entry could be taken: entry 0: ${out.rejected.first[0]?.reason ?? ''}.`);
    }
  },

  ack(_request: IngestRequest, { accepted, rejected }: Written): Ack {
    if (rejected.count === 0) return { status: 200, body: { status: 'ok', accepted } };
    const errors = rejected.first.map(({ index, reason }) => ({ index, reason }));
    return { status: 200, body: { status: 'ok', accepted, rejected: rejected.count, errors } };
  },
};

/** True for a body that begins with a map or an array of MessagePack, which no UTF-8 does. */
function isMessagePack(body: Buffer): boolean {
  const first = body[0] as number;
  return (first >= 0x80 && first <= 0x9f) || (first >= 0xdc && first <= 0xdf && (body[1] as number) < 0x80);
}

function readArray(body: Buffer, start: number, out: EntryWriter): void {
  const end = body.length;
  const fail = (at: number): never => {
    throw invalidBody(`Element ${String(out.total)} of the array is ${jsonErrorReason(body, at, end)}.`);
  };
  let at = skipSpace(body, start + 1, end);
  if (body[at] !== 0x5d) {
    for (;;) {
      const element = at;
      at = readElement(body, at, end, out);
      if (at < 0) fail(element);
      at = skipSpace(body, at, end);
      if (body[at] === 0x5d) break;
      if (body[at] !== 0x2c)
        throw invalidBody(`After element ${String(out.total - 1)} of the array, at byte ${String(at)}: expected "," or "]".`);
      at = skipSpace(body, at + 1, end);
    }
  }
  const rest = skipSpace(body, at + 1, end);
  if (rest !== end) throw invalidBody(`After the array, at byte ${String(rest)}: expected the end of the body.`);
}

/** One element: an entry, or a value that is not an entry and is rejected. */
function readElement(body: Buffer, at: number, end: number, out: EntryWriter): number {
  if (body[at] === OPEN_OBJECT) return out.object(body, at, end);
  const after = skipValue(body, at, end);
  if (after >= 0) out.reject(NO_OBJECT, body, at, after);
  return after;
}

function readLines(body: Buffer, out: EntryWriter): void {
  let at = 0;
  for (let line = 1; at < body.length; line++) {
    let end = endOfLine(body, at);
    let element = skipSpace(body, at, end);
    // several objects may stand in one line
    while (element < end) {
      const after = readElement(body, element, end, out);
      if (after >= 0) element = skipSpace(body, after, end);
      else {
        // or one object in several lines
        const last = lastJsonError() < end ? -1 : readElement(body, element, body.length, out);
        if (last < 0) throw invalidBody(`Line ${String(line)} is ${jsonErrorReason(body, element, end)}.`);
        line += countLines(body, element, last);
        end = endOfLine(body, last);
        element = skipSpace(body, last, end);
      }
    }
    at = end + 1;
  }
}

function countLines(body: Buffer, from: number, to: number): number {
  let lines = 0;
  for (let at = body.indexOf(0x0a, from); at >= 0 && at < to; at = body.indexOf(0x0a, at + 1)) lines += 1;
  return lines;
}
