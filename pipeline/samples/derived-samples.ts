import xxhash from 'xxhash-wasm';
import type { AbsoluteRecord } from '../bus/producer/absolute-record.ts';
import { encodeHeaders } from '../bus/records/record.ts';
import { COLUMNS } from '../rows/native.ts';
import { labelsText, type Labels } from './definition.ts';
import { definitionLayout, ROW_TYPES, sampleLayout } from './sample.ts';
import { DEFINITIONS_AT } from './samples-record.ts';
import { samplesSignal } from './samples-signal.ts';

/** Rows of a record, and bytes of its definitions, about. */
const MOST_ROWS = 2000;
const MOST_BYTES = 400_000;
/** The bits of the marker of a series that ended. */
const STALE = 0x7ff0000000000002n;

const { h64Raw } = await xxhash();
const number = new Float64Array(1);
const bits = new BigUint64Array(number.buffer);

/** A sample that the service makes itself. */
export type DerivedSample = {
  /** In the order of their names, none of them empty. */
  readonly labels: Labels;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Null: the series ends here. */
  readonly value: number | null;
};

/** Labels as a series has them: in the order of their names, each once (the last one counts), and none without a value. */
export function seriesLabels(pairs: Iterable<readonly [name: string, value: string]>): Labels {
  const all = [...new Map(pairs)].filter(([, value]) => value !== '');
  return all.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

function bitsOf(value: number | null): bigint {
  if (value === null) return STALE;
  number[0] = value;
  return bits[0] as bigint;
}

/** The records of `samples.v1` of samples of a tenant that no request has brought: billed to no one, each in the tenant's own order. */
export function derivedSamples(
  { tenantId, retentionDays }: { readonly tenantId: number; readonly retentionDays: number },
  samples: readonly DerivedSample[],
): AbsoluteRecord[] {
  const records: AbsoluteRecord[] = [];
  let own: (DerivedSample & { readonly definition: string })[] = [];
  let bytes = 0;
  const close = (): void => {
    if (own.length > 0) records.push(recordOf(tenantId, retentionDays, own));
    [own, bytes] = [[], 0];
  };
  for (const sample of samples) {
    const definition = labelsText(sample.labels);
    if (own.length >= MOST_ROWS || bytes + definition.length > MOST_BYTES) close();
    own.push({ ...sample, definition });
    bytes += definition.length;
  }
  close();
  return records;
}

function recordOf(
  tenantId: number,
  retentionDays: number,
  samples: readonly (DerivedSample & { readonly definition: string })[],
): AbsoluteRecord {
  const rows = samples.map(({ definition, time, value }) => ({
    ...{ type: ROW_TYPES.number, series: BigInt.asUintN(64, h64Raw(Buffer.from(definition))), time, start: 0 },
    ...{ value: bitsOf(value), payload: Buffer.alloc(0) },
  }));
  const numbers = sampleLayout.encode(rows);
  const value = Buffer.concat([numbers, definitionLayout.encode(samples)]);
  const info = { tenantId, retentionDays, count: rows.length, bytes: 0, encoding: COLUMNS };
  return {
    topic: samplesSignal.topic.name,
    partition: null,
    key: String(tenantId),
    value,
    headers: encodeHeaders(samplesSignal, info, { [DEFINITIONS_AT]: String(numbers.length) }),
  };
}
