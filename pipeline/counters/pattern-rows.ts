import type { AbsoluteRecord } from '../bus/producer/absolute-record.ts';
import type { Signal } from '../bus/records/signal.ts';
import { count, seconds, uint16, uint32, uint8 } from '../rows/fixed-types.ts';
import { isPositive, Layout } from '../rows/layout.ts';
import { rowsRecords } from '../rows/rows-records.ts';
import { rowsSignal } from '../rows/rows-signal.ts';
import { string } from '../rows/string-types.ts';

/**
 * A pattern of a tenant, published when it is new, on each day on which it comes, and when its cluster changes (docs/adr/0030-patterns.md).
 * Of the rows of a tenant and fingerprint the highest version counts; its template is that of the last row which has one.
 */
export type PatternRow = {
  readonly tenantId: number;
  /** Retention class in days; 0 keeps for ever. */
  readonly retentionDays: number;
  /** When it was published, seconds since 1970, by append time: it is kept for its class from then on. */
  readonly publishedAt: number;
  /** SHA-256 of the template, and of the template of its cluster's root: hexadecimal. */
  readonly fingerprint: string;
  readonly root: string;
  /** Empty where only the root is published. */
  readonly template: string;
  readonly example: string;
  /** Of the entry that is the example. */
  readonly severity: number;
  /** The earliest time of an entry that is known: milliseconds since 1970. */
  readonly first: number;
  /** The offset on `partials.v1` at which it was published. */
  readonly version: number;
};

/** The columns of a record of `patterns.v1`, in their order. docs/topics.md is the specification. */
export const patternLayout = new Layout<PatternRow>('patterns', [
  { name: 'tenant_id', type: uint32, member: 'tenantId', isGood: isPositive },
  { name: 'retention_days', type: uint16, member: 'retentionDays' },
  { name: 'told', type: seconds, member: 'publishedAt' },
  { name: 'fingerprint', type: string, member: 'fingerprint' },
  { name: 'root', type: string, member: 'root' },
  { name: 'template', type: string, member: 'template' },
  { name: 'example', type: string, member: 'example' },
  { name: 'severity', type: uint8, member: 'severity' },
  { name: 'first_ms', type: count, member: 'first' },
  { name: 'version', type: count, member: 'version' },
]);

/** What a row takes before it is compressed, at most. Bytes. */
const sizeOf = ({ template, example }: PatternRow): number => 180 + 3 * (template.length + example.length);

/** The patterns of tenants: records of rows of many tenants on `patterns.v1`. */
export const patternsSignal: Signal = rowsSignal(patternLayout, ({ publishedAt }, row) => publishedAt(row));

/** The records of these rows, for a partition of `patterns.v1`. */
export const patternRecords = (partition: number, rows: readonly PatternRow[]): AbsoluteRecord[] =>
  rowsRecords(patternLayout, rows, sizeOf, { partition });
