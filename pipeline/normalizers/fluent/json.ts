import { CLOSE_ARRAY, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from '../../wire/bytes.ts';
import { skipSpace, skipValue } from '../../wire/json-tokens.ts';
import { stringAt, walkArray } from '../../wire/json-walk.ts';
import type { EntryWriter } from '../../logs/writer.ts';
import { NO_FIELDS, TaggedEntries, tagProblem } from './tag.ts';
import { takeElements } from '../shared/json-elements.ts';

/** Where a JSON value lies. */
type Span = { readonly at: number; readonly after: number };
/** Where no byte is. */
const NOWHERE: Span = { at: -1, after: -1 };

/**
 * The records of JSON bodies: arrays, NDJSON and objects one after the other, and the arrays of the forward protocol:
 * `[tag, time, record]`, `[tag, [[time, record], …]]`, `[time, record]`. Gives how many records and lists were readable.
 */
export function takeJsonRecords(body: Buffer, requestTag: string, out: EntryWriter, maxBytes: number): number {
  const tags = new TaggedEntries(out, maxBytes);
  let readable = 0;

  const record = (at: number, end: number, tag: string, time: Span | null): number => {
    const draft = tags.begin(body, at, end, tag);
    const own = draft.count;
    const timed = time === null || out.timeIsText(timeText(body, time));
    const after = out.readObject(at, end);
    if (after < 0) return after;
    readable += 1;
    if (!timed) out.reject('_time is not a time', body, time.at, after);
    else if (draft.count === own && draft.problem === '') out.reject(NO_FIELDS, body, at, after);
    else out.end('');
    return after;
  };

  /** An element of a list: a record, or a time and a record. */
  const entry = (at: number, end: number, tag: string): number => {
    if (body[at] === OPEN_OBJECT) return record(at, end, tag, null);
    const { spans, count } = body[at] === OPEN_ARRAY ? spansOf(body, at, end) : NO_SPANS;
    const [time, { at: from, after: to } = NOWHERE] = spans;
    const after = skipValue(body, at, end);
    if (after < 0) return after;
    if (count === 2 && time !== undefined && body[from] === OPEN_OBJECT) record(from, to, tag, time);
    else out.reject('neither a record nor a time and a record', body, at, after);
    return after;
  };

  const forward = (at: number, end: number): number => {
    const { spans, after } = spansOf(body, at, end);
    const [first = NOWHERE, second = NOWHERE, third = NOWHERE] = spans;
    if (after < 0) return after;
    const tag = stringAt(body, first.at, first.after) || requestTag;
    const problem = tagProblem(tag);
    if (problem !== '') out.reject(problem, body, at, after);
    else if (body[second.at] === OPEN_ARRAY) list(second.at, tag);
    else if (body[third.at] === OPEN_OBJECT) record(third.at, third.after, tag, second);
    else out.reject('a forward message without a record', body, at, after);
    return after;
  };

  const list = (at: number, tag: string): number => {
    const { total } = out;
    const after = walkArray(body, at, body.length, (i, end) => entry(i, end, tag));
    if (after >= 0 && out.total === total) readable += 1;
    return after;
  };

  takeElements(body, out, {
    object: (at, end) => record(at, end, requestTag, null),
    array: (at, end) => {
      const first = body[skipSpace(body, at + 1, end)];
      if (first === QUOTE) return forward(at, end);
      return first === OPEN_OBJECT || first === OPEN_ARRAY || first === CLOSE_ARRAY ? list(at, requestTag) : entry(at, end, requestTag);
    },
  });
  return readable;
}

const NO_SPANS = { spans: [], count: 0, after: -1 } as const;

/** The first three elements of the array at `at`, how many it has, and the offset after it; that is negative where it is none. */
function spansOf(
  body: Buffer,
  at: number,
  end: number,
): { readonly spans: readonly Span[]; readonly count: number; readonly after: number } {
  const spans: Span[] = [];
  let count = 0;
  const after = walkArray(body, at, end, (from) => {
    const to = skipValue(body, from, end);
    if (count < 3 && to >= 0) spans.push({ at: from, after: to });
    count += 1;
    return to;
  });
  return { spans, count, after };
}

/** A time's text: a string's, or a number as it stands. */
function timeText(body: Buffer, { at, after }: Span): string {
  return body[at] === QUOTE ? stringAt(body, at, after) : body.toString('utf8', at, Math.min(after, at + 100));
}
