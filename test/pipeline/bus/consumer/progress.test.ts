import { expect } from 'chai';
import { pino } from 'pino';
import { encodeMetadata } from '../../../../pipeline/bus/reading/commit-metadata.ts';
import { readProgress, type ProgressOptions } from '../../../../pipeline/bus/consumer/progress.ts';
import type { Commitment } from '../../../../pipeline/bus/reading/group-positions.ts';

/** A partition: append times of its records, and what a group has committed. `ends` are told one after the other, the last one for ever. */
function admin(times: readonly number[], committed: Commitment, ends: readonly number[] = [times.length]): ProgressOptions['admin'] {
  let asked = 0;
  const end = (): string => String(ends[Math.min(asked, ends.length - 1)]);
  return {
    fetchOffsets: () => Promise.resolve([{ topic: 't', partitions: [{ partition: 0, ...committed }].map((one) => ({ ...one, offset: String(one.offset) })) }]), // prettier-ignore
    fetchTopicOffsets: () => {
      const offset = end();
      asked += 1;
      return Promise.resolve([{ partition: 0, offset, low: '0', high: offset }]);
    },
    fetchTopicOffsetsByTimestamp: (_topic, from = 0) => {
      const at = times.findIndex((time) => time >= from);
      return Promise.resolve([{ partition: 0, offset: at < 0 ? end() : String(Math.min(at, Number(end()))) }]);
    },
  };
}

const read = (from: ProgressOptions['admin'], more: Partial<ProgressOptions> = {}): ReturnType<typeof readProgress> =>
  readProgress({
    admin: from,
    log: pino({ level: 'silent' }),
    groupId: 'g',
    topic: 't',
    partition: 0,
    last: undefined,
    settleMs: 0,
    ...more,
  });
const metadata = (offset: number, intentEnd: number | null, appendedBy: number, dead: readonly number[] = []): string =>
  encodeMetadata(offset, intentEnd, dead, { appendedBy, inDoubtTo: -1 });
const TIMES = [10, 20, 30, 40, 50, 60, 70, 80];

describe('where a group stands', () => {
  it('is what it has committed, where the log goes on behind it', async () => {
    expect(await read(admin(TIMES, { offset: 5, metadata: metadata(5, null, 50) }))).to.include({ from: 5, intent: null, inDoubtTo: -1 });
    expect((await read(admin(TIMES, { offset: 5, metadata: metadata(5, 6, 70, [2]) }))).intent).to.deep.equal({ start: 5, end: 6 });
    // all is read, and records of one moment may be on both sides
    expect(await read(admin(TIMES, { offset: 8, metadata: metadata(8, null, 80) }))).to.include({ from: 8, inDoubtTo: -1 });
    expect(await read(admin([5, 5, 5, 5], { offset: 2, metadata: metadata(2, null, 5) }))).to.include({ from: 2, inDoubtTo: -1 });
  });

  it('is the beginning where it has committed nothing, and what this process committed where kafkajs has committed its mark', async () => {
    expect(await read(admin(TIMES, { offset: -1, metadata: '' }))).to.include({ from: 0, inDoubtTo: -1 });
    expect(await read(admin(TIMES, { offset: -2, metadata: '' }))).to.include({ from: 0, inDoubtTo: -1 });
    expect(await read(admin(TIMES, { offset: -2, metadata: '' }), { last: { offset: 4, metadata: metadata(4, null, 40) } })).to.include({
      from: 4,
    });
    // another member may have committed since
    expect(
      await read(admin(TIMES, { offset: 6, metadata: metadata(6, null, 60) }), { last: { offset: 4, metadata: metadata(4, null, 40) } }),
    ).to.include({ from: 6 });
  });

  const lost: readonly (readonly [string, readonly number[], Commitment, { readonly from: number; readonly inDoubtTo: number }])[] = [
    ['the end of the log, where that lies before it', [10, 20, 30], { offset: 5, metadata: metadata(5, null, 50) }, { from: 3, inDoubtTo: 4 }],
    ['that also where an older version committed', [10, 20, 30], { offset: 5, metadata: '' }, { from: 3, inDoubtTo: 4 }],
    ['the first new record, where new ones have its offsets', [10, 20, 90, 91, 92, 93, 94], { offset: 5, metadata: metadata(5, null, 50) }, { from: 2, inDoubtTo: 4 }],
    ['the beginning of an intent whose range the log has lost in part', [10, 20, 30, 40], { offset: 2, metadata: metadata(2, 6, 70) }, { from: 2, inDoubtTo: 6 }],
    ['the first new record before an intent', [10, 90, 91, 92, 93, 94, 95, 96], { offset: 2, metadata: metadata(2, 6, 70) }, { from: 1, inDoubtTo: 6 }],
  ]; // prettier-ignore
  for (const [name, times, committed, expected] of lost)
    it(`is ${name}`, async () => expect(await read(admin(times, committed))).to.deep.include({ ...expected, intent: null }));

  it('forgets dead letters behind the end of the log', async () => {
    const { dead } = await read(admin([10, 20, 30], { offset: 6, metadata: metadata(6, null, 60, [1, 2, 3, 5]) }));
    expect([...dead].sort()).to.deep.equal([1, 2]);
  });

  it('waits for an end that is not told yet', async () => {
    const committed = { offset: 8, metadata: metadata(8, null, 80) };
    expect(await read(admin(TIMES, committed, [6, 6, 8]), { settleMs: 60_000 })).to.include({ from: 8, inDoubtTo: -1 });
    expect(await read(admin(TIMES, committed, [6, 6, 8]))).to.include({ from: 6, inDoubtTo: 7 });
  }).timeout(240_000);
});
