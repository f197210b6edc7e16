import { expect } from 'chai';
import { extent } from '../../extent.ts';
import { isPresent, loadCases, loadEntries } from '../../logsql/conformance.ts';
import { parse } from '../../logsql/support.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';
import { TailClient, type Message } from '../tail-client.ts';
import { renderEntry } from '../../../pipeline/core/entry.ts';

/** Public queries that can run live, without what depends on the moment or on chance; queries inside them run when the tail begins. */
function liveQueries(): string[] {
  const texts = loadCases().map(({ query }) => query);
  return [...new Set(texts)].filter((text) => {
    try {
      return (
        parse(text).liveTail &&
        !/\| *(fields?|uniq) [^|]*\)/.test(text) &&
        !/sample|rand|now|_time:|_time:\[|offset|_stream_id/.test(text) &&
        !text.includes('options(')
      );
    } catch {
      return false;
    }
  });
}

/** A row whose fields stand in the order of their names: a pipe that writes a field puts it where it was, if it was read. */
const inOrder = (row: Message): string => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));

describe('a live tail and search', function () {
  this.timeout(900_000);
  let instance: Instance;
  const clients: TailClient[] = [];
  before(async () => {
    if (!isPresent) throw new Error('THE CONFORMANCE DATA IS ABSENT: set LOGWEIR_SHARED');
    instance = await sharedInstance();
  });
  after(() => {
    for (const client of clients) client.close();
  });

  it('give the same, for the public queries', async () => {
    const all = liveQueries();
    expect(all.length).to.be.greaterThan(500);
    const step = extent(Math.ceil(all.length / 20), 1);
    const queries = all.filter((_query, index) => index % step === 0);
    const now = Date.now();
    const entries = loadEntries()
      .filter((_entry, index) => index % 5 === 0)
      .map((entry, index) => ({
        ...(JSON.parse(renderEntry(entry)) as Message),
        _time: new Date(now - index).toISOString(),
        n_of_test: index,
      }));
    const faults: string[] = [];
    // no more than what the filters of one tenant may take
    for (let from = 0; from < queries.length; from += 30) {
      const tenant = await newTenant(instance);
      const own = { Authorization: `Bearer ${tenant.key}` };
      const url = `${instance.app}/ws/livetail/${String(tenant.id)}`;
      const group = queries.slice(from, from + 30);
      const ready = (query: string): Promise<TailClient> => TailClient.ready(url, tenant.key, { query });
      const tails = await Promise.all(group.map((query) => ready(query).catch(String)));
      const end = await ready('*');
      clients.push(...tails.filter((tail) => typeof tail !== 'string'), end);
      for (let at = 0; at < entries.length; at += 100) {
        const { status } = await instance.call('POST', `${instance.ingest}/api/v1/ingest`, entries.slice(at, at + 100), { ...own, 'X-Stream-Fields': 'app,host' }); // prettier-ignore
        expect(status).to.equal(200);
        await end.has(Math.min(at + 100, entries.length));
      }
      const search = async (query: string): Promise<Message[]> => {
        const { body } = await instance.call(
          'POST',
          `${instance.app}/api/v1/tenants/${String(tenant.id)}/search?enrich=false`,
          { query, limit: 10_000, start: '-2d' },
          own,
        );
        return (body as { logs?: Message[] }).logs ?? [{ failed: JSON.stringify(body) }];
      };
      await until(
        'the stored entries',
        () => search('* | stats count() n'),
        ([row]) => Number(row?.['n']) === entries.length,
      );
      for (const [index, query] of group.entries()) {
        const tail = tails[index];
        if (tail === undefined || typeof tail === 'string') {
          faults.push(`${query}: ${String(tail)}`);
          continue;
        }
        const sorted = (rows: readonly Message[]): string[] => rows.map(inOrder).sort();
        const found = sorted(await search(query));
        const got = await until(
          query,
          () => Promise.resolve(sorted(tail.entries)),
          ({ length }) => length >= found.length,
          60_000,
        ).catch(() => sorted(tail.entries));
        const dropped = tail.controls.filter(({ type }) => type === 'dropped');
        if (dropped.length > 0 || JSON.stringify(got) !== JSON.stringify(found))
          faults.push(
            `${query}\n  tail ${String(got.length)}, search ${String(found.length)} ${JSON.stringify(dropped)}\n  ${String(got[0])}\n  ${String(found[0])}`,
          );
      }
      for (const client of clients.splice(0)) client.close();
    }
    expect(faults, faults.slice(0, 20).join('\n')).to.deep.equal([]);
  });
});
