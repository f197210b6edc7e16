import { expect } from 'chai';
import { ExpiredStages } from '../../../../pipeline/bus/dead-letters/expired-stages.ts';
import type { StoredDeadLetter } from '../../../../pipeline/bus/dead-letters/dead-letters.ts';

const letter = (stage: string, topic: string, at: number, reason: StoredDeadLetter['reason'] = 'expired'): StoredDeadLetter => ({
  ...{ reason, detail: '', stage, topic, partition: 0, offset: 1, version: '1', at },
  original: { key: null, value: null, headers: {}, timestamp: '1' },
});

describe('sinks that records have passed by', () => {
  it('are those of dead letters, which are read as they come', async () => {
    const letters = [letter('sink logs', 'logs.v1', 3, 'refused'), letter('sink logs of the set b', 'logs.v1', 5)];
    const reads: number[] = [];
    const stages = new ExpiredStages({
      end: () => Promise.resolve(letters.length),
      deadLetters: {
        read: (from, take) => {
          reads.push(from);
          return take(letters.filter(({ at }) => at >= from));
        },
      },
    });
    await Promise.all([stages.look(), stages.look()]);
    expect([...stages.topics]).to.deep.equal([['sink logs of the set b', 'logs.v1']]);
    await stages.look();
    letters.push(letter('sink spans', 'spans.v1', 7));
    await stages.look();
    expect([...stages.topics.keys()]).to.deep.equal(['sink logs of the set b', 'sink spans']);
    expect(reads).to.deep.equal([0, 5]);
  });
});
