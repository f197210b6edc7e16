import type { MeasureRow } from './measure.ts';
import { RowColumns } from './row-columns.ts';

const isPositive = (number: number): boolean => number > 0;

/** The columns of a record of `measures.v1`, in their order. docs/topics.md is the specification. */
export const measureColumns = new RowColumns<MeasureRow>([
  { name: 'tenant_id', type: 'UInt32', member: 'tenantId', isGood: isPositive },
  { name: 'retention_days', type: 'UInt16', member: 'retentionDays' },
  { name: 'name', type: 'String', member: 'name' },
  { name: 'labels', type: 'Map(String, String)', member: 'labels' },
  { name: 'span', type: 'UInt32', member: 'span', isGood: isPositive },
  { name: 'time', type: "DateTime64(0, 'UTC')", member: 'time' },
  { name: 'value', type: 'Float64', member: 'value' },
  { name: 'version', type: 'UInt64', member: 'version' },
]);

/** What a row takes before it is compressed, about. Bytes. */
export const measureSize = ({ name, labels }: MeasureRow): number => 50 + 3 * labels.reduce((sum, label) => sum + 4 + label[0].length + label[1].length, name.length); // prettier-ignore
