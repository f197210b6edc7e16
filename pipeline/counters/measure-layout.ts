import { count, finite, seconds, uint16, uint32 } from '../rows/fixed-types.ts';
import { isPositive, Layout } from '../rows/layout.ts';
import { sortedPairs, string } from '../rows/string-types.ts';
import type { MeasureRow } from './measure.ts';

/** The columns of a record of `measures.v1`, in their order. docs/topics.md is the specification. */
export const measureLayout = new Layout<MeasureRow>('measures', [
  { name: 'tenant_id', type: uint32, member: 'tenantId', isGood: isPositive },
  { name: 'retention_days', type: uint16, member: 'retentionDays' },
  { name: 'name', type: string, member: 'name' },
  { name: 'labels', type: sortedPairs, member: 'labels' },
  { name: 'span', type: uint32, member: 'span', isGood: isPositive },
  { name: 'time', type: seconds, member: 'time' },
  { name: 'value', type: finite, member: 'value' },
  { name: 'version', type: count, member: 'version' },
]);

/** What a row takes before it is compressed, about. Bytes. */
export const measureSize = ({ name, labels }: MeasureRow): number => 50 + 3 * labels.reduce((sum, label) => sum + 4 + label[0].length + label[1].length, name.length); // prettier-ignore
