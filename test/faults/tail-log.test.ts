import { expect } from 'chai';
import { TailLog, tailFaults, type Chain, type Row, type TailEvent } from './tail-log.ts';

const entry = (uid: string, position?: string): TailEvent => ({ kind: 'entry', uid, ...(position === undefined ? {} : { position }) });
const at = (position: string): TailEvent => ({ kind: 'position', position });

describe('the log of a tail', () => {
  const chainsOf = (...events: readonly (TailEvent | 'cut')[]): readonly Chain[] => {
    const log = new TailLog();
    for (const event of events)
      if (event === 'cut') log.cut();
      else log.take(event);
    return log.chains();
  };

  it('has what came before a position, from the first one in the log to the last', () => {
    expect(
      chainsOf(at('p~1'), entry('a'), at('p~2'), entry('b'), 'cut', at('s~1~2~1'), entry('b'), at('p~3'), entry('c'), 'cut'),
    ).to.deep.equal([{ begin: 'p~1', end: 'p~3', uids: ['a', 'b'], told: 0 }]);
    expect(chainsOf(at('p~1'), entry('a', 'p~2'), entry('b', 's~2~3~1'))).to.deep.equal([
      { begin: 'p~1', end: 'p~2', uids: ['a'], told: 0 },
    ]);
    expect(chainsOf(entry('a'), 'cut')).to.deep.equal([]);
  });

  it('ends, and begins again, where not all that is stored is given', () => {
    expect(
      chainsOf(
        at('p~1'),
        entry('a'),
        at('p~2'),
        { kind: 'dropped', count: 3 },
        at('p~3'),
        at('s~1'),
        entry('x'),
        { kind: 'cut' },
        at('p~9'),
        at('p~a'),
      ),
    ).to.deep.equal([
      { begin: 'p~1', end: 'p~3', uids: ['a'], told: 3 },
      { begin: 'p~9', end: 'p~a', uids: [], told: 0 },
    ]);
  });

  const row = (uid: string, partition: number, offset: number, index = 0): Row => ({ uid, partition, offset, index });
  const rows = [row('a', 0, 35), row('b', 0, 36, 1), row('c', 0, 36, 2), row('d', 1, 5), row('e', 1, 6), row('f', 2, 0)];

  it('is held to what the table has between its places', () => {
    const faults = (begin: string, end: string, uids: readonly string[], told = 0): unknown[] =>
      tailFaults('t', { begin, end, uids, told }, rows).map(({ check, examples }) => [check, examples]);
    expect(faults('p~z_5', 'p~10.2_6', ['a', 'b', 'd'])).to.deep.equal([]);
    expect(faults('p~z_5', 'p~10.2_6_1', ['d', 'b', 'a', 'f'])).to.deep.equal([]);
    expect(faults('p~z_5', 'p~10.2_6', ['a', 'd'])).to.deep.equal([['an entry did not come (t)', ['b']]]);
    expect(faults('p~z_5', 'p~10.2_6', ['a', 'd'], 1)).to.deep.equal([]);
    expect(faults('p~z_5', 'p~10.2_6', ['a', 'b', 'd', 'a'])).to.deep.equal([['an entry came twice (t)', ['a']]]);
    expect(faults('p~10_5', 'p~10.2_6', ['a', 'b', 'd', 'e'])).to.deep.equal([
      ['an entry came that is not between the positions of its tail (t)', ['a', 'e']],
    ]);
  });
});
