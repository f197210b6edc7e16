import type { AbsoluteRecord } from '../../pipeline/bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../pipeline/bus/connection/kafka.ts';
import { patternCountLayout, type PatternCount } from '../../pipeline/counters/pattern-counts.ts';
import { patternLayout, type PatternRow } from '../../pipeline/counters/pattern-rows.ts';
import { inputOf } from '../../pipeline/processors/base/input.ts';
import { partialInputOf, hostedProcessor, hostedMerger } from '../../pipeline/processors/merge/partials.ts';
import { clusters } from '../../pipeline/processors/patterns/clusters.ts';
import { createPatterns, type PatternsOptions } from '../../pipeline/processors/patterns/patterns.ts';
import type { Fold } from '../../pipeline/processors/base/processor.ts';
import type { Position } from '../../pipeline/processors/base/position.ts';
import { HostedFold } from './hosted-fold.ts';
import { logMessage, tickMessage } from '../pipeline/processors/inputs.ts';

/** What comes of entries by the way of the service: `patterns` reads partitions of the log, `clusters` reads one of `partials.v1`. */
export class FoldedPatterns {
  readonly #first: readonly HostedFold[];
  readonly #second = new HostedFold(hostedMerger(clusters) as Fold<never, Position>, (message) => partialInputOf(0, message));
  /** What was written for the tables, as often as it was. */
  readonly written: AbsoluteRecord[] = [];

  constructor(sources = 2, options: PatternsOptions = {}) {
    this.#first = Array.from(
      { length: sources },
      (_none, partition) =>
        new HostedFold(hostedProcessor(createPatterns(options)) as Fold<never, Position>, (message) => inputOf(partition, message)),
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
    const rows = this.#rows<PatternCount>('pattern_counts.v1', patternCountLayout);
    return [
      ...new Map(rows.map(({ entries, first, last, ...key }) => [Object.values(key).join('/'), { ...key, entries, first, last }])).values(),
    ];
  }

  /** The rows of patterns, in the order in which they were written. */
  get rows(): PatternRow[] {
    return this.#rows<PatternRow>('patterns.v1', patternLayout);
  }

  #rows<Row>(topic: string, columns: { read(value: Buffer, count: number): Row[] | string }): Row[] {
    return this.written.flatMap((record) => {
      if (record.topic !== topic) return [];
      const rows = columns.read(record.value, Number(record.headers['count']));
      if (typeof rows === 'string') throw new Error(rows);
      return rows;
    });
  }

  #of(partition: number): HostedFold {
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
