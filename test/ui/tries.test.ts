import { expect } from 'chai';
import { ApiError } from '../../web/client/client.ts';
import { nextTry, patiently } from '../../web/ui/base/tries.ts';
import { respelt } from '../../web/ui/explore/misspelt.ts';
import { quotaOf } from '../../web/ui/frame/quota.ts';

describe('what the pages do and report by themselves', () => {
  it('try again once after a 429, as it asks for, and thrice after a 503', () => {
    const waits = (status: number, retryAfter: number | null): (number | null)[] => [0, 1, 2, 3].map((tries) => nextTry({ status, retryAfter }, tries)); // prettier-ignore
    expect(waits(429, 7)).to.deep.equal([7, null, null, null]);
    expect(waits(429, 0)[0]).to.equal(1);
    expect(waits(429, null)[0]).to.equal(null);
    expect(waits(429, 86_400)[0]).to.equal(null);
    expect(waits(503, null)).to.deep.equal([1, 2, 4, null]);
    expect(waits(503, 3)).to.deep.equal([3, 3, 4, null]);
    for (const status of [400, 403, 413, 500, 504]) expect(waits(status, 1), String(status)).to.deep.equal([null, null, null, null]);
  });

  it('wait with a part of something long, as often as they are asked to, and not longer than a minute', async () => {
    /** What is waited for first, and what it ends with; whoever waits is stopped. */
    const waited = async (thrown: Error): Promise<{ readonly seconds: number | null; readonly ended: unknown }> => {
      const stopping = new AbortController();
      let seconds: number | null = null;
      const onWait = (one: number): void => {
        seconds = one;
        stopping.abort('stopped');
      };
      const ended: unknown = await patiently(() => Promise.reject(thrown), stopping.signal, onWait).catch((error: unknown) => error);
      return { seconds, ended };
    };
    const refused = (status: number, retryAfter: number | null): ApiError => new ApiError(status, 'no', '', retryAfter);
    expect(await waited(refused(429, 60))).to.deep.equal({ seconds: 60, ended: 'stopped' });
    expect(await waited(refused(429, null))).to.deep.equal({ seconds: 1, ended: 'stopped' });
    expect(await waited(refused(503, null))).to.deep.equal({ seconds: 1, ended: 'stopped' });
    expect(await waited(new TypeError('not reached'))).to.deep.equal({ seconds: 1, ended: 'stopped' });
    for (const error of [refused(429, 61), refused(503, 61), refused(403, 1), refused(504, 1)])
      expect(await waited(error)).to.deep.equal({ seconds: null, ended: error });
    const nothing = new AbortController().signal;
    expect(
      await patiently(
        () => Promise.resolve(7),
        nothing,
        () => expect.fail('it waits'),
      ),
    ).to.equal(7);
  });

  it('report a volume that nears its end, and one that is used up', () => {
    const of = (used: number | null, limit: number | null) =>
      quotaOf({ limits: [{ name: 'daily_volume', unit: 'bytes', limit, used, clears_at: null, clears: '' }] });
    expect(of(79, 100)).to.equal(null);
    expect(of(80, 100)?.text).to.match(/^80 % of the volume of today is used, 80 B of 100 B\./);
    expect(of(99.9, 100)?.text).to.match(/^99 %/);
    expect(of(100, 100)).to.deep.equal({ kind: 'error', text: 'The volume of today, 100 B, is used up: new logs are refused until 00:00 UTC.' }); // prettier-ignore
    for (const [used, limit] of [[5, 0], [5, null], [null, 5]] as const) expect(of(used, limit)).to.equal(null); // prettier-ignore
    expect(quotaOf({ limits: [] })).to.equal(null);
  });

  it('find the field that was meant', () => {
    const known = ['level', 'service', 'user_id', 'host'];
    expect(respelt('servcie:api levl:error took | stats count()', known)).to.deep.equal([
      { from: 'servcie', to: 'service', next: 'service:api levl:error took | stats count()' },
      { from: 'levl', to: 'level', next: 'servcie:api level:error took | stats count()' },
    ]);
    expect(respelt('level:error', known)).to.deep.equal([]);
    expect(respelt('NOT "levl":levl', known).map(({ next }) => next)).to.deep.equal(['NOT "level":levl']);
    expect(respelt('__proto__:x', known)).to.deep.equal([]);
    expect(respelt(`${'x'.repeat(10_000)}:y`, ['x'.repeat(10_001)])).to.deep.equal([]);
  });
});
