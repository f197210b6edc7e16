import { expect } from 'chai';
import { replayNormalizers } from '../../../pipeline/normalizers/index.ts';
import { clickOf, MAX_SESSION_MS, TOMBSTONE, replayLayout, type ReplayChunk } from '../../../pipeline/replay/chunk.ts';
import { MAX_EVENT_BYTES, ReplayWriter } from '../../../pipeline/replay/replay-writer.ts';
import { MAX_SESSION_BYTES, SessionBounds } from '../../../pipeline/replay/session-bounds.ts';
import { replaySignal } from '../../../pipeline/replay/replay-signal.ts';
import { linesOf, rowsRequest, takeEvents, type ReplayOptions, type TakenEvents } from './take-events.ts';

const [rrweb] = replayNormalizers.members;
if (rrweb === undefined) throw new Error('there is no format of replay');
const NOW = 1_795_269_600_000;

const take = (body: object, options: ReplayOptions = {}): ReturnType<typeof takeEvents> => takeEvents(rrweb, JSON.stringify(body), options);
function taken(body: object, options: ReplayOptions = {}): TakenEvents {
  const result = take(body, options);
  if ('status' in result) throw new Error(result.detail);
  return result;
}
const event = (timestamp: number, data: object = {}, type = 3): object => ({ type, data, timestamp });
const rowOf = (result: TakenEvents): ReplayChunk => result.rows[0] as ReplayChunk;

describe('the writer of replay', () => {
  it('puts a session into one partition of its shard, and sessions over all of them', () => {
    const partitions = [3, 5, 9, 11];
    const placeOf = (session: string): readonly number[] => taken({ session_id: session, events: [event(NOW)] }, { partitions }).partitions;
    const places = Array.from({ length: 100 }, (_none, index) => placeOf(`session-${String(index)}`));
    expect(places.every(({ length }) => length === 1)).to.equal(true);
    expect([...new Set(places.flat())].sort((a, b) => a - b)).to.deep.equal(partitions);
    expect(placeOf('session-1')).to.deep.equal(places[1]);
  });

  it('cuts a batch between events, in the order of their times', () => {
    const events = Array.from({ length: 30 }, (_none, index) => event(NOW - index * 10, { text: 'x'.repeat(100_000) }));
    const { rows, total } = taken({ session_id: 's', seq: 3, events });
    expect(total).to.equal(30);
    expect(rows.length).to.be.greaterThan(3);
    expect(rows.map(({ part }) => part)).to.deep.equal(rows.map((_row, index) => index));
    expect(new Set(rows.map(({ seq }) => seq))).to.deep.equal(new Set([3n]));
    for (const { body, first, last, events: count } of rows) {
      expect(body.length).to.be.lessThan(700_000);
      const times = linesOf({ body }).map(([after]) => first + after);
      expect(times).to.have.length(count);
      expect(times).to.deep.equal([...times].sort((a, b) => a - b));
      expect(times.at(-1)).to.equal(last);
    }
    expect(rows.flatMap((row) => linesOf(row).map(([after]) => row.first + after))).to.have.length(30);
  });

  it('keeps an event as it was sent, and none that is too long', () => {
    const whole = event(NOW, { text: 'x'.repeat(MAX_EVENT_BYTES - 100) });
    const result = taken({ session_id: 's', events: [whole, event(NOW, { text: 'x'.repeat(MAX_EVENT_BYTES) })] });
    expect(linesOf(rowOf(result))[0]?.[2]).to.deep.equal(whole);
    expect(result.rejected.map(({ index, reason }) => [index, reason])).to.deep.equal([
      [1, `longer than ${String(MAX_EVENT_BYTES)} bytes`],
    ]);
  });

  it('identifies a batch by its number, else by its events', () => {
    const seqOf = (body: object): bigint => rowOf(taken({ session_id: 's', ...body })).seq;
    expect(seqOf({ seq: 0, events: [event(NOW)] })).to.equal(0n);
    expect(seqOf({ segment_id: 12, events: [event(NOW)] })).to.equal(12n);
    const hashed = seqOf({ events: [event(NOW)] });
    expect(hashed >> 63n).to.equal(1n);
    expect(seqOf({ user: 'other', events: [event(NOW)] })).to.equal(hashed);
    expect(seqOf({ events: [event(NOW + 1)] })).to.not.equal(hashed);
    expect(take({ session_id: 's', seq: 2 ** 53, events: [event(NOW)] })).to.include({ status: 400 });
  });

  it('has times of 1970 and 2100 rejected by their index, the others kept', () => {
    const { rejected, total, ack } = taken(
      { session_id: 's', events: [event(1000), event(NOW), event(4_102_444_800_000), event(NOW + 1)] },
      { retentionDays: 30 },
    );
    expect(total).to.equal(4);
    expect(rejected.map(({ index, reason }) => [index, reason])).to.deep.equal([
      [0, 'the timestamp is older than the retention of 30 days'],
      [2, 'the timestamp is more than 2 days ahead'],
    ]);
    expect(ack.status).to.equal(202);
    expect(ack.body).to.deep.equal({
      ...{ status: 'ok', accepted: 2, rejected: 2 },
      errors: rejected.map(({ index, reason }) => ({ index, reason })),
    });
  });

  it('refuses what makes a session too long, and counts nothing of it', () => {
    const bounds = new SessionBounds();
    const add = (time: number): number => {
      const result = take({ session_id: 's', events: [event(time)] }, { bounds });
      return 'status' in result ? result.status : 202;
    };
    expect(add(NOW)).to.equal(202);
    expect(add(NOW + MAX_SESSION_MS)).to.equal(202);
    expect(add(NOW + MAX_SESSION_MS + 1)).to.equal(413);
    expect(add(NOW - 1)).to.equal(413);
    expect(add(NOW + 5)).to.equal(202);
    expect(take({ session_id: 'other', events: [event(NOW), event(NOW + MAX_SESSION_MS + 1)] })).to.deep.equal({
      ...{ status: 413, detail: 'The session is longer than 12 hours, which is the most that one may last; begin another one.' },
    });
  });

  it('refuses a session that was too large before its events are read', () => {
    const bounds = new SessionBounds();
    expect(bounds.add(1, 's', MAX_SESSION_BYTES + 1, NOW, NOW)).to.not.equal('');
    const detail = 'The session has more than 268435456 bytes, which is the most that one may have; begin another one.';
    const refused = { status: 413, detail };
    // what is no JSON would be a 400 where it is read
    const events = '"events":[nothing that can be read';
    expect(takeEvents(rrweb, `{"session_id":"s",${events}`, { bounds })).to.deep.equal(refused);
    expect(takeEvents(rrweb, `{"properties":{"$session_id":"s","$snapshot_data":[no`, { bounds })).to.deep.equal(refused);
    expect(takeEvents(rrweb, '[no', { bounds, query: 'session_id=s' })).to.deep.equal(refused);
    expect(takeEvents(rrweb, `{"session_id":"t",${events}`, { bounds })).to.include({ status: 400 });
    // whose it is stands behind the events
    expect(take({ events: [event(NOW)], session_id: 's' }, { bounds })).to.deep.equal(refused);
    expect(take({ events: [event(NOW)], session_id: 't' }, { bounds, query: 'session_id=s' })).to.not.include({ status: 413 });
  });

  it('refuses what makes a session too large: that of its tenant alone', () => {
    const bounds = new SessionBounds();
    const whole = 8 * 1024 * 1024;
    for (let bytes = 0; bytes < MAX_SESSION_BYTES; bytes += whole) expect(bounds.add(1, 's', whole, NOW, NOW)).to.equal('');
    expect(bounds.add(1, 's', 1, NOW, NOW)).to.match(/more than 268435456 bytes/);
    expect(bounds.add(2, 's', 1, NOW, NOW)).to.equal('');
    expect(bounds.add(1, 't', 1, NOW, NOW)).to.equal('');
  });

  it('forgets sessions of long ago where there are very many, so that what it holds is bounded', () => {
    const bounds = new SessionBounds();
    for (let index = 0; index < 300_000; index++) bounds.add(1, `s${String(index)}`, 1, NOW, NOW);
    expect(bounds.add(1, 's0', 1, NOW + MAX_SESSION_MS + 1, NOW + MAX_SESSION_MS + 1)).to.equal('');
    expect(bounds.add(1, 's299999', 1, NOW + MAX_SESSION_MS + 1, NOW + MAX_SESSION_MS + 1)).to.not.equal('');
  });

  it('puts the tombstone of a session where its events are, as late as any of them may be', () => {
    const partitions = [3, 5, 9, 11];
    const out = new ReplayWriter(new SessionBounds(), rowsRequest({ partitions }));
    out.remove('session-1', NOW);
    const [chunk] = out.chunks();
    if (chunk === undefined) throw new Error('there is no chunk');
    const { partition } = chunk;
    const { value } = chunk.encode();
    const [row] = replayLayout.read(value, 1) as ReplayChunk[];
    expect(row).to.include({ kind: TOMBSTONE, session: 'session-1', first: NOW + MAX_SESSION_MS, events: 0 });
    expect([partition]).to.deep.equal(taken({ session_id: 'session-1', events: [event(NOW)] }, { partitions }).partitions);
    expect(replaySignal.check({ value, count: 1 } as never)).to.equal(null);
  });

  it('packs a click into a number', () => {
    const read = (click: number): readonly number[] => [
      Math.floor(click / 2 ** 26),
      Math.floor(click / 2 ** 13) % 2 ** 13,
      click % 2 ** 13,
    ];
    expect(read(clickOf(1234, 10.4, 20.6))).to.deep.equal([1234, 10, 21]);
    expect(read(clickOf(MAX_SESSION_MS, 1e9, -5))).to.deep.equal([MAX_SESSION_MS, 8191, 0]);
    expect(Number.isSafeInteger(clickOf(MAX_SESSION_MS, 1e9, 1e9))).to.equal(true);
  });
});
