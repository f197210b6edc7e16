import { createHash } from 'node:crypto';
import { invalidBody } from '../../core/errors.ts';
import { SESSION_ID } from '../../replay/chunk.ts';
import type { BatchLabels } from '../../replay/event-batch.ts';
import type { ReplayWriter } from '../../replay/replay-writer.ts';
import { OPEN_ARRAY, OPEN_OBJECT, QUOTE } from '../../wire/bytes.ts';
import { skipSpace, skipValue } from '../../wire/json-tokens.ts';
import { stringAt, walkArray, walkObject } from '../../wire/json-walk.ts';
import { jsonErrorDetail } from '../shared/json-error.ts';
import { takeEvent } from './event.ts';
import { MAX_URL } from './facts.ts';

/** Longer strings of a batch are cut. Characters. */
const MAX_LABEL = 256;
/** Traces of a batch that are kept. */
const MAX_TRACES = 256;
const TRACE = /^[0-9a-f]{32}$/;
/** No number of a batch has this bit. */
const HASHED = 1n << 63n;

/** What a batch says beside its events. */
type Labels = { session: string; seq: string; user: string; url: string; service: string; version: string; traceIds: string[] };
/** Where its events lie. */
type Place = { start: number; end: number };
/** A batch as it is read; `late`: where events begin that stand before whose they are. */
type Batch = { readonly labels: Labels; readonly place: Place; readonly late: number[] };

/** The members of a batch that are strings, by the label that each is. */
const TEXTS: Readonly<Record<string, keyof Omit<Labels, 'traceIds'>>> = {
  ...{ session_id: 'session', seq: 'seq', segment_id: 'seq', user: 'user', url: 'url', service: 'service', version: 'version' },
  ...{ $session_id: 'session', $current_url: 'url', distinct_id: 'user' },
};

/**
 * Reads the batches of a body: an object with `events`; an array of events, whose session `outside` names; PostHog's `$snapshot`, one or an
 * array of them. Throws HttpError 400 where it is none of these.
 */
export class BatchReader {
  readonly #body: Buffer;
  readonly #out: ReplayWriter;
  readonly #outside: string;

  /** `outside`: the session that the request names beside its body; empty for none. */
  constructor(body: Buffer, out: ReplayWriter, outside: string) {
    this.#body = body;
    this.#out = out;
    this.#outside = outside;
  }

  read(): void {
    const body = this.#body;
    const end = body.length;
    const start = skipSpace(body, 0, end);
    if (start === end) throw invalidBody('The body is empty; send JSON with the events of a session.');
    const isArray = body[start] === OPEN_ARRAY;
    if (!isArray && body[start] !== OPEN_OBJECT)
      throw invalidBody('The body is neither a JSON object with events nor a JSON array of them.');
    const after = isArray ? this.#array(start, end) : this.#batch(start, end);
    if (after < 0) throw invalidBody(`The body is not JSON: ${jsonErrorDetail(body, 0, end)}.`);
    const rest = skipSpace(body, after, end);
    if (rest < end) throw invalidBody(`After the events, at byte ${String(rest)}: expected the end of the body.`);
  }

  /** Events, or batches: what the first element is. */
  #array(start: number, end: number): number {
    const first = skipSpace(this.#body, start + 1, end);
    if (this.#isBatch(first, end)) return walkArray(this.#body, start, end, (at, last) => this.#batch(at, last));
    this.#out.refuseOver(this.#outside);
    const labels = newLabels();
    const after = this.#events(start, end);
    if (after >= 0) this.#close(labels, { start, end: after });
    return after;
  }

  /** Whether an object has members of PostHog. */
  #isBatch(at: number, end: number): boolean {
    if (this.#body[at] !== OPEN_OBJECT) return false;
    const names = new Set<string>();
    walkObject(this.#body, at, end, (name, value, last) => {
      names.add(name);
      return name === 'properties' || name === 'events' ? -1 : skipValue(this.#body, value, last);
    });
    return names.has('properties') || names.has('events');
  }

  #batch(at: number, end: number): number {
    if (this.#body[at] !== OPEN_OBJECT) return takeEvent(this.#body, at, end, this.#out);
    const batch: Batch = { labels: newLabels(), place: { start: at, end: at }, late: [] };
    const visit = (name: string, value: number, last: number): number => {
      if (name === 'properties' && this.#body[value] === OPEN_OBJECT) return walkObject(this.#body, value, last, visit);
      return this.#member(name, value, last, batch);
    };
    const after = walkObject(this.#body, at, end, visit);
    if (after < 0) return after;
    for (const value of batch.late) {
      const taken = this.#take(value, end, batch);
      if (taken < 0) return taken;
    }
    this.#close(batch.labels, batch.place);
    return after;
  }

  #member(name: string, value: number, last: number, batch: Batch): number {
    const { labels, late } = batch;
    const isEvents = name === 'events' || name === '$snapshot_data';
    if (isEvents && labels.session !== '') return this.#take(value, last, batch);
    const after = skipValue(this.#body, value, last);
    if (after < 0) return after;
    if (isEvents) late.push(value);
    const label = Object.hasOwn(TEXTS, name) ? TEXTS[name] : undefined;
    if (label !== undefined) labels[label] = this.#text(value, after, label === 'url' ? MAX_URL : MAX_LABEL);
    else if (name === 'trace_ids') labels.traceIds = this.#traceIds(value, after);
    return after;
  }

  /** Events of a batch whose session is known: of one that may have no more they are not read. */
  #take(value: number, last: number, { labels: { session }, place }: Batch): number {
    this.#out.refuseOver(session === '' ? this.#outside : session);
    const after = this.#body[value] === OPEN_ARRAY ? this.#events(value, last) : takeEvent(this.#body, value, last, this.#out);
    if (after >= 0) [place.start, place.end] = [value, after];
    return after;
  }

  #events(start: number, end: number): number {
    return walkArray(this.#body, start, end, (at, last) => takeEvent(this.#body, at, last, this.#out));
  }

  /** A string, or the text of a number; empty for anything else. */
  #text(at: number, after: number, most: number): string {
    const first = this.#body[at] as number;
    if (first === QUOTE) return stringAt(this.#body, at, after).slice(0, most).toWellFormed();
    return first === 0x2d || (first >= 0x30 && first <= 0x39) ? this.#body.toString('latin1', at, Math.min(after, at + most)) : '';
  }

  #traceIds(at: number, end: number): string[] {
    if (this.#body[at] !== OPEN_ARRAY) return [];
    const ids = new Set<string>();
    walkArray(this.#body, at, end, (value, last) => {
      const after = skipValue(this.#body, value, last);
      const id = this.#text(value, after, MAX_LABEL).toLowerCase();
      if (TRACE.test(id) && ids.size < MAX_TRACES) ids.add(id);
      return after;
    });
    return [...ids];
  }

  #close({ session: own, seq, ...labels }: Labels, { start, end }: Place): void {
    const session = own === '' ? this.#outside : own;
    if (session === '') throw invalidBody('No session is named: send session_id in the body or in the query, or the header X-Session-Id.');
    if (!SESSION_ID.test(session)) throw invalidBody('The id of a session has 1 to 128 characters of A-Z, a-z, 0-9, "_", "-" and ".".');
    this.#out.close({ ...labels, session, seq: seqOf(seq, this.#body, start, end) });
  }
}

const newLabels = (): Labels => ({ session: '', seq: '', user: '', url: '', service: '', version: '', traceIds: [] });

/** The number of a batch, or where it has none a hash of its events. Throws HttpError 400. */
function seqOf(seq: string, body: Buffer, start: number, end: number): BatchLabels['seq'] {
  if (seq === '') return createHash('sha256').update(body.subarray(start, end)).digest().readBigUInt64LE() | HASHED;
  const number = Number(seq);
  if (!/^\d+$/.test(seq) || !Number.isSafeInteger(number)) throw invalidBody('seq is not a whole number from 0 to 2^53 - 1.');
  return BigInt(number);
}
