import type { AbsoluteRecord } from '../../pipeline/bus/absolute-record.ts';
import type { KafkaMessage } from '../../pipeline/bus/kafka.ts';
import { patternCountColumns, type PatternCount } from '../../pipeline/counters/pattern-counts.ts';
import { patternColumns, type PatternRow } from '../../pipeline/counters/pattern-rows.ts';
import { inputOf } from '../../pipeline/processors/input.ts';
import { partialInputOf } from '../../pipeline/processors/merge/partials-signal.ts';
import { firstStage, secondStage } from '../../pipeline/processors/merge/stages.ts';
import { clusters } from '../../pipeline/processors/patterns/clusters.ts';
import { createPatterns, type PatternsOptions } from '../../pipeline/processors/patterns/patterns.ts';
import type { Fold, Position } from '../../pipeline/processors/processor.ts';
import { logMessage, tickMessage } from '../pipeline/processors/inputs.ts';

/** A fold with what it read, as its host has it: it may be killed, and goes on from its last snapshot. */
class Hosted<In extends Position> {
  readonly #stage: Fold<unknown, In>;
  readonly #inputOf: (message: KafkaMessage) => In;
  readonly messages: KafkaMessage[] = [];
  #state: unknown;
  #saved: { readonly bytes: Buffer; readonly next: number } | null = null;

  constructor(stage: Fold<never, In>, read: (message: KafkaMessage) => In) {
    this.#stage = stage;
    this.#inputOf = read;
    this.#state = stage.init();
  }

  take(message: KafkaMessage): readonly AbsoluteRecord[] {
    this.messages.push(message);
    return this.#stage.fold(this.#state, this.#inputOf(message));
  }

  save(): void {
    this.#saved = { bytes: Buffer.from(this.#stage.snapshot(this.#state)), next: this.messages.length };
  }

  /** What it writes again. */
  kill(): AbsoluteRecord[] {
    this.#state = this.#saved === null ? this.#stage.init() : this.#stage.restore(this.#saved.bytes);
    if (this.#state === null) throw new Error('The snapshot cannot be read.');
    return this.messages.slice(this.#saved?.next ?? 0).flatMap((message) => [...this.#stage.fold(this.#state, this.#inputOf(message))]);
  }
}

/** What comes of entries by the way of the service: `patterns` reads partitions of the log, `clusters` reads one of `partials.v1`. */
export class PatternStages {
  readonly #first: readonly Hosted<Position>[];
  readonly #second = new Hosted(secondStage(clusters) as Fold<never, Position>, (message) => partialInputOf(0, message));
  /** What was written for the tables, as often as it was. */
  readonly written: AbsoluteRecord[] = [];

  constructor(sources = 2, options: PatternsOptions = {}) {
    this.#first = Array.from(
      { length: sources },
      (_none, partition) =>
        new Hosted(firstStage(createPatterns(options)) as Fold<never, Position>, (message) => inputOf(partition, message)),
    );
  }

  /** The messages of a partition of the log. */
  messages(partition: number): readonly KafkaMessage[] {
    return this.#of(partition).messages;
  }

  log(partition: number, entries: readonly object[], more: { appendedAt: number; tenantId?: number; retentionDays?: number }): void {
    const message = logMessage(entries, { offset: this.messages(partition).length, streamFields: ['app', 'service'], ...more });
    this.#write(this.#of(partition).take(message));
  }

  tick(appendedAt: number): void {
    for (const hosted of this.#first) this.#write(hosted.take(tickMessage(hosted.messages.length, appendedAt)));
  }

  save(): void {
    for (const hosted of [...this.#first, this.#second]) hosted.save();
  }

  kill(): void {
    for (const hosted of this.#first) this.#write(hosted.kill());
    this.written.push(...this.#second.kill());
  }

  /** The rows of counts, each once. */
  get counts(): PatternCount[] {
    const rows = this.#rows<PatternCount>('pattern_counts.v1', patternCountColumns);
    return [
      ...new Map(rows.map(({ entries, first, last, ...key }) => [Object.values(key).join('/'), { ...key, entries, first, last }])).values(),
    ];
  }

  /** The rows of patterns, in the order in which they were written. */
  get rows(): PatternRow[] {
    return this.#rows<PatternRow>('patterns.v1', patternColumns);
  }

  #rows<Row>(topic: string, columns: { read(value: Buffer, count: number): Row[] | string }): Row[] {
    return this.written.flatMap((record) => {
      if (record.topic !== topic) return [];
      const rows = columns.read(record.value, Number(record.headers['count']));
      if (typeof rows === 'string') throw new Error(rows);
      return rows;
    });
  }

  #of(partition: number): Hosted<Position> {
    const hosted = this.#first[partition];
    if (hosted === undefined) throw new Error('There is no such partition.');
    return hosted;
  }

  #write(records: readonly AbsoluteRecord[]): void {
    for (const record of records) {
      if (record.topic !== 'partials.v1') this.written.push(record);
      else this.written.push(...this.#second.take(this.#partial(record)));
    }
  }

  #partial({ value, headers }: AbsoluteRecord): KafkaMessage {
    const offset = this.#second.messages.length;
    const appendedAt = String(headers['source']).split(':')[3];
    return { value, headers, offset: String(offset), timestamp: appendedAt } as unknown as KafkaMessage;
  }
}
