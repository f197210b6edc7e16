import { LAST_TYPE } from '../../replay/chunk.ts';
import type { ReplayWriter } from '../../replay/replay-writer.ts';
import { CLOSE_OBJECT, OPEN_OBJECT, QUOTE } from '../../wire/bytes.ts';
import { failAt, last, PLAIN, shape, skipString, skipValue } from '../../wire/json-tokens.ts';
import { nextMember, openObject, stringAt, valueAfter } from '../../wire/json-walk.ts';
import { NO_OBJECT } from '../shared/json-error.ts';
import { factsOf } from './facts.ts';

/** Deepest nesting of an event. */
const MAX_DEPTH = 64;

/** Events of a body, which is read in one turn of the event loop: 130,000 small ones took half a second. A page makes some hundred a second. */
const MAX_EVENTS = 20_000;
const TOO_MANY = `more than ${MAX_EVENTS.toLocaleString('en')} events in a body`;

/** Where the members of an event lie; -1 where there is none. */
type Found = { type: number; typeEnd: number; time: number; timeEnd: number; data: number; dataEnd: number; depth: number };

/** Takes the event that begins at `at`, or rejects it; gives the offset after it, a negative one where there is no whole JSON value. */
export function takeEvent(body: Buffer, at: number, end: number, out: ReplayWriter): number {
  const isMore = out.accepted >= MAX_EVENTS;
  if (isMore || body[at] !== OPEN_OBJECT) {
    const next = skipValue(body, at, end);
    if (next >= 0) out.reject(isMore ? TOO_MANY : NO_OBJECT, body, at, next);
    return next;
  }
  const found: Found = { type: -1, typeEnd: -1, time: -1, timeEnd: -1, data: -1, dataEnd: -1, depth: 0 };
  let i = openObject(body, at, end);
  while (i >= 0 && body[i] !== CLOSE_OBJECT) {
    if (body[i] !== QUOTE) return failAt(i, end);
    const after = skipString(body, i, end);
    if (after < 0) return after;
    const name = last.escapes === PLAIN ? memberOf(body, i + 1, after - 1) : stringAt(body, i, after);
    const value = valueAfter(body, after, end);
    if (value < 0) return value;
    const next = skipValue(body, value, end);
    if (shape.depth >= found.depth) found.depth = 1 + shape.depth;
    if (name === 'type') [found.type, found.typeEnd] = [value, next];
    else if (name === 'timestamp') [found.time, found.timeEnd] = [value, next];
    else if (name === 'data') [found.data, found.dataEnd] = [value, next];
    i = nextMember(body, next, end);
  }
  if (i < 0) return i;
  take(body, at, i + 1, found, out);
  return i + 1;
}

const NAMES = ['type', 'data', 'timestamp'].map((name) => ({ name, bytes: Buffer.from(name) }));

/** Which of the members that are read has its name, as it stands, at `bytes[start..end)`; empty for another. On the path of each event. */
function memberOf(bytes: Buffer, start: number, end: number): string {
  for (const { name, bytes: wanted } of NAMES) {
    if (wanted.length !== end - start) continue;
    let at = 0;
    while (at < wanted.length && wanted[at] === bytes[start + at]) at += 1;
    if (at === wanted.length) return name;
  }
  return '';
}

function take(source: Buffer, start: number, end: number, found: Found, out: ReplayWriter): void {
  const type = numberAt(source, found.type, found.typeEnd);
  const time = Math.floor(numberAt(source, found.time, found.timeEnd));
  const problem = problemOf(type, time, found);
  if (problem !== '') out.reject(problem, source, start, end);
  else out.add({ source, start, end, time, type, ...factsOf(type, source, found.data, found.dataEnd) });
}

function problemOf(type: number, time: number, { data, depth }: Found): string {
  if (depth > MAX_DEPTH) return `nested deeper than ${String(MAX_DEPTH)} levels`;
  if (!Number.isInteger(time)) return 'the timestamp is not a number of milliseconds';
  if (!Number.isInteger(type) || type < 0 || type > LAST_TYPE) return `the type is not a whole number from 0 to ${String(LAST_TYPE)}`;
  return data < 0 ? 'there is no data' : '';
}

/** The number whose token is `source[start..end)`; NaN for any other. */
function numberAt(source: Buffer, start: number, end: number): number {
  const first = source[start];
  if (start < 0 || first === undefined || !(first === 0x2d || (first >= 0x30 && first <= 0x39)) || end - start > 30) return NaN;
  let whole = 0;
  let at = start;
  for (let digit = first - 0x30; at < end && digit >= 0 && digit <= 9; digit = (source[at] as number) - 0x30) {
    whole = whole * 10 + digit;
    at += 1;
  }
  if (at === end && end - start <= 15) return whole;
  return Number(source.toString('latin1', start, end));
}
