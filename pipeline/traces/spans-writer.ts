import { Rejections } from '../intake/rejections.ts';
import type { EncodedRows, Intake, RowChunk, RowsOwner, RowWriter } from '../intake/rows.ts';
import { placeOf, tenantSeed } from '../intake/shard.ts';
import { timeBounds } from '../intake/time-bounds.ts';
import { nanosecondsOf, type Halves } from '../rows/halves.ts';
import { COLUMNS } from '../rows/native.ts';
import { putUtf8 } from './attribute-list.ts';
import { isZero } from './ids.ts';
import { SpanColumns, SpanWords } from './span-columns.ts';
import { SpanDraft } from './span-draft.ts';
import { MAX_WORD_BYTES, SpanGroup, type Place } from './span-group.ts';
import { spansSignal } from './spans-signal.ts';

/** What a record's rows have before they are compressed, about, unless one span alone has more. */
const CHUNK_BYTES = 2_000_000;
/** A record of Kafka takes 8 MiB; control characters of events take six bytes each in a row. */
const MAX_SPAN_BYTES = 8_000_000;
/** What every row takes. */
const ROW_BYTES = 90;

/** Spans for one partition. */
class SpanChunk implements RowChunk {
  readonly partition: number;
  readonly columns: SpanColumns;

  constructor(words: SpanWords, partition: number) {
    this.columns = new SpanColumns(words);
    this.partition = partition;
  }

  get count(): number {
    return this.columns.count;
  }

  get size(): number {
    return this.columns.size;
  }

  fits({ columns }: SpanChunk): boolean {
    return this.size + columns.size <= CHUNK_BYTES && this.columns.fits(columns.count, columns.words.keys.words.length);
  }

  append({ columns }: SpanChunk): void {
    this.columns.append(columns);
  }

  encode(): EncodedRows {
    return { value: this.columns.encode(), encoding: COLUMNS, headers: {} };
  }
}

/** What a process needs to write spans, shared by all requests. */
export class SpanCodec {
  readonly words = new SpanWords();
  readonly draft = new SpanDraft();
  readonly group: SpanGroup = new SpanGroup(this.words);
}

/** Takes the spans of one request as a decoder finds them, and writes them as rows into chunks, one for each partition. */
export class SpansWriter implements RowWriter {
  readonly options: RowsOwner & { readonly maxRowBytes: number };
  readonly rejected = new Rejections();
  readonly limited = 0;
  /** What the spans share that follow. */
  readonly group: SpanGroup;
  accepted = 0;
  total = 0;
  readonly #codec: SpanCodec;
  readonly #seed: number;
  readonly #bounds: readonly [first: number, last: number];
  /** The chunk that is being filled, by the place of its partition in the shard. */
  readonly #open = new Map<number, SpanChunk>();
  readonly #done: SpanChunk[] = [];
  readonly #halves: Halves = { low: 0, high: 0 };
  #bytes = 0;

  constructor(codec: SpanCodec, options: RowsOwner & { readonly maxRowBytes: number }) {
    this.options = options;
    this.group = codec.group;
    this.#codec = codec;
    this.#seed = tenantSeed(options.tenantId);
    this.#bounds = timeBounds(options);
  }

  /** Begins a span: fill in what is returned, then call `end`. */
  begin(): SpanDraft {
    const { draft } = this.#codec;
    draft.begin();
    return draft;
  }

  /** Takes the span that was begun, which lies at `source[from..to)`, or rejects it. */
  end(source: Buffer, from: number, to: number): void {
    const { draft } = this.#codec;
    draft.events.close();
    draft.links.close();
    const reason = this.#fault(draft);
    if (reason !== '') this.reject(reason, source, from, to);
    else {
      this.#bytes += ROW_BYTES + draft.size + this.group.longResource.length;
      this.#add(draft, this.#chunkOf(draft.traceId).columns);
      this.accepted += 1;
      this.total += 1;
    }
  }

  /** Counts a span that is not taken. The reason is general; `detail` is about this one. */
  reject(reason: string, source?: Buffer, from?: number, to?: number, detail: (() => string) | null = null): void {
    this.rejected.add(this.total, reason, source, from, to, detail);
    this.total += 1;
  }

  chunks(): RowChunk[] {
    const chunks = [...this.#done, ...this.#open.values()];
    this.#done.length = 0;
    this.#open.clear();
    return chunks;
  }

  /** Why a span cannot be taken; empty where it can. */
  #fault(draft: SpanDraft): string {
    const { group, options } = this;
    const { start, end, traceId, spanId } = draft;
    const [first, last] = this.#bounds;
    if (draft.problem !== '') return draft.problem;
    if (isZero(traceId)) return 'the trace id is missing or all zeros';
    if (isZero(spanId)) return 'the span id is missing or all zeros';
    if (start.seconds === 0 && start.nanos === 0) return NO_TIME;
    if (end.seconds < start.seconds || (end.seconds === start.seconds && end.nanos < start.nanos)) return 'the span ends before it begins';
    if (start.seconds < first) return this.#tooOld();
    if (end.seconds > last) return options.retentionDays === 0 ? '_time is after the year 2261' : '_time is more than 2 days ahead';
    if (group.resourceProblem !== '') return group.resourceProblem;
    if (group.scopeProblem !== '') return group.scopeProblem;
    const { name } = draft;
    if (Math.max(name.end - name.start, draft.attributes.longestKey) > MAX_WORD_BYTES)
      return `a name of more than ${String(MAX_WORD_BYTES)} bytes`;
    if (draft.size + group.longResource.length > MAX_SPAN_BYTES) return `longer than ${String(MAX_SPAN_BYTES)} bytes as it is stored`;
    if (this.#bytes > options.maxRowBytes)
      return `the spans before it take more than ${String(options.maxRowBytes)} bytes as they are stored`;
    return '';
  }

  #tooOld(): string {
    const { retentionDays } = this.options;
    return retentionDays === 0 ? '_time is before the year 1900' : `_time is older than the retention of ${String(retentionDays)} days`;
  }

  /** The chunk of the trace's partition. */
  #chunkOf(traceId: Buffer): SpanChunk {
    const { partitions } = this.options;
    const hash = traceId.readInt32LE(0) ^ traceId.readInt32LE(4) ^ traceId.readInt32LE(8) ^ traceId.readInt32LE(12);
    const place = placeOf(this.#seed, hash, partitions.length);
    let chunk = this.#open.get(place);
    if (chunk !== undefined && (chunk.size > CHUNK_BYTES || !chunk.columns.fits(1))) {
      this.#done.push(chunk);
      chunk = undefined;
    }
    if (chunk === undefined) {
      chunk = new SpanChunk(this.#codec.words, partitions[place] as number);
      this.#open.set(place, chunk);
    }
    return chunk;
  }

  #add(draft: SpanDraft, columns: SpanColumns): void {
    const { start, end } = draft;
    columns.openRow();
    const row = columns.count;
    const { time, duration, flags, droppedAttributes, droppedEvents, droppedLinks } = columns.numbers;
    this.#put(time, row, start.seconds, start.nanos);
    const borrow = end.nanos < start.nanos ? 1 : 0;
    this.#put(duration, row, end.seconds - start.seconds - borrow, end.nanos - start.nanos + borrow * 1e9);
    flags[row] = draft.flags;
    droppedAttributes[row] = draft.droppedAttributes;
    droppedEvents[row] = draft.events.dropped(draft.droppedEvents);
    droppedLinks[row] = draft.links.dropped(draft.droppedLinks);
    const { bytes, texts } = columns;
    bytes.traceId.set(draft.traceId, 16 * row);
    bytes.spanId.set(draft.spanId, 8 * row);
    bytes.parentSpanId.set(draft.parentSpanId, 8 * row);
    bytes.kind[row] = draft.kind;
    bytes.status[row] = draft.status;
    putPlace(texts.statusMessage, draft.statusMessage);
    putPlace(texts.traceState, draft.traceState);
    texts.events.raw(draft.events.bytes, 0, draft.events.length);
    texts.links.raw(draft.links.bytes, 0, draft.links.length);
    this.#addWords(draft, columns);
    columns.closeRow();
  }

  /** Each word is used before the next is looked up: where a table begins anew, ids of before mean other words. */
  #addWords({ name, attributes }: SpanDraft, { words, texts }: SpanColumns): void {
    const { group } = this;
    const { names, types, keys } = this.#codec.words;
    words.service.add(group.service.word);
    words.name.add(names.of(name.source, name.start, name.end, () => name.source.toString('utf8', name.start, name.end)));
    words.scope.add(group.scope.word);
    words.scopeVersion.add(group.scopeVersion.word);
    words.context.add(group.context.word);
    words.resource.add(group.resource.word);
    texts.longResource.raw(group.longResource, 0, group.longResource.length);
    words.resourceTypes.add(group.resourceTypes.word);
    const { count } = attributes;
    words.attributeTypes.add(types.of(attributes.types, 0, count, () => attributes.types.toString('latin1', 0, count)));
    words.keys.reserve(count);
    keys.begin();
    for (let index = 0; index < count; index++) {
      const source = attributes.keySources[index] as Buffer;
      const [from, to] = [attributes.keyStarts[index] as number, attributes.keyEnds[index] as number];
      words.keys.push(keys.follow(source, from, to));
    }
    texts.values.appendAll(attributes.values);
  }

  #put(column: Uint32Array, row: number, seconds: number, nanos: number): void {
    const halves = this.#halves;
    nanosecondsOf(seconds, nanos, halves);
    column[2 * row] = halves.low;
    column[2 * row + 1] = halves.high;
  }
}

const NO_TIME = '_time is not a time: the span has no start time';
function putPlace(column: Parameters<typeof putUtf8>[0], { source, start, end }: Place): void {
  putUtf8(column, source, start, end);
}

/** How requests become spans. */
export function createSpansIntake(): Intake<SpansWriter> {
  const codec = new SpanCodec();
  return { signal: spansSignal, unit: 'spans', writer: (request) => new SpansWriter(codec, request) };
}
