import { bytes, word } from '../rows/string-types.ts';
import { floatBits, milliseconds, uint64, uint8 } from '../rows/fixed-types.ts';
import { Layout } from '../rows/layout.ts';

/** The name of the signal: its topic is `samples.v1`. */
export const SAMPLES = 'samples';

/** What a row is: a sample that is a number or a native histogram, an exemplar, or what is known of a metric. */
export const ROW_TYPES = { number: 0, histogram: 1, exemplar: 2, metadata: 3 } as const;

/** A row as it lies in a record and in the table. */
export type SampleRow = {
  readonly type: number;
  /** XXH64 (seed 0) of the canonical labels; of metadata of its definition. */
  readonly series: bigint;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Since when it counts; 0: not known. */
  readonly start: number;
  /** The bits of a Float64; of a histogram its sum. */
  readonly value: bigint;
  /** Of a histogram its buckets (`histogram.ts`), of an exemplar its labels as a JSON object of strings; else empty. */
  readonly payload: Buffer;
};

/** The columns of the first part of a record, which ClickHouse takes as they are. docs/topics.md is the specification. */
export const sampleLayout = new Layout<SampleRow>(SAMPLES, [
  { name: 'type', type: uint8, member: 'type', isGood: (type) => type <= ROW_TYPES.metadata },
  { name: 'series', type: uint64, member: 'series' },
  { name: 'time', type: milliseconds, member: 'time' },
  { name: 'start', type: milliseconds, member: 'start' },
  { name: 'value', type: floatBits, member: 'value' },
  { name: 'payload', type: bytes, member: 'payload' },
]);

/** What a row's series is (`definition.ts`). */
export type DefinitionRow = { readonly definition: string };

/** The column of the second part of a record: the table has no such column, the sink makes the rows of `series` of it. */
export const definitionLayout = new Layout<DefinitionRow>('sample_definitions', [{ name: 'definition', type: word, member: 'definition' }]);
