import { expect } from 'chai';
import { signals, sinksOf } from '../../main/signals.ts';
import type { SignalRecord } from '../../pipeline/bus/records/signal-record.ts';
import { volumeLayout } from '../../pipeline/counters/volume-layout.ts';
import { readFrames } from '../../pipeline/rows/frames.ts';
import { columnHead } from '../../pipeline/rows/native.ts';
import { volumeSink } from '../../sinks/volume.ts';
import { counterRecord, volumeRow } from '../fakes/counter-record.ts';

const rangeOf = (...records: readonly SignalRecord[]) => ({
  ...{ topic: 'counters.v1', partition: 3, start: records[0]?.offset ?? 0, end: records.at(-1)?.offset ?? 0, records },
  rows: records.reduce((sum, { count }) => sum + count, 0),
});
const contentOf = (frames: Buffer | undefined): Buffer => Buffer.from(readFrames(frames ?? Buffer.alloc(0), Buffer.alloc(0)) ?? []);

describe('the sink volume', () => {
  it('is a sink of the topic counters.v1', () => {
    expect(sinksOf(signals.members)).to.include(volumeSink);
    expect(volumeSink.signal.topic.name).to.equal('counters.v1');
  });

  it('passes the value of each record on behind a frame that says where it lies', () => {
    const record = counterRecord([volumeRow(), volumeRow({ tenantId: 2 })]);
    const { text, body } = volumeSink.insert(rangeOf(counterRecord([], { offset: 6 }), record));
    expect(text).to.match(/^INSERT INTO volume \(arrived, kafka_part, kafka_off, kafka_idx, tenant_id, retention_days, .*, bytes\)$/);
    const [statement, head, value, ...more] = body;
    expect(contentOf(statement).toString()).to.equal('FORMAT Native\n');
    expect(value).to.equal(record.value);
    expect(more).to.deep.equal([]);
    const content = contentOf(head);
    expect([...content.subarray(0, 2)]).to.deep.equal([17, 2]);
    expect(content.subarray(-4)).to.deep.equal(Buffer.from([0, 0, 1, 0]));
    const offset = content.indexOf(columnHead('kafka_off', 'UInt64')) + columnHead('kafka_off', 'UInt64').length;
    expect([content.readBigUInt64LE(offset), content.readBigUInt64LE(offset + 8)]).to.deep.equal([7n, 7n]);
    expect(contentOf(value).indexOf(volumeLayout.head('tenant_id').bytes)).to.equal(0);
  });

  it('stores a replay under the position of its original, and of it and of a range in doubt what is missing', () => {
    const statement = (record: SignalRecord, inDoubt: number | null): string =>
      contentOf(volumeSink.insert({ ...rangeOf(record), inDoubt }, { table: 'trial', fence: 'f-1' }).body[0]).toString();
    const rows = [volumeRow()];
    expect(statement(counterRecord(rows, { replayOf: 4 }), null)).to.contain('NOT IN (SELECT kafka_off, ').and.to.contain('FROM volume WHERE kafka_part = 3 AND (kafka_off IN (4)'); // prettier-ignore
    expect(statement(counterRecord(rows), 5)).to.contain('FROM volume WHERE kafka_part = 3 AND (kafka_off BETWEEN 7 AND 7');
    expect(statement(counterRecord(rows), null)).to.match(/ WHERE \(SELECT count\(\) FROM insert_fences WHERE id = 'f-1'\) = 0\n/);
  });
});
