import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import type { SignalRecord } from '../../../pipeline/bus/records/signal-record.ts';
import type { Signal } from '../../../pipeline/bus/records/signal.ts';
import { framesOf } from '../../../pipeline/rows/frames.ts';
import { structureOf, type Layout } from '../../../pipeline/rows/layout.ts';
import { varint } from '../../../pipeline/rows/native.ts';
import { tenantRowsSignal } from '../../../pipeline/rows/rows-signal.ts';
import { rowsSink, tenantRowsSink } from '../../../sinks/rows-sink.ts';
import { POSITION_COLUMNS, SHARED_COLUMNS } from '../../../sinks/shared-columns.ts';
import { layouts } from '../../contract/layouts.ts';
import { extent } from '../../extent.ts';
import { LogsqlStore } from '../logsql-store.ts';

const AT = 1_795_003_200_000;
const original = { key: null, value: null, headers: {}, timestamp: String(AT) };

describe('every layout in ClickHouse', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  before(async () => {
    own = await LogsqlStore.start();
  });
  after(() => own.stop());

  /** The rows of a record as ClickHouse writes them: a block of Native is its numbers of columns and rows, and what a record has. */
  async function rowsAt(table: string, offset: number, layout: Layout<object>, count: number): Promise<unknown> {
    const names = layout.columns.map(({ name }) => name).join(', ');
    const query = `SELECT ${names} FROM ${table} WHERE kafka_off = ${String(offset)} ORDER BY kafka_idx FORMAT Native`;
    const answer = await fetch(`${own.config.url}/?database=${own.config.database}&query=${encodeURIComponent(query)}`, {
      headers: { 'X-ClickHouse-User': own.config.user, 'X-ClickHouse-Key': own.config.password },
    });
    const content = Buffer.from(await answer.arrayBuffer());
    const head = Buffer.concat([varint(layout.columns.length), varint(count)]);
    expect(content.subarray(0, head.length), content.toString('latin1', 0, 500)).to.deep.equal(head);
    return layout.read(framesOf((to) => to.put(content.subarray(head.length))), count); // prettier-ignore
  }

  for (const { layout, row, written = [] } of layouts)
    it(`takes and gives back rows of ${layout.name}, also by input()`, async () => {
      const table = `trial_${layout.name}`;
      // rows of many tenants have theirs in the layout
      const isShared = layout.columns.some(({ name }) => name === 'tenant_id');
      const signal: Signal = tenantRowsSignal(layout, () => 0);
      const sink = isShared ? rowsSink(table, signal, layout) : tenantRowsSink(table, signal, layout);
      const structure = structureOf([...(isShared ? POSITION_COLUMNS : SHARED_COLUMNS), ...layout.columns]);
      await own.store.command(`CREATE TABLE ${table} (${structure}) ENGINE = Memory`);
      const rows = [...written, ...fc.sample(fc.array(row, { minLength: 50, maxLength: 100 }), extent(2, 50)).flat()];
      const insert = async (offset: number, inDoubt: number | null): Promise<number> => {
        const record: SignalRecord = {
          ...{ partition: 3, offset, timestamp: AT, tenantId: 7, retentionDays: 30, count: rows.length, bytes: 0, encoding: 'columns' },
          ...{ value: layout.encode(rows), replayOf: null, fault: null, original },
        };
        const range = { topic: signal.topic.name, partition: 3, start: offset, end: offset, rows: rows.length, records: [record], inDoubt };
        const { text, body, settings = {} } = sink.insert(range, { fence: 'none' });
        return own.store.insert(text, body, { queryId: randomUUID(), settings });
      };
      expect(await insert(1, null)).to.equal(rows.length);
      expect(await insert(2, AT), 'in doubt').to.equal(rows.length);
      expect(await insert(2, AT), 'in doubt, and there').to.equal(0);
      for (const offset of [1, 2]) expect(await rowsAt(table, offset, layout, rows.length)).to.deep.equal(rows);
      if (isShared) return;
      const [shared] = await own.store.ownerRows(`SELECT DISTINCT tenant_id, retention_days, kafka_part FROM ${table}`, {});
      expect(shared).to.deep.equal([7, 30, 3]);
    });
});
