import { isUtf8 } from 'node:buffer';
import { objectScanner, type ObjectScanner } from '../wasm/object-scanner.ts';
import { MessagePatterns } from '../clusterer/message-patterns.ts';
import { Canon, DEFAULT_LABELS } from './canonical.ts';
import { Draft } from './draft.ts';
import { AppliedRules, type FieldRules } from './field-rules.ts';
import { compact, last, skipSpace } from '../wire/json-tokens.ts';
import { Names } from './names.ts';
import { Rejections } from '../intake/rejections.ts';
import type { RowsOwner, RowWriter } from '../intake/rows.ts';
import { timeBounds } from '../intake/time-bounds.ts';
import { ChunkBuilder, ColumnPool, type Chunk } from './chunk.ts';
import { StreamCeilings, type DayStreams } from '../intake/day-streams.ts';
import { addDraft } from './columns/draft-row.ts';
import type { Vocabulary } from './columns/log-columns.ts';
import { WordTable } from '../rows/words.ts';
import { rawHeader } from './raw-header.ts';
import { Streams, type Stream, type StreamTable } from './streams.ts';
import { readTimeText, splitTime } from './time-token.ts';
import type { SplitTime } from '../rows/halves.ts';

/** For whom, and under which rules, the entries of one request are written. Retention that keeps for ever leaves the years 1900 to 2262. */
export type WriterOptions = RowsOwner & {
  /** Names of the stream labels where the request names its own; null: the default ones. */
  readonly streamFields: readonly string[] | null;
  /** What the request says of fields; null or none: nothing. */
  readonly fieldRules?: FieldRules | null;
  /** Labels that every stream gets, in place of its own of these names; they are among the extra fields too. */
  readonly added?: readonly (readonly [name: string, value: string])[];
  /** Most streams of a day that the tenant may have; entries of further ones go to the stream `{}`. Default: no bound. */
  readonly streamsPerDay?: number;
  /** Most bytes of all rows together; what goes beyond is rejected. Tiny entries grow by what every row has. Default: no bound. */
  readonly maxRowBytes?: number;
};

const NO_HEADERS = {};
const DAY = 86_400;
/** A record of Kafka takes 8 MiB; control characters take six bytes each in a row. */
const MAX_ROW_BYTES = 8_000_000;

/** What a process needs to write entries: the names it knows, the rules, and the streams. Shared by all requests. */
export class EntryCodec {
  readonly draft: Draft;
  readonly canon: Canon;
  readonly vocabulary: Vocabulary;
  readonly pool: ColumnPool;
  readonly #names = new Names();
  /** Finds the pattern of a message. */
  readonly patterns = new MessagePatterns();
  readonly streams: Streams;
  readonly #defaultTable: StreamTable;
  readonly ceilings = new StreamCeilings();

  readonly scanner: ObjectScanner | null;

  /** `scanner`: null where it is to do without. */
  constructor(scanner = objectScanner) {
    this.scanner = scanner;
    this.draft = new Draft(this.#names, scanner);
    this.canon = new Canon(this.#names);
    this.vocabulary = { names: this.#names.ids, levels: new WordTable(), services: new WordTable() };
    this.pool = new ColumnPool(this.vocabulary);
    this.streams = new Streams(this.#names);
    this.#defaultTable = this.streams.table(DEFAULT_LABELS);
  }

  /** The streams by the label names that a request has chosen; null: by the default ones. */
  tableOf(labels: readonly string[] | null): StreamTable {
    return labels === null ? this.#defaultTable : this.streams.table(labels);
  }
}

/**
 * Takes the entries of one request, makes them canonical, and writes them as rows into chunks, one for each partition.
 * Synchronous; what it cannot take it lists in `rejected`, and everything else is kept.
 */
export class EntryWriter implements RowWriter {
  readonly options: WriterOptions;
  readonly rejected = new Rejections();
  /** Entries seen so far, taken or not. */
  total = 0;
  /** Those rejected for their time alone, which is readable and out of bounds. */
  outOfBounds = 0;
  /** An entry without a message takes it from a field such as `applog.message`. */
  takesNestedMessage = false;
  /** Entries taken that went to the stream `{}`, since the tenant has as many streams of their day as it may have. */
  limited = 0;
  readonly #codec: EntryCodec;
  readonly #streams: StreamTable;
  readonly #chunks: ChunkBuilder;
  readonly #time: SplitTime = { seconds: 0, nanos: 0 };
  /** The entry's time was given by the protocol. */
  #timed = false;
  /** The stream that the protocol gives; null: made of the entry's labels. */
  #stream: Stream | null = null;
  /** Where the current entry lies, for a sample of it. */
  #source: Buffer = NOTHING;
  #from = 0;
  #to = 0;
  /** True where the entry is a JSON object of the body. */
  #isObject = false;
  readonly #rules: FieldRules | null;
  readonly #applied: AppliedRules | null;
  readonly #labels: ReadonlySet<string>;
  readonly #added: readonly (readonly [string, string])[];
  /** The streams of the day of the last entry. */
  #dayStreams: DayStreams | null = null;
  #day = NaN;
  readonly #streamsPerDay: number;
  readonly #minSeconds: number;
  readonly #maxSeconds: number;

  /** `expectedBytes`: the size of the request's body, from which the chunks' buffers are sized. */
  constructor(codec: EntryCodec, options: WriterOptions, expectedBytes = 0) {
    this.#codec = codec;
    codec.scanner?.release();
    this.options = options;
    this.#added = options.added ?? [];
    this.#streams = codec.tableOf(withNames(options.streamFields, this.#added));
    this.#rules = options.fieldRules ?? null;
    this.#applied = this.#rules === null ? null : new AppliedRules(this.#rules);
    this.#labels = options.streamFields === null ? USUAL_LABELS : new Set(options.streamFields);
    this.#chunks = new ChunkBuilder(codec.pool, options, expectedBytes);
    this.#streamsPerDay = options.streamsPerDay ?? Infinity;
    [this.#minSeconds, this.#maxSeconds] = timeBounds(options);
  }

  /** Entries taken so far. */
  get accepted(): number {
    return this.#chunks.count;
  }

  /**
   * Takes the JSON object that begins at `at` in a body of valid UTF-8. Gives the offset after it, or -1 where there is no valid
   * JSON object (`lastJsonError()` is where): then nothing is recorded and the caller decides. With `alone`, anything but white
   * space between the object and `end` makes it invalid. `fallback`: as `end` has it.
   */
  object(body: Buffer, at: number, end: number, alone = false, fallback?: string): number {
    const draft = this.begin(body, at, end);
    const after = this.readObject(at, end, alone);
    if (after < 0) return -1;
    this.#to = after;
    this.#isObject = true;
    this.#finish(draft, fallback);
    return after;
  }

  /** Reads a JSON object of the body into the entry that was begun; gives what `object` gives. */
  readObject(at: number, end: number, alone = false): number {
    const draft = this.#codec.draft;
    const after = draft.readObject(at, end);
    if (after < 0 || !alone) return after;
    const rest = skipSpace(draft.body, after, end);
    if (rest === end) return after;
    last.failedAt = rest;
    return -1;
  }

  /** Begins an entry that lies at `body[from..to)`: put its fields into the draft, then call `end`. */
  begin(body: Buffer, from = 0, to = body.length): Draft {
    const draft = this.#codec.draft;
    draft.begin(body);
    this.#mark(body, from, to);
    this.#timed = false;
    this.#isObject = false;
    this.#stream = null;
    return draft;
  }

  /** Begins the next entry of a group, with the fields that the draft holds and the stream of the group. */
  again(from: number, to: number): Draft {
    const draft = this.#codec.draft;
    draft.again();
    this.#mark(draft.body, from, to);
    this.#timed = false;
    return draft;
  }

  /** The time of the entry that was begun, as its protocol gives it; the fields of the entry are then not read. */
  timeIs(seconds: number, nanos: number): void {
    this.#time.seconds = seconds;
    this.#time.nanos = nanos;
    this.#timed = true;
  }

  /** The same by nanoseconds since the epoch. */
  timeIsNs(ns: bigint): void {
    splitTime(ns, this.#time);
    this.#timed = true;
  }

  /** The same by text; empty and zero leave it open. False where it is not a valid time. */
  timeIsText(text: string): boolean {
    const found = readTimeText(text, this.#time);
    if (found === 'time') this.#timed = true;
    return found !== 'unreadable';
  }

  /** Makes the label set of a protocol the stream of this entry, and of those that `again` begins. */
  streamIs(labels: Iterable<readonly [string, string]>): void {
    this.#stream = this.#codec.streams.ofPairs(this.#added.length === 0 ? labels : withLabels(labels, this.#added));
  }

  /**
   * Takes the entry that was begun. Without a message it is rejected; but with a `fallback` it is kept, and the fallback is its
   * message, or, where that is empty, the most informative string that the fields have.
   */
  end(fallback?: string): void {
    this.#finish(this.#codec.draft, fallback);
  }

  /** Takes an entry that is an object in memory. Values may be anything that JSON has. */
  add(entry: object): void {
    const body = Buffer.from(JSON.stringify(entry));
    if (this.object(body, 0, body.length) < 0) this.reject('not a JSON object', body);
  }

  /**
   * Counts an entry, which lies at `source[from..to)`, that is not accepted. The reason is general; `detail` is about this one entry, and
   * is called for the first 100 of a request.
   */
  reject(reason: string, source: Buffer = NOTHING, from = 0, to = source.length, detail: (() => string) | null = null): void {
    this.rejected.add(this.total, reason, source, from, to, detail);
    this.total += 1;
  }

  /** How many entries went to the stream `{}`. */
  answerHeaders(): Readonly<Record<string, string>> {
    return this.limited === 0 ? NO_HEADERS : { 'X-Limited-Streams': String(this.limited) };
  }

  /** What was taken, ready to be produced. */
  chunks(): Chunk[] {
    return this.#chunks.finish();
  }

  #mark(source: Buffer, from: number, to: number): void {
    this.#source = source;
    this.#from = from;
    this.#to = to;
  }

  #finish(draft: Draft, fallback: string | undefined): void {
    const problem = draft.problem === '' ? this.#canonise(draft, fallback) : draft.problem;
    if (problem === '') this.total += 1;
    else if (problem !== NO_TIME) this.reject(problem, this.#source, this.#from, this.#to);
    else this.reject(NO_TIME, this.#source, this.#from, this.#to, () => clip(draft.text(this.#codec.canon.time.index)));
  }

  /** Applies the rules and writes the row; gives the reason where the entry cannot be taken. */
  #canonise(draft: Draft, fallback: string | undefined): string {
    // before any work: an entry may bring much that the request puts in
    const { maxRowBytes = Infinity } = this.options;
    if (this.#chunks.bytes > maxRowBytes) return `the entries before it take more than ${String(maxRowBytes)} bytes as they are stored`;
    const canon = this.#codec.canon;
    const time = this.#time;
    const rules = this.#rules;
    this.#applied?.apply(draft);
    const found = this.#timed ? 'time' : canon.readTime(draft, time, rules?.times);
    if (found === 'unreadable') return NO_TIME;
    if (found === 'none') splitTime(this.options.receivedAt + BigInt(this.total), time);
    if (time.seconds < this.#minSeconds) return this.#tooOld();
    if (time.seconds > this.#maxSeconds) return this.#tooNew();
    let message = canon.messages.find(draft, rules?.messages ?? NO_NAMES);
    if (message < 0) message = this.#makeMessage(draft, fallback);
    if (message < 0) return draft.problem || NO_MESSAGE;
    let severity = canon.readLevel(draft);
    const hasLevel = draft.find(canon.level) >= 0;
    let headerLength = -1;
    if (!hasLevel || found === 'none') {
      const header = rawHeader(draft, message);
      const inner = header.level === null ? canon.messages.inner(draft, message) : -1;
      const level = header.level ?? (inner < 0 ? null : rawHeader(draft, inner).level);
      if (!hasLevel && level !== null) severity = canon.takeLevel(draft, level);
      if (found === 'none' && header.time !== null) this.#takeTime(header.time);
      headerLength = header.length;
    }
    const long = canon.longWord(draft);
    if (long !== '') return long;
    const bound = rowBound(draft);
    if (bound > MAX_ROW_BYTES) return `longer than ${String(MAX_ROW_BYTES)} bytes as it would be stored`;
    const day = Math.floor(time.seconds / DAY);
    const stream = this.#admitted(this.#stream ?? this.#streams.of(draft), day);
    const columns = this.#chunks.open(stream, day, bound, draft.count);
    addDraft(columns, draft, canon, this.#codec, { time, streamId: stream, severity, message, headerLength });
    return '';
  }

  #makeMessage(draft: Draft, fallback: string | undefined): number {
    return this.#codec.canon.messages.make(draft, {
      ...{ fallback, takesNested: this.takesNestedMessage, labels: this.#labels },
      source: () => (this.#isObject ? compact(this.#source.toString('utf8', this.#from, this.#to)) : null),
    });
  }

  /** Takes the time of a raw line, where the tenant may have entries of then. */
  #takeTime(ns: bigint): void {
    const seconds = Number(ns / 1_000_000_000n);
    if (seconds > this.#minSeconds && seconds < this.#maxSeconds) splitTime(ns, this.#time);
  }

  /** The stream, or `{}` where it is one more than the tenant may have. */
  #admitted(stream: Stream, day: number): Stream {
    if (this.#streamsPerDay === Infinity) return stream;
    if (day !== this.#day || this.#dayStreams === null) {
      this.#day = day;
      this.#dayStreams = this.#codec.ceilings.of(this.options.tenantId, day);
    }
    if (this.#dayStreams.admit(stream.high, stream.low, this.#streamsPerDay)) return stream;
    this.limited += 1;
    return this.#codec.streams.ofPairs([]);
  }

  #tooOld(): string {
    this.outOfBounds += 1;
    const days = this.options.retentionDays;
    return days === 0 ? '_time is before the year 1900' : `_time is older than the retention of ${String(days)} days`;
  }

  #tooNew(): string {
    this.outOfBounds += 1;
    return this.options.retentionDays === 0 ? '_time is after the year 2261' : '_time is more than 2 days ahead';
  }
}

/** The names of stream labels, those that are added first: a stream has a bounded number. */
const withNames = (names: readonly string[] | null, added: readonly (readonly [string, string])[]): readonly string[] | null =>
  added.length === 0 ? names : [...new Set([...added.map(([name]) => name), ...(names ?? DEFAULT_LABELS)])];

const withLabels = (
  labels: Iterable<readonly [string, string]>,
  added: readonly (readonly [string, string])[],
): readonly (readonly [string, string])[] => [...new Map([...labels, ...added])];

/** An upper bound of what an entry takes in its columns, in bytes. */
function rowBound(draft: Draft): number {
  let bound = 256;
  for (let i = 0; i < draft.count; i++) bound += (draft.ends[i] as number) - (draft.starts[i] as number) + 16;
  return bound;
}

const NOTHING = Buffer.alloc(0);
const NO_TIME = '_time is not a time';
const NO_MESSAGE = 'no message, and nothing else but a time, a level, a service and labels';
const NO_NAMES: readonly string[] = [];
const USUAL_LABELS: ReadonlySet<string> = new Set(DEFAULT_LABELS);

function clip(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

/** Where the last object failed to be JSON. */
export function lastJsonError(): number {
  return last.failedAt;
}

/** The body as valid UTF-8: untouched where it is, else with U+FFFD in place of what is not. A byte order mark is cut. */
export function validUtf8(body: Buffer): Buffer {
  const valid = isUtf8(body) ? body : Buffer.from(body.toString('utf8'));
  return valid[0] === 0xef && valid[1] === 0xbb && valid[2] === 0xbf ? valid.subarray(3) : valid;
}
