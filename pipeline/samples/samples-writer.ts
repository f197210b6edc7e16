import xxhash from 'xxhash-wasm';
import { HttpError } from '../core/errors.ts';
import { Rejections } from '../intake/rejections.ts';
import type { Intake, RowChunk, RowsOwner, RowsRequest, RowWriter } from '../intake/rows.ts';
import { placeOf, tenantSeed } from '../intake/shard.ts';
import { timeBounds } from '../intake/time-bounds.ts';
import { nativeString } from '../rows/native.ts';
import { definitionText, factsText, labelsText, type Labels, type MetricFacts } from './definition.ts';
import { viewOf } from './hash-words.ts';
import { FIELD } from './known-series.ts';
import type { KeyBytes } from './key-bytes.ts';
import { notPlain, readLabels, type ReadLabels } from './read-labels.ts';
import { ROW_TYPES } from './sample.ts';
import { SampleChunk, SamplesCodec } from './sample-chunk.ts';
import { samplesSignal } from './samples-signal.ts';

/** Most samples of a request, with histograms, exemplars and metadata. */
const MAX_SAMPLES = 500_000;
/** Most bytes of the definitions and payloads of a request, as they lie in its records: escapes of JSON are six times as long. */
const MAX_REQUEST_BYTES = 128 * 1024 * 1024;
/** Longest payload of a row, and longest definition of metadata. */
const MAX_PAYLOAD_BYTES = 65_536;
const DAY_MS = 86_400_000;
/** How many samples take of a partition what an entry of the log does. */
const ROWS_OF_ENTRY = 16;

const { h64Raw } = await xxhash();
const id = new BigUint64Array(1);
const halves = new Int32Array(id.buffer);

/** Gives labels as `readLabels` has them; a string: why they cannot be taken. */
export type LabelsOf = () => KeyBytes | string;

/** For whom samples are written. */
export type SamplesOwner = RowsOwner & Pick<RowsRequest, 'maxRowBytes' | 'seriesPerDay' | 'utf8Names'>;

/**
 * Takes the samples of one request as a decoder finds them: `useSeries` gives the labels of those that follow, and then each row is added. A series
 * that cannot be taken rejects its rows.
 */
export class SamplesWriter implements RowWriter {
  readonly options: SamplesOwner;
  readonly rejected = new Rejections();
  readonly limited = 0;
  accepted = 0;
  total = 0;
  /** Of what was accepted: samples that are numbers, histograms, and exemplars. */
  readonly taken = { samples: 0, histograms: 0, exemplars: 0 };
  /** Whether the answer states what was taken, as remote write 2.0 wants it. */
  countsTaken = false;
  /** The line of the body that rows are of, from 1; 0 where it has no lines. */
  line = 0;
  readonly #codec: SamplesCodec;
  readonly #seed: number;
  readonly #first: number;
  readonly #last: number;
  readonly #day: number;
  readonly #maxBytes: number;
  /** Of definitions and payloads. */
  #bytes = 0;
  readonly #open = new Map<number, SampleChunk>();
  readonly #done: SampleChunk[] = [];
  /** Of the series in use: why its rows are rejected; where it lies in the table; its labels. */
  #problem = NOT_USED;
  #about = '';
  #entry = -1;
  #guessed = -1;
  #source: Buffer = Buffer.alloc(0);
  #view: DataView = viewOf(this.#source);
  #start = 0;
  #end = 0;
  /** What gives the labels, where the bytes are a token for them. */
  #labelsOf: LabelsOf | null = null;
  #chunk: SampleChunk | null = null;
  #code = 0;

  constructor(codec: SamplesCodec, options: SamplesOwner) {
    this.options = options;
    this.#codec = codec;
    this.#seed = tenantSeed(options.tenantId);
    const [first, last] = timeBounds(options);
    [this.#first, this.#last] = [first * 1000, last * 1000 + 999];
    this.#maxBytes = Math.min(MAX_REQUEST_BYTES, options.maxRowBytes);
    this.#day = Math.floor(Number(options.receivedAt / 1_000_000n) / DAY_MS);
  }

  /** The series of the rows that follow: its labels as `readLabels` has them, at `source[start..end)`. */
  useSeries(source: Buffer, start: number, end: number): void {
    this.#labelsOf = null;
    this.#find(source, start, end);
  }

  /**
   * The series of the rows that follow, by a token at `source[start..end)`: bytes that stand for these labels and no others, in the form of no other
   * format. `labelsOf` is asked where they are not known, and for what a rejection says.
   */
  useToken(source: Buffer, start: number, end: number, labelsOf: LabelsOf): void {
    this.#labelsOf = labelsOf;
    this.#find(source, start, end);
  }

  /**
   * How many bytes the labels have that begin at `source[start]`, where they are those of the series that came after the last one before; 0 where
   * they are not. More than them stands before `end`.
   */
  guess(source: Buffer, start: number, end: number): number {
    this.#begins(source);
    this.#labelsOf = null;
    const { known } = this.#codec;
    this.#guessed = known.next(this.#view, start, end);
    return this.#guessed < 0 ? 0 : (known.table.entries[this.#guessed + FIELD.tokenLength] as number);
  }

  /** The series of the rows that follow is the one that was guessed. */
  useGuessed(start: number, end: number): void {
    this.#use(start, end, this.#guessed);
    this.#follows();
  }

  /** The rows that follow are of a series that cannot be taken. */
  refuseSeries(problem: string, about = ''): void {
    this.#problem = problem;
    this.#about = about;
  }

  /** Adds a sample: time in milliseconds, the bits of its value, and since when it counts (0: not known). */
  number(time: number, low: number, high: number, start = 0): void {
    if (this.#begin(ROW_TYPES.number, time, start, low, high)) {
      (this.#chunk as SampleChunk).columns.noPayload();
      this.taken.samples += 1;
    }
  }

  /** Adds a native histogram: its buckets as `histogram.ts` has them, and the bits of its sum. */
  histogram(time: number, low: number, high: number, payload: Uint8Array, start = 0): void {
    if (this.#withPayload(ROW_TYPES.histogram, time, start, low, high, payload)) this.taken.histograms += 1;
  }

  /** Adds an exemplar of the series, with its labels. */
  exemplar(time: number, low: number, high: number, labels: Labels): void {
    if (this.#withPayload(ROW_TYPES.exemplar, time, 0, low, high, Buffer.from(labelsText(labels)))) this.taken.exemplars += 1;
  }

  /** Adds what is known of a metric, by itself. */
  metadata(metric: string, facts: MetricFacts): void {
    const text = definitionText(labelsText([]), factsText(facts, metric));
    if (metric === '' || Buffer.byteLength(text) > MAX_PAYLOAD_BYTES) {
      this.reject(metric === '' ? 'metadata without a name of a metric' : `metadata of more than ${String(MAX_PAYLOAD_BYTES)} bytes`);
      return;
    }
    id[0] = h64Raw(Buffer.from(text));
    const native = nativeString(text);
    const [low, high] = [halves[0] as number, halves[1] as number];
    const chunk = this.#chunkOf(low);
    const code = chunk.columns.definitions.add(low, high, native, 0, native.length);
    this.#count();
    chunk.columns.add(ROW_TYPES.metadata, code, low, high, Number(this.options.receivedAt / 1_000_000n), 0, 0, 0);
    chunk.columns.noPayload();
    this.accepted += 1;
  }

  /** Counts a row that is not taken. The reason is general; `about` is about this one. */
  reject(reason: string, about = ''): void {
    this.#count();
    const { line } = this;
    const detail = [...(about === '' ? [] : [about]), ...(line === 0 ? [] : [`line ${String(line)}`])].join(', ');
    this.rejected.add(this.total - 1, reason, undefined, undefined, undefined, detail === '' ? null : () => detail);
  }

  chunks(): RowChunk[] {
    const chunks = [...this.#done, ...this.#open.values()];
    this.#done.length = 0;
    this.#open.clear();
    this.#chunk = null;
    return chunks;
  }

  answerHeaders(): Readonly<Record<string, string>> {
    if (!this.countsTaken) return {};
    const { samples, histograms, exemplars } = this.taken;
    return {
      'X-Prometheus-Remote-Write-Samples-Written': String(samples),
      'X-Prometheus-Remote-Write-Histograms-Written': String(histograms),
      'X-Prometheus-Remote-Write-Exemplars-Written': String(exemplars),
    };
  }

  #find(source: Buffer, start: number, end: number): void {
    this.#begins(source);
    this.#use(start, end, this.#codec.known.find(this.#view, start, end));
    this.#follows();
  }

  #begins(source: Buffer): void {
    if (source === this.#source) return;
    this.#source = source;
    this.#view = viewOf(source);
  }

  #follows(): void {
    if (this.#entry >= 0) this.#codec.known.followed(this.#entry);
  }

  /** `entry`: where it was found; -1: it is new. */
  #use(start: number, end: number, entry: number): void {
    this.#start = start;
    this.#end = end;
    this.#chunk = null;
    this.#problem = '';
    this.#about = '';
    this.#entry = entry;
    if (this.#entry < 0 && !this.#learn()) return;
    const { entries } = this.#codec.known.table;
    const at = this.#entry;
    if (entries[at + FIELD.isPlain] === 0 && !this.options.utf8Names) {
      this.#problem = NOT_PLAIN;
      this.#about = notPlain(this.#labels());
      return;
    }
    if (entries[at + FIELD.tenant] === this.options.tenantId && entries[at + FIELD.day] === this.#day) return;
    if (this.#admit(entries[at + FIELD.low] as number, entries[at + FIELD.high] as number)) {
      entries[at + FIELD.tenant] = this.options.tenantId;
      entries[at + FIELD.day] = this.#day;
    }
  }

  #count(): void {
    if (this.total >= MAX_SAMPLES) throw tooManySamples();
    this.total += 1;
  }

  #withPayload(type: number, time: number, start: number, low: number, high: number, payload: Uint8Array): boolean {
    if (payload.length > MAX_PAYLOAD_BYTES) {
      this.reject(`a histogram or an exemplar of more than ${String(MAX_PAYLOAD_BYTES)} bytes`);
      return false;
    }
    if (!this.#begin(type, time, start, low, high)) return false;
    (this.#chunk as SampleChunk).columns.payload(payload);
    this.#bytes += payload.length;
    return true;
  }

  /** Adds a row but for its payload; false where it is rejected. */
  #begin(type: number, time: number, start: number, low: number, high: number): boolean {
    if (this.#problem !== '') {
      this.reject(this.#problem, this.#about);
      return false;
    }
    if (!(time >= this.#first && time <= this.#last)) {
      this.reject(this.#outside(time), this.#shown());
      return false;
    }
    if (this.#bytes > this.#maxBytes) {
      this.reject(`the rows before it take more than ${String(this.#maxBytes)} bytes as they are stored`);
      return false;
    }
    this.#count();
    let chunk = this.#chunk;
    if (!chunk?.hasRoom) chunk = this.#placed();
    const { entries } = this.#codec.known.table;
    const [idLow, idHigh] = [entries[this.#entry + FIELD.low] as number, entries[this.#entry + FIELD.high] as number];
    // a start that no column can have is none
    chunk.columns.add(type, this.#code, idLow, idHigh, time, start > 0 && start <= time ? start : 0, low, high);
    this.accepted += 1;
    return true;
  }

  #outside(time: number): string {
    const { retentionDays } = this.options;
    if (time < this.#first)
      return retentionDays === 0 ? 'a time before the year 1900' : `a time older than the retention of ${String(retentionDays)} days`;
    return retentionDays === 0 ? 'a time after the year 2261' : 'a time more than 2 days ahead';
  }

  /** Finds the chunk of the series' partition, and the code of its definition there. */
  #placed(): SampleChunk {
    const { entries } = this.#codec.known.table;
    const at = this.#entry;
    const chunk = this.#chunkOf(entries[at + FIELD.low] as number);
    if (entries[at + FIELD.chunk] === chunk.serial) this.#code = entries[at + FIELD.code] as number;
    else {
      this.#code = chunk.define(at);
      this.#bytes += entries[at + FIELD.nativeLength] as number;
      entries[at + FIELD.chunk] = chunk.serial;
      entries[at + FIELD.code] = this.#code;
    }
    this.#chunk = chunk;
    return chunk;
  }

  #chunkOf(low: number): SampleChunk {
    const { partitions } = this.options;
    const place = placeOf(this.#seed, low, partitions.length);
    let chunk = this.#open.get(place);
    if (chunk?.hasRoom === false) {
      this.#done.push(chunk);
      chunk = undefined;
    }
    if (chunk === undefined) {
      chunk = new SampleChunk(this.#codec, { tenantId: this.options.tenantId, day: this.#day }, partitions[place] as number);
      this.#open.set(place, chunk);
    }
    return chunk;
  }

  /** Reads labels that are not known; false where they cannot be taken. */
  #learn(): boolean {
    const read = this.#read();
    if ('problem' in read) {
      this.#problem = read.problem;
      this.#about = read.about;
      return false;
    }
    const text = labelsText(read.labels);
    id[0] = h64Raw(Buffer.from(text));
    const [low, high] = [halves[0] as number, halves[1] as number];
    const series = { low, high, native: nativeString(definitionText(text, read.facts)), isPlain: read.isPlain };
    this.#entry = this.#codec.known.add(this.#source, this.#view, this.#start, this.#end, series);
    return true;
  }

  #admit(low: number, high: number): boolean {
    const { tenantId, seriesPerDay } = this.options;
    const { active } = this.#codec;
    if (active.admit(tenantId, this.#day, { low, high }, seriesPerDay, () => this.#labels())) return true;
    this.#problem = `more than ${String(seriesPerDay)} active series of a day`;
    this.#about = `the label ${JSON.stringify(active.largestLabel(tenantId, this.#day))} has grown most`;
    return false;
  }

  #labels(): Labels {
    const read = this.#read();
    return 'labels' in read ? read.labels : [];
  }

  #read(): ReadLabels {
    if (this.#labelsOf === null) return readLabels(this.#source, this.#start, this.#end);
    const key = this.#labelsOf();
    return typeof key === 'string' ? { problem: key, about: '' } : readLabels(key.bytes, 0, key.length);
  }

  #shown(): string {
    const text = labelsText(this.#labels());
    return text.length > 200 ? `${text.slice(0, 200)}…` : text;
  }
}

const NOT_USED = 'BUG: no series is in use';
const NOT_PLAIN = 'a name of other characters than letters, digits and underscores; the flag utf8_names of the tenant allows all';

const tooManySamples = (): HttpError =>
  new HttpError(413, 'payload_too_large', `The request has too many samples; the cap is ${String(MAX_SAMPLES)}.`);

/** How requests become samples. */
export function createSamplesIntake(): Intake<SamplesWriter> {
  const codec = new SamplesCodec();
  return {
    signal: samplesSignal,
    unit: 'samples',
    rowsOfEntry: ROWS_OF_ENTRY,
    isRated: false,
    writer: (request) => new SamplesWriter(codec, request),
  };
}
