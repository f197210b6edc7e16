import { expect } from 'chai';
import { RefusedRecords } from '../../../api/query/refused-records.ts';
import type { StoredDeadLetter } from '../../../pipeline/bus/dead-letters/dead-letters.ts';

const letter = (tenant: string, more: Partial<StoredDeadLetter> = {}): StoredDeadLetter => ({
  ...{ reason: 'refused', detail: '', stage: '', topic: 'logs.v1', partition: 0, offset: 1, version: '1', at: 5 },
  original: { key: null, value: null, headers: { tenant: Buffer.from(tenant) }, timestamp: '1' },
  ...more,
});

describe('records that could not be stored', () => {
  const readers = (letters: StoredDeadLetter[], stage?: string) => {
    const reads: number[] = [];
    const records = new RefusedRecords({
      ...{ topic: 'logs.v1', ...(stage === undefined ? {} : { stage }) },
      end: () => Promise.resolve(letters.length),
      deadLetters: {
        read: async (from, take) => {
          reads.push(from);
          return take(letters.filter(({ at }) => at >= from));
        },
      },
    });
    return { reads, records };
  };

  it('are those of the dead letters of the topic, which are read when there are more', async () => {
    const letters = [letter('3'), letter('4', { topic: 'counters.v1' }), letter('')];
    const { reads, records } = readers(letters);
    expect(await records.known()).to.deep.equal({ tenants: new Set([3]), isUnknown: false });
    await records.known();
    letters.push(letter('8', { at: 9 }));
    expect(await records.known()).to.deep.equal({ tenants: new Set([3, 8]), isUnknown: false });
    expect(reads).to.deep.equal([0, 5]);
  });

  it('are anybody’s where they have expired unread', async () => {
    const { records } = readers([letter('', { reason: 'expired', last: 7 })]);
    expect((await records.known()).isUnknown).to.equal(true);
  });

  it('are anybody’s in the set whose sink has not read them, and in no other', async () => {
    const expired = letter('', { reason: 'expired', last: 7, stage: 'sink logs of the set b' });
    for (const [stage, isUnknown] of [
      ['sink logs of the set b', true],
      ['sink logs', false],
    ] as const)
      expect((await readers([expired], stage).records.known()).isUnknown, stage).to.equal(isUnknown);
  });
});
