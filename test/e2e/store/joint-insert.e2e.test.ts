import { expect } from 'chai';
import { pino } from 'pino';
import { createLogsSink } from '../../../sinks/logs.ts';
import { TableWriter } from '../../../sinks/writer.ts';
import { logRecord, rangeOf, streamOf } from '../../fakes/log-record.ts';
import { LogsqlStore } from '../logsql-store.ts';

const NOW = Date.now();

/** Ranges of two partitions: a record of rows of its own each. */
function rangesAt(offset: number): ReturnType<typeof rangeOf>[] {
  const row = (name: string): string =>
    JSON.stringify({ _time: String(BigInt(NOW) * 1_000_000n), _stream_id: '5', severity: 5, level: 'info', service: 'web', _msg: name });
  return [3, 4].map((partition) => {
    const value = Buffer.from(
      Array.from({ length: partition }, (_, index) => `${row(`p${String(partition)}-${String(index)}`)}\n`).join(''),
    );
    const streams = streamOf('5', '{app="web"}', Math.floor(NOW / 86_400_000));
    return rangeOf(logRecord({ ...{ partition, offset, count: partition, timestamp: NOW, streams, value } }));
  });
}

describe('an insert of several partitions', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let writer: TableWriter;
  before(async () => {
    own = await LogsqlStore.start();
    const metrics = { stored: (): void => undefined };
    writer = new TableWriter({ sink: createLogsSink(), store: own.store, log: pino({ level: 'silent' }), mostRefused: 1, metrics });
  });
  after(() => own.stop());

  const found = async (offset: number): Promise<unknown> =>
    own.store.ownerRows(
      'SELECT toString(kafka_part), toString(count()), toString(uniqExact(kafka_idx, _msg)) FROM logs WHERE kafka_off = {offset:UInt64} GROUP BY kafka_part ORDER BY kafka_part',
      { offset },
    );
  const refused = async (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'it was stored',
      (error: unknown) => String(error),
    );

  it('stores all of them, and each by itself once more is the same', async () => {
    expect(await writer.joins()).to.equal(true);
    const ranges = rangesAt(10);
    await writer.storeJointly('aaa-1', ranges);
    const whole = [
      ['3', '3', '3'],
      ['4', '4', '4'],
    ];
    expect(await found(10)).to.deep.equal(whole);
    await writer.fence('aaa-1');
    for (const range of ranges) expect(await writer.store(range, true)).to.deep.equal([]);
    expect(await found(10)).to.deep.equal(whole);
  });

  it('writes nothing once it is fenced, by whomever, and each range is stored by itself then', async () => {
    const other = new TableWriter({
      ...{ sink: createLogsSink(), store: own.store, log: pino({ level: 'silent' }), mostRefused: 1 },
      metrics: { stored: () => undefined },
    });
    await other.fence('aaa-2');
    const ranges = rangesAt(20);
    expect(await refused(writer.storeJointly('aaa-2', ranges))).to.contain('wrote 0 of 7 rows of insert aaa-2');
    expect(await found(20)).to.deep.equal([]);
    for (const range of ranges) expect(await writer.store(range, true)).to.deep.equal([]);
    expect(await found(20)).to.deep.equal([
      ['3', '3', '3'],
      ['4', '4', '4'],
    ]);
  });

  it('refuses an id that could not be ours', async () => {
    expect(await refused(writer.storeJointly("x') = 0 OR 1=1 --", rangesAt(30)))).to.contain('other characters');
    expect(await found(30)).to.deep.equal([]);
  });
});
