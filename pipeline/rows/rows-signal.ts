import { faultOf, sharedHeaders } from '../bus/records/record.ts';
import type { SignalRecord } from '../bus/records/signal-record.ts';
import type { Signal } from '../bus/records/signal.ts';
import { MAX_MESSAGE_BYTES, type TopicSpec } from '../bus/records/topics.ts';
import type { Layout, View } from './layout.ts';
import { COLUMNS } from './native.ts';

const DAY_MS = 86_400_000;
const VERSION = 1;

/** The topic of records of rows. */
export const rowsTopic = (name: string): TopicSpec => ({
  name,
  partitions: 'configured',
  cleanup: 'delete',
  retentionMs: 7 * DAY_MS,
  maxMessageBytes: MAX_MESSAGE_BYTES,
  timestamps: 'append',
});

/** What is wrong with a record whose value is not the rows that its headers state. */
export const wrongRows = (what: string): ReturnType<typeof faultOf> => faultOf('rows', `The record cannot be read: ${what}.`);

/** The last second that a row is about, since 1970: it is kept for its class from then on. */
type LastSecond<Row> = (view: View<Row>, row: number) => number;

/** A signal whose records have rows of one tenant each, on `<name>.v1`. */
export const tenantRowsSignal = <Row extends object>(layout: Layout<Row>, lastSecond: LastSecond<Row>): Signal =>
  signalOf(
    layout,
    lastSecond,
    ({ retentionDays }) =>
      () =>
        retentionDays,
    ({ tenantId }) =>
      () =>
        tenantId,
  );

/** A signal whose records have rows of many tenants, on `<name>.v1`. */
export const rowsSignal = <Row extends { readonly retentionDays: number; readonly tenantId: number }>(
  layout: Layout<Row>,
  lastSecond: LastSecond<Row>,
): Signal => ({
  ...signalOf(
    layout,
    lastSecond,
    (_record, view) => view.retentionDays,
    (_record, view) => view.tenantId,
  ),
  hasNoTenant: true,
});

/** `classes`: the retention class of each row in days; 0 keeps for ever. `tenants`: whose each row is. */
function signalOf<Row extends object>(
  layout: Layout<Row>,
  lastSecond: LastSecond<Row>,
  classes: (record: SignalRecord, view: View<Row>) => (row: number) => number,
  tenants: (record: SignalRecord, view: View<Row>) => (row: number) => number,
): Signal {
  return {
    name: layout.name,
    topic: rowsTopic(`${layout.name}.v1`),
    version: VERSION,
    encodings: [COLUMNS],
    decode: (record) => record,
    check({ value, count }) {
      if (count === 0) return value.length === 0 ? null : wrongRows('it has a value, and its header count is 0');
      const fault = layout.check(value, count);
      return fault === null ? null : wrongRows(fault);
    },
    rowEnds(record, now, deletedAt = () => null) {
      const { value, count } = record;
      if (count === 0) return null;
      const view = layout.view(value, count);
      if (typeof view === 'string') throw new Error(`BUG: a checked record cannot be read: ${view}.`);
      const [daysOf, tenantOf] = [classes(record, view), tenants(record, view)];
      const ends = Array.from({ length: count }, (_none, row) => {
        const days = daysOf(row);
        const end = days === 0 ? Infinity : Math.floor(lastSecond(view, row)) * 1000 + days * DAY_MS;
        return Math.min(end, deletedAt(tenantOf(row)) ?? Infinity);
      });
      return ends.some((end) => end <= now) ? ends : null;
    },
  };
}

/** The headers of a record of `count` rows of many tenants. */
export const rowsHeaders = ({ name }: Pick<Signal, 'name'>, count: number): Record<string, string> =>
  sharedHeaders({ name, version: VERSION }, { tenantId: 0, retentionDays: 0, count, bytes: 0, encoding: COLUMNS });
