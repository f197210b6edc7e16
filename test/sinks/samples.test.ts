import { expect } from 'chai';
import type { SignalRecord } from '../../pipeline/bus/records/signal-record.ts';
import { KeyBytes } from '../../pipeline/samples/key-bytes.ts';
import type { SamplesRecord } from '../../pipeline/samples/samples-record.ts';
import { samplesSignal } from '../../pipeline/samples/samples-signal.ts';
import type { Store } from '../../pipeline/store/client.ts';
import { createSamplesSink } from '../../sinks/samples.ts';
import { writerOf } from '../pipeline/samples/take-samples.ts';

const AT = 1_795_269_600_000;

function recordOf(labels: readonly Record<string, string>[], offset = 5, timestamp = AT): SamplesRecord {
  const writer = writerOf();
  for (const one of labels) {
    const key = new KeyBytes();
    for (const [name, value] of Object.entries(one)) if (name !== 'facts') key.text(name, value);
    key.facts(one['facts'] ?? '');
    writer.useSeries(key.bytes, 0, key.length);
    writer.number(AT, 0, 0);
  }
  writer.metadata('up', { kind: 'gauge', unit: '', help: 'Up.', isDelta: false });
  const [chunk] = writer.chunks();
  if (chunk === undefined) throw new Error('no chunk');
  const { value, headers } = chunk.encode();
  const original = { key: null, value, headers: {}, timestamp: String(timestamp) };
  const record: SignalRecord = {
    ...{ tenantId: 7, retentionDays: 30, count: labels.length + 1, bytes: 0, encoding: 'columns', partition: 3, offset, timestamp, value },
    ...{ replayOf: null, fault: null, original },
  };
  const decoded = samplesSignal.decode(record, (name) => String(headers[name] ?? ''));
  if ('reason' in decoded) throw new Error(decoded.detail);
  return decoded;
}

/** Keeps the lines of each table. */
function storeOf(): { store: Store; rows: Record<string, unknown[]> } {
  const rows: Record<string, unknown[]> = {};
  const insert: Store['insert'] = (text, body) => {
    const table = /INSERT INTO (\w+)/.exec(text)?.[1] ?? '';
    const lines = Buffer.concat([...body]).toString().split('\n').slice(0, -1); // prettier-ignore
    (rows[table] ??= []).push(...lines.map((line) => JSON.parse(line) as unknown));
    return Promise.resolve(lines.length);
  };
  return { store: { insert } as Store, rows };
}

describe('sink samples', () => {
  it('sends the first part of a value as it came, behind a frame with its position', () => {
    const record = recordOf([{ __name__: 'up', job: 'a' }]);
    expect(samplesSignal.check(record)).to.equal(null);
    const range = { topic: 'samples.v1', partition: 3, start: 5, end: 5, rows: 2, records: [record] };
    const { text, body } = createSamplesSink().insert(range);
    expect(text).to.match(
      /^INSERT INTO samples \(tenant_id, arrived_ms, kafka_part, kafka_off, retention_days, kafka_idx, type, series, time/,
    );
    expect(body[2]?.equals(record.value.subarray(0, record.definitionsAt))).to.equal(true);
  });

  it('writes series, labels and what is known of metrics before them: once a day, and again where that changes', async () => {
    const sink = createSamplesSink();
    const { store, rows } = storeOf();
    const facts = '{"kind":"counter","delta":true,"unit":"bytes"}';
    await sink.prepare([recordOf([{ __name__: 'up', job: 'a' }, { __name__: 'up', job: 'b' }, { __name__: 'x', facts }])], store); // prettier-ignore
    const shared = { tenant_id: 7, last: 20_778, retention_days: 30 };
    expect(rows['series']?.map((row) => ({ ...(row as object), series: '' }))).to.deep.equal([
      { ...shared, metric: 'up', series: '', labels: { __name__: 'up', job: 'a' }, kind: 'unknown', is_delta: 0 },
      { ...shared, metric: 'up', series: '', labels: { __name__: 'up', job: 'b' }, kind: 'unknown', is_delta: 0 },
      { ...shared, metric: 'x', series: '', labels: { __name__: 'x' }, kind: 'counter', is_delta: 1 },
    ]);
    expect(rows['series_labels']?.map((row) => Object.values(row as Record<string, unknown>).slice(3, 6))).to.have.deep.members([
      ['__name__', 'up', 'up'],
      ['job', 'a', 'up'],
      ['job', 'b', 'up'],
      ['__name__', 'x', 'x'],
    ]);
    expect(rows['metrics']).to.deep.equal([
      { ...shared, metric: 'x', kind: 'counter', unit: 'bytes', help: '' },
      { ...shared, metric: 'up', kind: 'gauge', unit: '', help: 'Up.' },
    ]);
    const again = [recordOf([{ __name__: 'up', job: 'a' }, { __name__: 'x', facts }])]; // prettier-ignore
    await sink.prepare(again, store);
    expect([rows['series']?.length, rows['series_labels']?.length, rows['metrics']?.length]).to.deep.equal([3, 4, 2]);
    await sink.prepare([recordOf([{ __name__: 'x', facts: '{"kind":"gauge"}' }])], store);
    expect([rows['series']?.length, rows['series_labels']?.length, rows['metrics']?.length]).to.deep.equal([4, 4, 3]);
    await sink.prepare([recordOf([{ __name__: 'up', job: 'a' }], 6, AT + 86_400_000)], store);
    expect(rows['series']?.length, 'the next day').to.equal(5);
    sink.forget();
    await sink.prepare(again, store);
    expect(rows['series']?.length, 'forgotten').to.equal(7);
  });

  it('knows what is wrong with a record', () => {
    const record = recordOf([{ __name__: 'up', job: 'a' }]);
    const { value, definitionsAt } = record;
    for (const at of [0, definitionsAt - 1, definitionsAt + 1, value.length])
      expect(samplesSignal.check({ ...record, definitionsAt: at })).to.not.equal(null);
    for (const header of ['x', '-1', String(value.length + 1)])
      expect(samplesSignal.decode(record, () => header)).to.have.property('reason', 'headers');
    expect(samplesSignal.check({ ...record, count: 3 })).to.not.equal(null);
    expect(samplesSignal.rowEnds(record, AT)).to.equal(null);
    expect(samplesSignal.rowEnds(record, AT + 40 * 86_400_000)).to.deep.equal([AT + 30 * 86_400_000, AT + 30 * 86_400_000]);
  });

  it('writes what pages of definitions hold once a day, and again where it has forgotten', async () => {
    const sink = createSamplesSink();
    const { store, rows } = storeOf();
    const labels = Array.from({ length: 150 }, (_none, n) => ({ __name__: 'paged', pod: `p${String(n)}` }));
    const counts: (number | undefined)[] = [];
    for (const [offset, timestamp] of [
      [1, AT],
      [2, AT],
      [3, AT + 86_400_000],
      [4, AT + 86_400_000],
    ] as const) {
      const record = recordOf(labels, offset, timestamp);
      expect(record.cut?.pages).to.equal(3);
      await sink.prepare([record], store);
      counts.push(rows['series']?.length);
    }
    sink.forget();
    await sink.prepare([recordOf(labels, 5)], store);
    expect([...counts, rows['series']?.length]).to.deep.equal([150, 150, 300, 300, 450]);
  });
});
