import { expect } from 'chai';
import { pino } from 'pino';
import { WINDOW } from '../../../pipeline/bus/reading/commit-metadata.ts';
import type { LogRecord } from '../../../pipeline/logs/record.ts';
import { logRecord, rangeOf, streamOf } from '../../fakes/log-record.ts';
import { createLogsSink } from '../../../sinks/logs.ts';
import { TableWriter } from '../../../sinks/writer.ts';
import { LogsqlStore } from '../logsql-store.ts';

const NOW = Date.now();
const FIRST = 9_000_000_000;

/** A record of two rows, unlike its neighbours in all that the statement looks up. */
function record(index: number): LogRecord {
  const row = (name: string): string =>
    JSON.stringify({ _time: String(BigInt(NOW) * 1_000_000n), _stream_id: '5', severity: 5, level: 'info', service: 'web', _msg: name });
  return logRecord({
    partition: 7,
    offset: FIRST + index,
    count: 2,
    tenantId: 4_000_000_000 + index,
    retentionDays: index % 2 === 0 ? 14 : 365,
    streams: streamOf('5', '{app="web"}', Math.floor(NOW / 86_400_000)),
    timestamp: NOW - index,
    value: Buffer.from(`${row(`a${String(index)}`)}\n${row(`b${String(index)}`)}\n`),
  });
}

describe('a range', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  before(async () => {
    own = await LogsqlStore.start();
  });
  after(() => own.stop());

  it('of as many small records as there may be, as after an outage, is stored', async () => {
    const records = Array.from({ length: WINDOW }, (_, index) => record(index));
    const range = rangeOf(...records);
    const writer = new TableWriter({
      sink: createLogsSink(),
      store: own.store,
      log: pino({ level: 'silent' }),
      mostRefused: 1,
      metrics: { stored: () => undefined },
    });
    expect(await writer.store(range, false)).to.deep.equal([]);
    expect(await writer.store(range, true), 'the same once more').to.deep.equal([]);
    const found = await own.store.ownerRows(
      `SELECT toString(count()), toString(uniqExact(tenant_id, kafka_off, kafka_idx, arrived, _msg)), toString(min(kafka_off)), toString(max(kafka_off)),
         toString(countIf(tenant_id - 4000000000 != kafka_off - ${String(FIRST)} OR substring(_msg, 2) != toString(kafka_off - ${String(FIRST)}) OR kafka_idx != (_msg LIKE 'b%')))
       FROM logs WHERE kafka_part = 7`,
    );
    expect(found).to.deep.equal([[2 * WINDOW, 2 * WINDOW, FIRST, FIRST + WINDOW - 1, 0].map(String)]);
  });
});
