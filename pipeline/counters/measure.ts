import { MAX_RETENTION, MAX_TENANT } from '../bus/records/record.ts';
import { labelValue, MAX_LABEL_BYTES } from '../core/labels.ts';
import { isTime } from '../rows/fixed-types.ts';

/** A number that a merger has found of a tenant: of one span of time, under a name and labels. */
export type Measure = {
  readonly kind: 'measure';
  readonly tenantId: number;
  /** Retention class in days; 0 keeps for ever. */
  readonly retentionDays: number;
  /** Lower case, as `distinct_users`. */
  readonly name: string;
  /** What is measured: `{ service: 'web' }`; at most 16, whose values are cut at 2,048 bytes. */
  readonly labels: Readonly<Record<string, string>>;
  /** Length of the span of time, seconds, and when it begins, seconds since 1970. */
  readonly span: number;
  readonly time: number;
  readonly value: number;
};

/** A measure as a row: of rows that are equal but for value and version, the one with the highest version counts. */
export type MeasureRow = Omit<Measure, 'kind' | 'labels'> & {
  /** By name. */
  readonly labels: readonly (readonly [string, string])[];
  /** The offset on `partials.v1` at which it was found. */
  readonly version: number;
};

const NAME = /^[a-z][a-z0-9_]{0,99}$/;
const MAX_LABELS = 16;
const MAX_SPAN = 0xffff_ffff;

/** The row of a measure. Throws an Error with a sentence where it is none: its processor is wrong. */
export function measureRow({ tenantId, retentionDays, name, labels, span, time, value }: Measure, version: number): MeasureRow {
  const wrong = (what: string): never => {
    throw new Error(`The measure ${JSON.stringify(name)} ${what}.`);
  };
  if (!NAME.test(name)) wrong('must have a name of a-z, 0-9 and "_", of at most 100 characters');
  const sorted = Object.entries(labels)
    .map(([label, text]) => [label, labelValue(text)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  if (sorted.length > MAX_LABELS) wrong(`has ${String(sorted.length)} labels; at most ${String(MAX_LABELS)} are taken`);
  if (sorted.some(([label]) => Buffer.byteLength(label) > MAX_LABEL_BYTES))
    wrong(`has a label whose name has more than ${String(MAX_LABEL_BYTES)} bytes`);
  if (!Number.isInteger(span) || span < 1 || span > MAX_SPAN) wrong('must have a span of whole seconds');
  if (!Number.isInteger(time) || !isTime(time)) wrong('must have a time in whole seconds from 1900 to 2262');
  if (!Number.isInteger(tenantId) || tenantId < 1 || tenantId > MAX_TENANT) wrong('must have a tenant');
  if (!Number.isInteger(retentionDays) || retentionDays < 0 || retentionDays > MAX_RETENTION) wrong('must have a retention class');
  if (!Number.isFinite(value)) wrong('must have a finite value');
  return { tenantId, retentionDays, name, labels: sorted, span, time, value, version };
}
