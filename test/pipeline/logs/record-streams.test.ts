import { expect } from 'chai';
import { RecordStreams } from '../../../pipeline/logs/record-streams.ts';
import { framesOf } from '../../../pipeline/rows/frames.ts';
import { varint } from '../../../pipeline/rows/native.ts';
import { STREAM_HEADS, StreamList } from '../../../pipeline/logs/stream-list.ts';
import { Random } from '../../fuzz/random.ts';
import { readStreams } from '../../fakes/log-record.ts';

type Known = Map<string, { text: string; days: number[] }>;

const idOf = (high: number, low: number): string => String((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0));

/** A list, and what it must hold. */
function drawn(random: Random, count: number): { readonly list: StreamList; readonly expected: Known } {
  const list = new StreamList();
  const expected: Known = new Map();
  for (let n = 0; n < count; n++) {
    // few different halves, so that ids share one
    const [high, low, day] = [random.below(9) - 4, random.below(300) - 150, random.pick([-3, 0, 20_777, 20_778])];
    const id = idOf(high, low);
    const text = `{host="${id}${'é'.repeat(random.below(90))}"}`;
    const known = expected.get(id);
    if (known === undefined) expected.set(id, { text, days: [day] });
    else if (!known.days.includes(day)) known.days.push(day);
    list.addText(high, low, Buffer.from(known?.text ?? text), [day]);
  }
  return { list, expected };
}

describe('the streams of a record', () => {
  it('are read as they were written, whatever days and halves they share', () => {
    const random = new Random(11);
    for (const count of [0, 1, 2, 12, 13, 40, 3000]) {
      const { list, expected } = drawn(random, count);
      const streams = readStreams(list);
      expect(streams.toMap()).to.deep.equal(expected);
      expect(streams.count).to.equal(expected.size);
      expect(streams.firstDay).to.equal(Math.min(...[...expected.values()].flatMap(({ days }) => days)));
      expect(list.encode().length).to.be.at.most(list.bytes + 200);
    }
  });

  it('are those of both lists where one is appended to another', () => {
    const random = new Random(12);
    for (let round = 0; round < 40; round++) {
      const [one, other] = [drawn(random, random.below(200)), drawn(random, random.below(200))];
      one.list.append(other.list);
      for (const [id, { text, days }] of other.expected) {
        const known = one.expected.get(id);
        one.expected.set(id, { text: known?.text ?? text, days: [...new Set([...(known?.days ?? []), ...days])] });
      }
      expect(readStreams(one.list).toMap()).to.deep.equal(one.expected);
    }
  });

  it('are found by id, however many there are', () => {
    const list = new StreamList();
    for (let n = 0; n < 60_000; n++) list.addText(0, n << 16, Buffer.from('{}'), [1]);
    expect(readStreams(list).count).to.equal(60_000);
  });

  it('are refused where anything of them is wrong, and nothing is thrown, whatever byte is changed', () => {
    const { list } = drawn(new Random(13), 20);
    const good = list.encode();
    const random = new Random(14);
    let refused = 0;
    for (let n = 0; n < 5000; n++) {
      const bad = Buffer.from(good);
      for (let changes = 1 + random.below(3); changes > 0; changes--) bad[random.below(bad.length)] = random.below(256);
      if (RecordStreams.read(random.below(10) === 0 ? bad.subarray(0, random.below(bad.length)) : bad) === null) refused += 1;
    }
    expect(refused).to.be.within(500, 4999);
  });

  const [idHead, textHead, daysHead] = STREAM_HEADS as [Buffer, Buffer, Buffer];
  const number = (value: number, width: 4 | 8): Buffer => {
    const bytes = Buffer.alloc(width);
    bytes.writeInt32LE(value);
    return bytes;
  };
  const text = Buffer.from('{app="x"}');
  const parts = {
    columns: varint(3),
    rows: varint(1),
    idHead,
    id: Buffer.alloc(8, 1),
    textHead,
    length: varint(text.length),
    text,
    daysHead,
    end: number(1, 8),
    day: number(20_777, 4),
  };
  const framed = (changed: Partial<typeof parts> & { rest?: Buffer } = {}): Buffer =>
    framesOf((to) => {
      for (const bytes of Object.values({ ...parts, ...changed })) to.put(bytes);
    });

  it('are read where nothing is', () => expect(RecordStreams.read(framed())?.toMap().size).to.equal(1));

  for (const [what, changed] of [
    ['another number of columns', { columns: varint(4) }],
    ['no rows', { rows: varint(0) }],
    ['more rows than there are', { rows: varint(2) }],
    ['more rows than a record has', { rows: varint(2 ** 20) }],
    ['another column', { textHead: idHead }],
    ['a label set that is none', { text: Buffer.from('{app=x"}}') }],
    ['no day', { end: number(0, 8), day: Buffer.alloc(0) }],
    ['days that are not there', { end: number(2, 8) }],
    ['a day that is none', { day: number(99_999_999, 4) }],
    ['bytes after its last column', { rest: Buffer.alloc(1) }],
  ] as const)
    it(`are refused with ${what}`, () => expect(RecordStreams.read(framed(changed))).to.equal(null));
});
