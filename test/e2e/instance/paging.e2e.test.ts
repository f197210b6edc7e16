import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { until, type Instance } from '../instance.ts';
import { sharedInstance } from '../shared.ts';

type Page = {
  readonly logs: readonly { readonly n: string; readonly _time: string }[];
  readonly has_more: boolean;
  readonly oldest_time: string | null;
};

describe('queries while entries arrive', function () {
  this.timeout(600_000);
  let instance: Instance;
  let token = '';
  before(async () => {
    instance = await sharedInstance();
    token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
  });

  async function tenantOn(plan: string): Promise<{ readonly base: string; readonly headers: { readonly Authorization: string } }> {
    const made = await instance.call(
      'POST',
      `${instance.admin}/admin/tenants`,
      { name: 'paging', plan },
      { Authorization: `Bearer ${token}` },
    );
    const { tenant_id: id, key } = made.body as { readonly tenant_id: number; readonly key: string };
    return { base: `${instance.app}/api/v1/tenants/${String(id)}`, headers: { Authorization: `Bearer ${key}` } };
  }

  it('pages show every entry that was there once, and none twice, though others arrive with the same times', async () => {
    const { base, headers } = await tenantOn('unlimited');
    const second = Math.floor(Date.now() / 1000) - 600;
    // ten times, each of many entries, so that nearly every page ends inside a run
    const times = Array.from({ length: 10 }, (_none, index) => new Date((second + index) * 1000).toISOString());
    const send = async (name: string, count: number): Promise<void> => {
      const lines = Array.from({ length: count }, (_none, index) =>
        JSON.stringify({ _time: times[index % 10], _msg: 'x', n: `${name}-${String(index)}` }),
      );
      const { status } = await instance.call('POST', `${instance.ingest}/api/v1/ingest`, lines.join('\n'), headers);
      expect(status).to.equal(200);
    };
    const page = async (before: string | null): Promise<Page> => {
      const body = { query: '*', limit: 37, start: times[0], end: 'now', before };
      const answer = await instance.call('POST', `${base}/search`, body, headers);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      return answer.body as Page;
    };
    for (let batch = 0; batch < 4; batch += 1) await send(`old${String(batch)}`, 200);
    const all = async (): Promise<number> =>
      ((await instance.call('POST', `${base}/search`, { query: '*', limit: 10_000, start: times[0] }, headers)).body as Page).logs.length;
    await until('the entries to be searchable', all, (count) => count === 800);

    const reading = new AbortController();
    const writing = (async () => {
      for (let batch = 0; !reading.signal.aborted && batch < 200; batch += 1) await send(`new${String(batch)}`, 20);
    })();
    const seen: string[] = [];
    let pages = 0;
    for (let before: string | null = null; ;) {
      const { logs, has_more: hasMore, oldest_time: oldest } = await page(before);
      pages += 1;
      seen.push(...logs.map(({ n }) => n));
      if (!hasMore) break;
      expect(logs).to.have.length(37);
      before = oldest;
    }
    reading.abort();
    await writing;
    expect(new Set(seen).size, 'an entry came twice').to.equal(seen.length);
    expect(seen.filter((n) => n.startsWith('old'))).to.have.length(800);
    expect(pages).to.be.at.least(22);
    expect(await until('the others to be searchable', all, (count) => count > 800)).to.be.above(800);
  });

  it("VictoriaLogs' paths answer on the app host with the same keys, and are no paths of the ingest host", async () => {
    const { headers } = await tenantOn('team');
    const answer = await instance.call('GET', `${instance.app}/select/logsql/hits?query=*`, undefined, headers);
    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.equal({ hits: [] });
    expect((await instance.call('GET', `${instance.ingest}/select/logsql/hits?query=*`, undefined, headers)).status).to.equal(404);
    expect((await instance.call('GET', `${instance.ingest}/select/logsql/query`, undefined, { Authorization: '' })).status).to.equal(404);
    expect((await instance.call('GET', `${instance.app}/select/logsql/query`, undefined, { Authorization: '' })).status).to.equal(401);
  });

  it('the query rate is that of the plan: a burst of a minute, then 429 with the seconds to wait', async () => {
    const { base, headers } = await tenantOn('trial_expired');
    const statuses: number[] = [];
    const refusals: { readonly headers: Headers; readonly body: unknown }[] = [];
    const paths = ['streams', 'hits?step=1d', 'facets'];
    // several at a time: five come back each second, and more than that must be asked on a busy machine too
    const ask = async (): Promise<void> => {
      while (refusals.length === 0) {
        const answer = await instance.call('GET', `${base}/${paths[statuses.length % 3] ?? ''}`, undefined, headers);
        statuses.push(answer.status);
        if (answer.status === 429) refusals.push(answer);
      }
    };
    await Promise.all(Array.from({ length: 8 }, ask));
    const [refused] = refusals;
    expect(statuses.slice(0, 300).every((status) => status === 200)).to.equal(true);
    expect(Number(refused?.headers.get('retry-after'))).to.equal(1);
    expect(refused?.body).to.have.property('detail').that.contains('300 queries a minute');
    expect(refused?.body).to.have.property('request_id', refused?.headers.get('x-request-id'));
  });
});
