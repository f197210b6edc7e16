import { type ByteReader, type ByteWriter, CutOff } from '../../core/snapshot-bytes.ts';
import { MessagePatterns } from '../../clusterer/message-patterns.ts';
import { fingerprintOf } from '../../clusterer/shapes.ts';
import { wholeCharacters } from '../../clusterer/words.ts';
import { catchUpOf } from '../../detectors/detector.ts';
import { PatternSeries } from '../../detectors/series/pattern-series.ts';
import { digitsOf, streamIdOf } from '../../processors/patterns/error-counts.ts';
import type { PatternErrors } from '../../processors/patterns/pattern-segment.ts';
import type { SeenPattern } from '../../processors/patterns/patterns-partial.ts';
import { readJson } from '../../core/read-json.ts';

/** Streams that are counted one by one; others are counted together. */
const MOST_STREAMS = 200;
/** What came in this span and the one before is recent. Milliseconds, by append time. */
const SPAN_MS = 900_000;
const OTHERS = '';
const STREAM_BYTES = 24;

/** What came of a stream in its last span, and in the one before that. */
type Recent = { span: number; now: number; before: number };

/** From which streams entries came in the last 15 to 30 minutes, by their ids. */
export class RecentStreams {
  readonly #all = new Map<string, Recent>();
  #span = 0;

  /** What it takes in a snapshot, at most, about: bytes. */
  get bytes(): number {
    return this.#all.size * STREAM_BYTES;
  }

  /** `hasRoom`: whether an unknown stream is counted by itself. */
  add(id: string, entries: number, appendedAt: number, mayTake = true): void {
    const span = Math.max(this.#span, Math.floor(appendedAt / SPAN_MS));
    if (span > this.#span) this.#begin(span);
    const own = this.#of(id, mayTake);
    if (own.span < span) Object.assign(own, { span, now: 0, before: own.span === span - 1 ? own.now : 0 });
    own.now += entries;
  }

  /** Ids and how many entries of each, those with most first; those that are counted together have an empty one. */
  get all(): readonly (readonly [id: string, entries: number])[] {
    return [...this.#all]
      .map(([id, { span, now, before }]) => [id, span === this.#span ? now + before : now] as const)
      .sort(([one, more], [two, less]) => less - more || (one < two ? -1 : 1));
  }

  write(to: ByteWriter): void {
    for (const number of [this.#span, this.#all.size]) to.count(number);
    for (const [id, { span, now, before }] of this.#all) {
      to.text(id);
      for (const number of [span, now, before]) to.count(number);
    }
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader): RecentStreams {
    const read = new RecentStreams();
    read.#span = from.count();
    for (let left = from.count(MOST_STREAMS + 1); left > 0; left--)
      read.#all.set(from.text(), { span: from.count(), now: from.count(), before: from.count() });
    return read;
  }

  #of(id: string, mayTake: boolean): Recent {
    const known = this.#all.get(id);
    if (known !== undefined) return known;
    const own = { span: this.#span, now: 0, before: 0 };
    if (id !== OTHERS && (!mayTake || this.#all.size >= MOST_STREAMS)) return this.#of(OTHERS, true);
    this.#all.set(id, own);
    return own;
  }

  /** A span begins: streams of which nothing came in the last one are forgotten. */
  #begin(span: number): void {
    this.#span = span;
    for (const [id, own] of this.#all) if (own.span < span - 1) this.#all.delete(id);
  }
}

/** Error templates of a tenant that are watched, at most. */
export const MOST_ERROR_PATTERNS = 200;
/** Where that many exist, one that had no error for this long is replaced by another. Milliseconds, by append time. */
const QUIET_MS = 3_600_000;
/** One that had no error for this long is forgotten. */
const FORGET_MS = 24 * 3_600_000;
/** Severities that are errors: error and fatal. */
const FIRST_ERROR = 5;
/** What a template takes in a snapshot in addition to its strings and streams, at most, about. */
const SERIES_BYTES = 2400;
/** Bytes of an example that are kept. */
const MOST_EXAMPLE = 500;

/** What an alert is about while it fires, as first published. */
export type PublishedPattern = {
  readonly id: number;
  readonly firedAt: number;
  readonly stream: string;
  readonly service: string;
};

/** An error template that is watched. */
export type ErrorPattern = {
  /** Bytes of its strings. */
  readonly textBytes: number;
  readonly fingerprint: string;
  readonly template: string;
  readonly example: string;
  readonly series: PatternSeries;
  readonly streams: RecentStreams;
  /** When its last errors were appended, milliseconds. */
  seenAt: number;
  /** The alert of it that was published last; null for none. */
  told: PublishedPattern | null;
};

const messages = new MessagePatterns();

/** The error templates of a tenant that are watched, by the first 16 digits of their fingerprints, in the order in which they came. */
export class ErrorPatterns {
  readonly #all = new Map<string, ErrorPattern>();

  get size(): number {
    return this.#all.size;
  }

  /** What they take in a snapshot, at most, about. */
  get bytes(): number {
    let sum = 0;
    for (const pattern of this) sum += bytesOf(pattern);
    return sum;
  }

  [Symbol.iterator](): IterableIterator<ErrorPattern> {
    return this.#all.values();
  }

  /** Takes the patterns that a partition has reported; unknown errors are watched from now on, while all have no more than `most` bytes. */
  learn(seen: readonly SeenPattern[], appendedAt: number, most: number): void {
    for (const { high, low, severity, message } of seen) {
      const pattern = digitsOf(high, low);
      if (severity < FIRST_ERROR || this.#all.has(pattern)) continue;
      const bytes = Buffer.from(message, 'latin1');
      messages.read(bytes, 0, bytes.length);
      // made by other rules than those of this release
      if (digitsOf(messages.high, messages.low) !== pattern) continue;
      const template = messages.template();
      const example = bytes.toString('utf8', 0, bytes.length > MOST_EXAMPLE ? wholeCharacters(bytes, MOST_EXAMPLE) : bytes.length);
      const textBytes = utf8Bytes(template, example);
      if (!this.#mayTake(appendedAt, most - SERIES_BYTES - textBytes)) continue;
      const fresh = { textBytes, series: new PatternSeries(), streams: new RecentStreams(), seenAt: appendedAt, told: null };
      this.#all.set(pattern, { fingerprint: fingerprintOf(template), template, example, ...fresh });
    }
  }

  /** Adds the errors that a partition has counted; streams are distinguished while all has no more than `most` bytes. */
  add(counted: readonly PatternErrors[], appendedAt: number, most: number): void {
    const mayTake = this.bytes < most;
    const catchUp = catchUpOf(counted.reduce((sum, { counts }) => sum + counts.length, 0));
    for (const { high, low, counts } of counted) {
      const own = this.#all.get(digitsOf(high, low));
      if (own === undefined) continue;
      own.seenAt = Math.max(own.seenAt, appendedAt);
      for (const count of counts) {
        own.series.add(count.minute, count.errors, appendedAt, catchUp);
        own.streams.add(streamIdOf(count), count.errors, appendedAt, mayTake);
      }
    }
  }

  /** Forgets those that had no error for a day by an append time, milliseconds; gives those of whom an alert may fire. */
  forget(now: number): ErrorPattern[] {
    const forgotten = [...this.#all].filter(([, { seenAt }]) => seenAt < now - FORGET_MS);
    for (const [pattern] of forgotten) this.#all.delete(pattern);
    return forgotten.flatMap(([, own]) => (own.told === null ? [] : [own]));
  }

  /** A slice of the snapshot for each series. */
  *write(to: ByteWriter): Generator<undefined, void> {
    to.count(this.size);
    for (const { template, example, series, streams, seenAt, told } of this) {
      for (const text of [template, example]) to.text(Buffer.from(text).toString('latin1'));
      to.bytes(series.snapshot());
      streams.write(to);
      to.count(seenAt);
      to.text(Buffer.from(JSON.stringify(told)).toString('latin1'));
      yield;
    }
  }

  /** What `write` wrote; throws where it is anything else. */
  static read(from: ByteReader): ErrorPatterns {
    const read = new ErrorPatterns();
    for (let left = from.count(MOST_ERROR_PATTERNS); left > 0; left--) {
      const [template, example] = [utf8(from.text()), utf8(from.text())];
      const [fingerprint, series] = [fingerprintOf(template), PatternSeries.restore(from.bytes())];
      if (series === null) throw new CutOff();
      const [streams, seenAt] = [RecentStreams.read(from), from.count()];
      const told = readJson(utf8(from.text())) as PublishedPattern | null;
      const { size } = read;
      const textBytes = utf8Bytes(template, example);
      read.#all.set(fingerprint.slice(0, 16), { textBytes, fingerprint, template, example, series, streams, seenAt, told });
      // each stands there once
      if (read.size !== size + 1) throw new CutOff();
    }
    return read;
  }

  /** Where there are too many, or more than `most` bytes, the one that was idle longest is dropped. */
  #mayTake(now: number, most: number): boolean {
    if (this.size < MOST_ERROR_PATTERNS && this.bytes <= most) return true;
    let quietest: [string, ErrorPattern] | null = null;
    for (const one of this.#all)
      if (one[1].series.open === null && one[1].seenAt < (quietest?.[1].seenAt ?? now - QUIET_MS)) quietest = one;
    if (quietest === null) return false;
    if (this.bytes - bytesOf(quietest[1]) > most) return false;
    this.#all.delete(quietest[0]);
    return true;
  }
}

const bytesOf = ({ textBytes, streams, told }: ErrorPattern): number =>
  SERIES_BYTES + textBytes + streams.bytes + (told === null ? 0 : PUBLISHED_BYTES + 3 * (told.stream.length + told.service.length));
/** What an alert takes in addition to what it is about, whose characters take three bytes at most, with escapes too. */
const PUBLISHED_BYTES = 100;
const utf8Bytes = (...texts: readonly string[]): number => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

const utf8 = (latin1: string): string => Buffer.from(latin1, 'latin1').toString();
