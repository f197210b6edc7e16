import { expect } from 'chai';
import { MAX_TALLIED_KEYS, MAX_TALLIED_REASONS, Tallies } from '../../../api/limits/tallies.ts';

const DAY = 20_000;
const DAY_MS = 86_400_000;

describe('tallies', () => {
  let now: number;
  let nodes: Tallies[];
  const clock = (): number => now;
  /** What one has to tell reaches the others, and itself. */
  const tell = (from: Tallies): number => {
    const news = from.takeNews();
    for (const record of news) for (const node of nodes) expect(node.fold(record)).to.equal(true);
    return news.length;
  };

  beforeEach(() => {
    now = DAY * DAY_MS;
    nodes = [new Tallies('a', clock), new Tallies('b', clock), new Tallies('c', clock)];
  });

  it('adds up what all processes have counted, however often it is told', () => {
    const [a, b, c] = nodes as [Tallies, Tallies, Tallies];
    a.take(1, 'k1', 'logs', { bytes: 10, rows: 1 });
    a.take(1, 'k1', 'logs', { bytes: 5, rows: 2 });
    b.take(1, 'k1', 'logs', { bytes: 1, rows: 1 });
    b.take(1, 'k2', 'spans', { bytes: 100, rows: 3 });
    b.take(2, 'k3', 'logs', { bytes: 7, rows: 7 });
    expect(tell(a)).to.equal(1);
    const news = b.takeNews();
    for (const record of [...news, ...news]) for (const node of nodes) node.fold(record);
    for (const node of [a, b, c])
      expect(node.of(1, DAY).taken).to.deep.equal([
        { keyId: 'k2', signal: 'spans', bytes: 100, rows: 3, requests: 1 },
        { keyId: 'k1', signal: 'logs', bytes: 16, rows: 4, requests: 3 },
      ]);
    expect(c.of(2, DAY).taken.map(({ bytes }) => bytes)).to.deep.equal([7]);
    expect(c.of(3, DAY)).to.deep.equal({ taken: [], refused: [] });
  });

  it('has the sentence of the last refusal of each reason', () => {
    const [a, b, c] = nodes as [Tallies, Tallies, Tallies];
    const rate = { signal: 'logs', status: 429, error: 'rate_limited' };
    a.refuse(1, rate, { reason: 'first' });
    now += 1000;
    b.refuse(1, rate, { reason: 'second'.padEnd(1000, '!') });
    a.refuse(1, { signal: 'logs', status: 200, error: 'form' }, { reason: 'not JSON', entries: 12 });
    tell(b);
    tell(a);
    const { refused } = c.of(1, DAY);
    expect(refused).to.have.length(2);
    expect(refused.find(({ status }) => status === 429)).to.deep.include({ requests: 2, entries: 0, at: now });
    expect(refused.find(({ status }) => status === 429)?.reason)
      .to.match(/^second!+$/)
      .and.have.length(300);
    expect(refused.find(({ status }) => status === 200)).to.deep.include({ requests: 0, entries: 12 });
  });

  it('tells again what could not be told, and nothing without news', () => {
    const [a, , c] = nodes as [Tallies, Tallies, Tallies];
    a.take(1, 'k', 'logs', { bytes: 1, rows: 1 });
    a.returned(a.takeNews());
    a.take(1, 'k', 'logs', { bytes: 1, rows: 1 });
    expect(tell(a)).to.equal(1);
    expect(tell(a)).to.equal(0);
    expect(c.of(1, DAY).taken[0]?.bytes).to.equal(2);
  });

  it('keeps today and two days', () => {
    const [a, , c] = nodes as [Tallies, Tallies, Tallies];
    for (let day = 0; day < 4; day++) {
      a.take(1, 'k', 'logs', { bytes: 1, rows: 1 });
      tell(a);
      now += DAY_MS;
    }
    now -= DAY_MS;
    tell(c);
    expect([0, 1, 2, 3].map((day) => c.of(1, DAY + day).taken.length)).to.deep.equal([0, 1, 1, 1]);
  });

  it('is bounded in keys and reasons: what is more is counted under no name', () => {
    const [a, , c] = nodes as [Tallies, Tallies, Tallies];
    for (let n = 0; n < MAX_TALLIED_KEYS + 10; n++) a.take(1, `k${String(n)}`, 'logs', { bytes: 1, rows: 1 });
    for (let n = 0; n < MAX_TALLIED_REASONS + 10; n++)
      a.refuse(1, { signal: 'logs', status: 400, error: `e${String(n)}` }, { reason: 'x' });
    tell(a);
    const { taken, refused } = c.of(1, DAY);
    expect([taken.length, refused.length]).to.deep.equal([MAX_TALLIED_KEYS + 1, MAX_TALLIED_REASONS + 1]);
    expect(taken.find(({ keyId }) => keyId === '')?.requests).to.equal(10);
    expect(refused.find(({ error }) => error === '')?.requests).to.equal(10);
  });

  it('leaves foreign records alone, and those of a later version', () => {
    const [a] = nodes as [Tallies];
    expect(a.fold({ key: 'node:x', value: '{}' })).to.equal(false);
    const good = '{"v":2,"taken":[["k","logs",1,1,1]],"refused":[]}';
    for (const [key, value] of [
      [`tally:x:1:${String(DAY)}`, null],
      [`tally:x:1:${String(DAY)}`, '{'],
      [`tally:x:1:${String(DAY)}`, 'null'],
      [`tally:x:1:${String(DAY)}`, good.replace('"v":2', '"v":3')],
      [`tally:x:1:${String(DAY)}`, good.replace('1,1,1', '-1,1,1')],
      [`tally:x:1:${String(DAY)}`, good.replace('[["k"', '["k",["k"')],
      [`tally:x:1:${String(DAY + 5)}`, good],
      [`tally:x:__proto__:${String(DAY)}`, good],
      ['tally:', good],
    ] as const)
      expect(a.fold({ key, value })).to.equal(true);
    expect(a.of(1, DAY).taken).to.deep.equal([]);
    a.fold({ key: `tally:x:1:${String(DAY)}`, value: good });
    expect(a.of(1, DAY).taken).to.have.length(1);
  });
});
