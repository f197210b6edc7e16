import { expect } from 'chai';
import type { LogRecord } from '../../pipeline/logs/record.ts';
import type { Store } from '../../pipeline/store/client.ts';
import { sinks } from '../../sinks/index.ts';
import { createLogsSink, newStreams } from '../../sinks/logs.ts';
import { logRecord, rangeOf, streamOf } from '../fakes/log-record.ts';

const record = (offset: number, count: number, more: Partial<LogRecord> = {}): LogRecord =>
  logRecord({ partition: 3, offset, count, streams: streamOf('5', '{app="web"}', 20_777), value: Buffer.from(`row ${offset}\n`), ...more });

describe('sink logs', () => {
  it('is in the registry', () => expect(sinks.names).to.deep.equal(['logs']));

  it('sends the values as they came', () => {
    const first = record(7, 2);
    const second = record(9, 3);
    const { body } = createLogsSink().insert(rangeOf(first, second));
    expect(body[0]).to.equal(first.value);
    expect(body[1]).to.equal(second.value);
  });

  it('gives each row the position of its record, and constants only once', () => {
    const { text } = createLogsSink().insert(rangeOf(record(7, 2), record(9, 3), record(12, 1)));
    expect(text).to.contain('rowNumberInAllBlocks() AS n, roundDown(n, [0,2,5]::Array(UInt64)) AS k');
    expect(text).to.contain('transform(k, [0,2,5]::Array(UInt64), [7,9,12]::Array(UInt64), toUInt64(0))');
    expect(text).to.match(/SELECT toUInt64\(1\), fromUnixTimestamp64Milli/);
  });

  it('tells the tenants of a range apart', () => {
    const { text } = createLogsSink().insert(rangeOf(record(7, 2), record(9, 3, { tenantId: 4, retentionDays: 14 })));
    expect(text).to.contain('transform(k, [0,2]::Array(UInt64), [1,4]::Array(UInt64), toUInt64(0))');
    expect(text).to.contain('transform(k, [0,2]::Array(UInt64), [0,14]::Array(UInt64), toUInt64(0))');
  });

  it('stores the rows of a replay under the position of the original, and of them only what is missing', () => {
    const { text } = createLogsSink().insert(rangeOf(record(7, 2), record(9, 3, { replayOf: 4 })));
    expect(text).to.contain('transform(k, [0,2]::Array(UInt64), [7,4]::Array(UInt64), toUInt64(0))');
    expect(text).to.contain(
      'NOT IN (SELECT kafka_off, toUnixTimestamp64Milli(arrived), kafka_idx FROM logs WHERE kafka_part = 3 AND (kafka_off IN (4)))',
    );
    expect(createLogsSink().insert(rangeOf(record(7, 2))).text).to.not.contain('NOT IN');
  });

  it('lets no row pass that no record has', () => {
    expect(createLogsSink().insert(rangeOf(record(7, 2), record(9, 3))).text).to.contain('throwIf(n >= 5,');
  });

  it('writes each stream once a day, before the rows', async () => {
    const written: string[] = [];
    const store = { insert: (_text: string, body: readonly Buffer[]) => { written.push(Buffer.concat(body).toString()); return Promise.resolve(1); } } as unknown as Store; // prettier-ignore
    const sink = createLogsSink();
    await sink.prepare(rangeOf(record(7, 2), record(8, 1, { streams: streamOf('5', '{app="web"}', 20_777, 20_778) })), store);
    await sink.prepare(rangeOf(record(9, 2)), store);
    expect(written).to.have.length(1);
    expect(
      written[0]
        ?.trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).to.deep.equal([
      { tenant_id: 1, day: 20_777, stream_id: '5', _stream: '{app="web"}', labels: { app: 'web' }, retention_days: 0 },
      { tenant_id: 1, day: 20_778, stream_id: '5', _stream: '{app="web"}', labels: { app: 'web' }, retention_days: 0 },
    ]);
  });

  it('writes as many rows of streams as there are streams and days of them, not their product', () => {
    const streams = new Map(Array.from({ length: 40_000 }, (_, n) => [String(n), { text: `{app="${String(n)}"}`, days: [n] }]));
    const fresh = newStreams([record(7, 40_000, { streams })], new Set());
    expect(fresh.size).to.equal(40_000);
    expect(JSON.parse([...fresh.values()][39_999] ?? '')).to.include({ stream_id: '39999', day: 39_999 });
  });

  it('writes a stream again where the first try failed', async () => {
    let calls = 0;
    const store = { insert: () => (++calls === 1 ? Promise.reject(new Error('down')) : Promise.resolve(1)) } as unknown as Store;
    const sink = createLogsSink();
    await sink.prepare(rangeOf(record(7, 2)), store).then(
      () => expect.fail('the first try fails'),
      () => undefined,
    );
    await sink.prepare(rangeOf(record(7, 2)), store);
    expect(calls).to.equal(2);
  });
});
