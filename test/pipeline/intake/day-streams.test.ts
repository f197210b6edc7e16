import { expect } from 'chai';
import { DayStreams } from '../../../pipeline/intake/day-streams.ts';
import { EntryCodec, EntryWriter } from '../../../pipeline/logs/writer.ts';
import { Random } from '../../fuzz/random.ts';
import { DEFAULTS, entriesOf, RECEIVED_AT } from '../logs/entry-lines.ts';

const random = new Random(5);
const half = (): number => random.below(2 ** 32) | 0;
const ids = Array.from({ length: 400_000 }, () => [half(), half()] as const);

describe('the streams of a day', () => {
  it('are counted once each, nearly all of them, and take a few bytes', () => {
    const streams = new DayStreams(() => undefined);
    for (let round = 0; round < 2; round++) for (const [high, low] of ids) expect(streams.admit(high, low, Infinity)).to.equal(true);
    expect(streams.count).to.be.within(ids.length * 0.99, ids.length);
    expect(streams.bytes / ids.length).to.be.below(6);
  });

  it('of ids that differ in few bits are told apart too', () => {
    const streams = new DayStreams(() => undefined);
    for (let i = 0; i < 50_000; i++) streams.admit(0, i, Infinity);
    for (let i = 1; i <= 50_000; i++) streams.admit(i, 0, Infinity);
    expect(streams.count).to.be.within(99_000, 100_000);
  });

  it('end at the ceiling: known ones go on, and new ones are refused', () => {
    const streams = new DayStreams(() => undefined);
    const [known, others] = [ids.slice(0, 3000), ids.slice(3000, 10_000)];
    for (const [high, low] of known) streams.admit(high, low, 3000);
    for (const [high, low] of known) expect(streams.admit(high, low, 3000)).to.equal(true);
    for (let at = 0; streams.count < 3000; at++) streams.admit(...(ids[20_000 + at] as [number, number]), 3000);
    const admitted = others.filter(([high, low]) => streams.admit(high, low, 3000)).length;
    expect(admitted).to.be.below(100);
  });
});

describe('a tenant with more streams than it may have', () => {
  const codec = new EntryCodec();
  const write = (tenantId: number, hosts: readonly string[], time?: string): EntryWriter => {
    const writer = new EntryWriter(codec, { ...DEFAULTS, tenantId, streamsPerDay: 3 });
    for (const host of hosts) writer.add({ _msg: host, host, _time: time });
    return writer;
  };
  const streams = (writer: EntryWriter): unknown[] => entriesOf(writer).map((entry) => [entry.get('host'), entry.get('_stream')]);
  const own = (...hosts: string[]): unknown[] => hosts.map((host) => [host, `{host="${host}"}`]);

  it('has the entries of further ones in the stream {}, with their fields', () => {
    const first = write(1, ['a', 'b', 'a', 'c', 'd', 'b', 'e']);
    expect(first.limited).to.equal(2);
    expect(streams(first)).to.deep.equal([...own('a', 'b', 'a', 'c'), ['d', '{}'], ...own('b'), ['e', '{}']]);
    const next = write(1, ['d', 'c']);
    expect(next.limited).to.equal(1);
    expect(streams(next)).to.deep.equal([['d', '{}'], ...own('c')]);
  });

  it('does not limit another day, or another tenant', () => {
    const yesterday = new Date(Number(RECEIVED_AT / 1_000_000n) - 86_400_000).toISOString();
    expect(streams(write(1, ['x', 'y'], yesterday))).to.deep.equal(own('x', 'y'));
    expect(streams(write(2, ['x', 'y', 'z']))).to.deep.equal(own('x', 'y', 'z'));
  });
});
