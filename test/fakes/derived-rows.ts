import type { KafkaMessage } from '../../pipeline/bus/connection/kafka.ts';
import type { AbsoluteRecord } from '../../pipeline/bus/producer/absolute-record.ts';
import { readRecord } from '../../pipeline/bus/records/record.ts';
import { readDefinition } from '../../pipeline/samples/definition.ts';
import { definitionLayout, sampleLayout } from '../../pipeline/samples/sample.ts';
import { definitionsOf, numbersOf, type SamplesRecord } from '../../pipeline/samples/samples-record.ts';
import { samplesSignal } from '../../pipeline/samples/samples-signal.ts';

/** A sample as a sink reads it; `bits`: of its value. */
export type DerivedRow = {
  readonly labels: Readonly<Record<string, string>>;
  readonly time: number;
  readonly bits: bigint;
  readonly series: bigint;
};

/** What a sink reads of those records that are of `samples.v1`. */
export const derivedRows = (records: readonly AbsoluteRecord[]): DerivedRow[] =>
  records.flatMap(({ topic, value, headers }) => {
    if (topic !== samplesSignal.topic.name) return [];
    const message = { value, headers, offset: '0', timestamp: '1795478400000' } as unknown as KafkaMessage;
    const record = readRecord(samplesSignal, 0, message) as SamplesRecord;
    if (record.fault !== null) throw new Error(JSON.stringify(record.fault));
    const rows = sampleLayout.read(numbersOf(record), record.count);
    const definitions = definitionLayout.read(definitionsOf(record), record.count);
    if (typeof rows === 'string') throw new Error(rows);
    if (typeof definitions === 'string') throw new Error(definitions);
    return rows.map(({ time, value: bits, series }, index) => ({
      labels: Object.fromEntries(readDefinition(definitions[index]?.definition ?? '')?.labels ?? []),
      ...{ time, bits, series },
    }));
  });
