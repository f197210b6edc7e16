import type { AbsoluteRecord } from '../bus/producer/absolute-record.ts';
import type { Signal } from '../bus/records/signal.ts';
import { count, seconds, uint16, uint32 } from '../rows/fixed-types.ts';
import { isPositive, Layout } from '../rows/layout.ts';
import { rowsRecords } from '../rows/rows-records.ts';
import { rowsSignal } from '../rows/rows-signal.ts';
import { string } from '../rows/string-types.ts';

/** For how many days the state of a rule is kept that is not evaluated any more. */
export const STATE_DAYS = 7;

/** How a rule over metrics stands after an evaluation. Of the rows of a tenant and rule the highest version counts. */
export type MetricRuleState = {
  readonly tenantId: number;
  /** Retention class in days. */
  readonly retentionDays: number;
  readonly rule: string;
  /** The version of the rule's setting. */
  readonly setting: number;
  /** Of what it was evaluated: seconds since 1970. */
  readonly evaluatedAt: number;
  /** A JSON object (docs/topics.md). */
  readonly state: string;
  /** The offset on `partials.v1` at which it was found. */
  readonly version: number;
};

/** The columns of a record of `metric_rule_states.v1`, in their order. docs/topics.md is the specification. */
export const metricRuleStateLayout = new Layout<MetricRuleState>('metric_rule_states', [
  { name: 'tenant_id', type: uint32, member: 'tenantId', isGood: isPositive },
  { name: 'retention_days', type: uint16, member: 'retentionDays' },
  { name: 'rule', type: string, member: 'rule' },
  { name: 'setting', type: count, member: 'setting' },
  { name: 'evaluated_at', type: seconds, member: 'evaluatedAt' },
  { name: 'state', type: string, member: 'state' },
  { name: 'version', type: count, member: 'version' },
]);

/** What a row takes before it is compressed, at most. Bytes. */
const sizeOf = ({ state }: MetricRuleState): number => 120 + 3 * state.length;

/** States of rules over metrics: records of rows of many tenants. */
export const metricRuleStatesSignal: Signal = rowsSignal(metricRuleStateLayout, ({ evaluatedAt }, row) => evaluatedAt(row));

/** The records of these rows, for a partition of their topic. */
export const metricRuleStateRecords = (partition: number, rows: readonly MetricRuleState[]): AbsoluteRecord[] =>
  rowsRecords(metricRuleStateLayout, rows, sizeOf, { partition });
