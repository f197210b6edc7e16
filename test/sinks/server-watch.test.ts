import { ClickHouseError } from '@clickhouse/client';
import { expect } from 'chai';
import { ServerWatch } from '../../sinks/server-watch.ts';

/** What a server says of itself: which one it is, since when it is up, seconds, and how many blocks it has dropped; or that it may not be asked. */
type Said = readonly [server: string, uptime: number, dropped: number] | 'denied';

/** A server that says one after the other; the last answer again and again. */
function watchOf(...said: readonly Said[]): ServerWatch {
  let next = 0;
  const denied = new ClickHouseError({ message: 'no', code: '497', type: 'ACCESS_DENIED' });
  return new ServerWatch({
    ownerRows: (text: string) => {
      const now = said[Math.min(next, said.length - 1)] ?? 'denied';
      if (now === 'denied') return text.includes('system.events') ? Promise.reject(denied) : Promise.resolve([['1000']]);
      next += 1;
      return Promise.resolve([now.map(String)]);
    },
  });
}

describe('what a server has dropped', () => {
  const cases: readonly (readonly [about: string, said: readonly Said[], isCertain: boolean])[] = [
    ['nothing', [['a', 100, 5], ['a', 100, 5]], true],
    ['a block, perhaps of another insert', [['a', 100, 5], ['a', 100, 7]], false],
    ['as much since it began anew', [['a', 100, 5], ['a', 3, 5]], false],
    ['less since it began anew', [['a', 100, 5], ['a', 106, 0]], false],
    ['as much as another server', [['a', 100, 5], ['b', 100, 5]], false],
    ['nothing since it is up, which is not for long', [['a', 4, 0], ['a', 4, 0]], false],
    ['what nobody may ask', ['denied'], false],
  ]; // prettier-ignore
  for (const [about, said, isCertain] of cases)
    it(`${about}: it is ${isCertain ? '' : 'not '}certain that all is kept`, async () => {
      const watch = watchOf(...said);
      expect(await watch.hasDroppedNone(await watch.recent())).to.equal(isCertain);
    });

  it('is asked once for inserts that begin at a time, and after each of them', async () => {
    let asked = 0;
    const watch = new ServerWatch({ ownerRows: () => Promise.resolve([['a', '100', String(asked++)]]) });
    const [one, other] = [await watch.recent(), await watch.recent()];
    expect([one, asked]).to.deep.equal([other, 1]);
    await watch.hasDroppedNone(one);
    await watch.hasDroppedNone(other);
    expect(asked).to.equal(3);
  });

  it('is of another run where a server has begun anew, and of the same where it has not', async () => {
    for (const [said, runs] of [
      [
        [
          ['a', 100, 5],
          ['a', 101, 9],
        ],
        [1, 1],
      ],
      [
        [
          ['a', 100, 5],
          ['a', 2, 0],
        ],
        [1, 2],
      ],
      [['denied'], [1, 1]],
    ] as const) {
      const watch = watchOf(...said);
      const first = await watch.recent();
      await watch.hasDroppedNone(first);
      expect([first.run, (await watch.recent()).run]).to.deep.equal(runs);
    }
  });
});
