import { expect } from 'chai';
import { signals, sinksOf } from '../../main/signals.ts';
import type { LogRecord } from '../../pipeline/logs/record.ts';
import type { Store } from '../../pipeline/store/client.ts';
import { KnownStreams } from '../../sinks/known-streams.ts';
import { createLogsSink, newStreams } from '../../sinks/logs.ts';
import { readInsert, type InsertedRow } from '../fakes/inserted-rows.ts';
import { columnsValue, logRecord, rangeOf, streamOf, streamsOf, type PlainStream } from '../fakes/log-record.ts';

const record = (offset: number, count: number, more: Partial<LogRecord> = {}): LogRecord =>
  logRecord({ partition: 3, offset, count, streams: streamOf('5', '{app="web"}', 20_777), ...more });

const columns = (offset: number, count: number, more: Partial<LogRecord> = {}): LogRecord =>
  record(offset, count, {
    encoding: 'columns',
    value: columnsValue(...Array.from({ length: count }, (_, n) => `${String(offset)}.${String(n)}`)),
    ...more,
  });

const inserted = (...records: readonly LogRecord[]): ReturnType<typeof readInsert> =>
  readInsert(createLogsSink().insert(rangeOf(...records)).body);

const positions = (rows: readonly InsertedRow[]): unknown[] =>
  rows.map((row) => [row['kafka_off'], row['kafka_idx'], row.entry.get('_msg')]);

describe('sink logs', () => {
  it('is in the registry', () =>
    expect(sinksOf(signals.members).map(({ name }) => name)).to.deep.equal([
      'logs',
      'spans',
      'span_counts',
      'samples',
      'replay_chunks',
      'volume',
      'measures',
      'metric_rule_states',
      'alerts',
      'pattern_counts',
      'patterns',
    ]));

  it('sends the value of a large record as it came', () => {
    const large = columns(7, 100);
    const { body, text, settings } = createLogsSink().insert(rangeOf(large, columns(9, 3)));
    expect(body[2]).to.equal(large.value);
    expect(text).to.match(/^INSERT INTO logs \(tenant_id, arrived, [a-z_, ]+\)$/);
    expect(settings).to.include({ decompress: 1 });
  });

  it('gives each row the position of its record and its place in it, in a block of its own or shared', () => {
    const many = (offset: number, count: number): unknown[] =>
      Array.from({ length: count }, (_, n) => [offset, n, `${String(offset)}.${String(n)}`]);
    for (const sizes of [[1], [64], [63, 2, 1], [70, 1, 200, 3], [1000, 1000], [40_000]]) {
      const { rows } = inserted(...sizes.map((count, index) => columns(7 + index, count)));
      const expected = sizes.flatMap((count, index) => many(7 + index, count));
      expect(new Set(positions(rows).map(String))).to.deep.equal(new Set(expected.map(String)));
      expect(rows).to.have.length(expected.length);
    }
  });

  it('takes records of the encoding ndjson beside others, however long they are', () => {
    const { rows } = inserted(record(7, 2), columns(8, 1), record(9, 25_000), record(10, 0));
    expect(rows).to.have.length(25_003);
    expect(new Set(rows.map((row) => `${String(row['kafka_off'])}/${String(row['kafka_idx'])}`)).size).to.equal(25_003);
    expect(Math.max(...rows.map((row) => row['kafka_idx'] ?? NaN))).to.equal(24_999);
  });

  it('shares blocks among records of more names than a record may have', () => {
    const value = (record: number): Buffer =>
      Buffer.from(
        Array.from({ length: 60 }, (_, n) => {
          const fields = Object.fromEntries(
            Array.from({ length: 900 }, (_name, i) => [`${String(record)}.${String(n)}.${String(i)}`, 'v']),
          );
          return `{"_time":"1","_msg":"m","fields":${JSON.stringify(fields)}}\n`;
        }).join(''),
      );
    const { rows } = inserted(...[0, 1].map((offset) => record(offset, 60, { value: value(offset) })));
    expect(rows).to.have.length(120);
    for (const row of rows) expect(row.entry.get(`${String(row['kafka_off'])}.${String(row['kafka_idx'])}.899`)).to.equal('v');
  });

  it('tells the tenants of a range apart', () => {
    for (const count of [3, 300]) {
      const { rows } = inserted(columns(7, count), columns(9, count, { tenantId: 4, retentionDays: 14, timestamp: 1_795_000_000_001 }));
      const shared = new Set(
        rows.map((row) => [row['tenant_id'], row['retention_days'], row['arrived'], row['kafka_part'], row['kafka_off']].join()),
      );
      expect([...shared].sort()).to.deep.equal(['1,0,1795000000000,3,7', '4,14,1795000000001,3,9']);
    }
  });

  it('keeps what is large in a column as it is', () => {
    const { rows } = inserted(columns(2 ** 52, 100, { tenantId: 4_294_967_295, retentionDays: 65_535 }));
    expect(rows[99]).to.include({ kafka_off: 2 ** 52, tenant_id: 4_294_967_295, retention_days: 65_535, kafka_idx: 99 });
  });

  it('stores the rows of a replay under the position of the original, and of them only what is missing', () => {
    const { statement, rows } = inserted(columns(7, 2), columns(9, 3, { replayOf: 4 }));
    expect(new Set(rows.map((row) => row['kafka_off']))).to.deep.equal(new Set([7, 4]));
    expect(statement).to.contain(
      'NOT IN (SELECT kafka_off, toUnixTimestamp64Milli(arrived), toUInt32(kafka_idx) FROM logs WHERE kafka_part = 3 AND (kafka_off IN (4) AND toUnixTimestamp64Milli(arrived) BETWEEN 1795000000000 AND 1795000000000))',
    );
    expect(inserted(columns(7, 2)).statement).to.equal('FORMAT Native\n');
  });

  it('looks at each row of a range in doubt', () => {
    const { body } = createLogsSink().insert({ ...rangeOf(columns(7, 2), columns(9, 3)), inDoubt: 1 }, { table: 'trial' });
    expect(readInsert(body).statement).to.contain(
      'FROM logs WHERE kafka_part = 3 AND (kafka_off BETWEEN 7 AND 9 AND toUnixTimestamp64Milli(arrived) BETWEEN ',
    );
  });

  it('looks for the fence of an insert, of a range in doubt too', () => {
    const fence = 'logs-logs.v1-3-7-9';
    const statement = (inDoubt: number | null): string =>
      readInsert(createLogsSink().insert({ ...rangeOf(columns(7, 2), columns(9, 3)), inDoubt }, { fence }).body).statement;
    const condition = `(SELECT count() FROM insert_fences WHERE id = '${fence}') = 0`;
    expect(statement(null)).to.contain(` WHERE ${condition}\n`);
    expect(statement(1)).to.contain('NOT IN').and.to.contain(` AND ${condition}\n`);
  });

  it('writes each stream once a day, before the rows', async () => {
    const written: string[] = [];
    const store = { insert: (_text: string, body: readonly Buffer[]) => { written.push(Buffer.concat(body).toString()); return Promise.resolve(1); } } as unknown as Store; // prettier-ignore
    const sink = createLogsSink();
    await sink.prepare([record(7, 2), record(8, 1, { streams: streamOf('5', '{app="web"}', 20_777, 20_778) })], store);
    await sink.prepare([record(9, 2)], store);
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
    const streams = streamsOf(...Array.from({ length: 40_000 }, (_, n): PlainStream => [String(n), `{app="${String(n)}"}`, n]));
    const fresh = newStreams([record(7, 40_000, { streams })], new KnownStreams(1));
    expect(fresh.size).to.equal(40_000);
    expect(JSON.parse([...fresh.values()][39_999]?.row ?? '')).to.include({ stream_id: '39999', day: 39_999 });
  });

  it('writes a stream again where the first try failed', async () => {
    let calls = 0;
    const store = { insert: () => (++calls === 1 ? Promise.reject(new Error('down')) : Promise.resolve(1)) } as unknown as Store;
    const sink = createLogsSink();
    await sink.prepare([record(7, 2)], store).then(
      () => expect.fail('the first try fails'),
      () => undefined,
    );
    await sink.prepare([record(7, 2)], store);
    expect(calls).to.equal(2);
  });
});
