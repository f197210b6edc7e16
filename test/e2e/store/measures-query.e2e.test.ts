import { expect } from 'chai';
import { pino } from 'pino';
import { appEndpoint } from '../../../api/http/endpoint.ts';
import { createQueryRoutes } from '../../../api/search/routes.ts';
import type { Plan } from '../../../api/tenants/plans.ts';
import type { Scope } from '../../../api/tenants/principal.ts';
import { formatTime } from '../../../pipeline/core/time.ts';
import type { Store } from '../../../pipeline/store/client.ts';
import { measuresSink } from '../../../sinks/measures.ts';
import { TableWriter } from '../../../sinks/writer.ts';
import { FakeKeyStore, fakePrincipal } from '../../fakes/key-store.ts';
import { HOUR, measure, measuresRange, measuresRecord, NOW } from '../../fakes/measures-record.ts';
import { startHost } from '../../fakes/test-host.ts';
import { LogsqlStore } from '../logsql-store.ts';
import { runtimeOver } from '../query-setup.ts';

type Series = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly span: number;
  readonly points: readonly (readonly [string, number])[];
};
type Answer = { readonly status: number; readonly text: string; readonly measures: readonly Series[] };

const time = (seconds: number): string => formatTime(BigInt(seconds) * 1_000_000_000n);
const ALL = { start: '1900-01-01T00:00:00Z', end: '2200-01-01T00:00:00Z' };
/** Texts that would end a literal or a statement, or name a parameter, if they became text of it. */
const ATTACKS = ["' OR 1=1 --", "\\' OR tenant_id=2 --", '{p0:UInt32}', "'); DROP TABLE measures; --", '/*', '\0', '`', 'é’', '%', '*'];

describe('GET /measures', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let owners: Store;
  let stop: () => Promise<void>;
  const urls: string[] = [];

  before(async () => {
    own = await LogsqlStore.start();
    const writer = new TableWriter({ sink: measuresSink, store: own.store, log: pino({ level: 'silent' }), mostRefused: 1, metrics: { stored: () => undefined } }); // prettier-ignore
    const labels = { service: "o'neil", zone: 'é' };
    const records = [
      measuresRecord(
        [measure({ value: 1 }), measure({ time: HOUR - 3600, value: 2 }), measure({ labels, value: 0.5 }), measure({ value: 4 })],
        1,
      ),
      // told again, out of order, and by another owner
      measuresRecord([measure({ value: 7 }), measure({ time: HOUR - 3600, value: 3 })], 5),
      measuresRecord([measure({ value: 5 })], 3),
      measuresRecord(
        [3, 2].map((value) => measure({ tenantId: 3, name: 'twice', value })),
        9,
      ),
      measuresRecord([measure({ name: 'entries', labels: {}, span: 60, value: -1e300 }), measure({ span: 60, value: 9 })], 6),
      measuresRecord([measure({ tenantId: 2, value: 99 }), measure({ tenantId: 2, name: 'secret', value: 98 })], 7),
      measuresRecord(
        [
          measure({ time: HOUR - 40 * 86_400, retentionDays: 0, value: 6 }),
          measure({ tenantId: 3, time: -3600, retentionDays: 0, value: 1 }),
        ],
        8,
      ),
    ];
    for (const [index, record] of records.entries())
      await writer.store(measuresRange({ ...record, offset: 100 + index }), false); // prettier-ignore
    const short = { plan: { ...fakePrincipal().plan, retentionDays: 14 } satisfies Plan };
    const keys = new FakeKeyStore({
      ...{ one: {}, two: { tenantId: 2 }, three: { tenantId: 3 }, short },
      writer: { scopes: new Set<Scope>(['ingest']) },
    });
    // the second one without the wall of the engine: what is seen there is what statements alone let through
    owners = own.withoutRowFilter();
    const hosts = await Promise.all(
      [own.store, owners].map((store) =>
        startHost({
          keys,
          endpoints: createQueryRoutes(runtimeOver(store, { now: () => BigInt(NOW) * 1_000_000n })).map((route) => appEndpoint(route)),
        }),
      ),
    );
    urls.push(...hosts.map(({ url }) => url));
    stop = async () => {
      await Promise.all(hosts.map((host) => host.stop()));
      await owners.close();
    };
  });
  after(async () => {
    await stop();
    await own.stop();
  });

  async function call(parameters: Readonly<Record<string, string>> | string, key = 'one', tenant = 1, url = urls[0]): Promise<Answer> {
    const query = typeof parameters === 'string' ? parameters : new URLSearchParams(parameters).toString();
    const response = await fetch(`${String(url)}/api/v1/tenants/${String(tenant)}/measures?${query}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    const text = await response.text();
    return { status: response.status, text, measures: response.status === 200 ? (JSON.parse(text) as Answer).measures : [] };
  }

  it('gives each series with the last word on each of its points', async () => {
    const { text, measures } = await call({});
    expect(measures).to.deep.equal(
      [
        { name: 'distinct_users', labels: { service: 'web', zone: 'é' }, span: 60, points: [[time(HOUR), 9]] },
        {
          ...{ name: 'distinct_users', labels: { service: 'web', zone: 'é' }, span: 3600 },
          points: [
            [time(HOUR - 3600), 3],
            [time(HOUR), 7],
          ],
        },
        { name: 'distinct_users', labels: { service: "o'neil", zone: 'é' }, span: 3600, points: [[time(HOUR), 0.5]] },
        { name: 'entries', labels: {}, span: 60, points: [[time(HOUR), -1e300]] },
      ].sort((a, b) => (a.labels.service === "o'neil" && b.labels.service === 'web' ? -1 : 0)),
    );
    expect(JSON.parse(text)).to.have.nested.property('window.end', formatTime(BigInt(NOW) * 1_000_000n));
  });

  it('takes the last of two rows of one record', async () => {
    expect((await call({ name: 'twice' }, 'three', 3)).measures[0]?.points).to.deep.equal([[time(HOUR), 2]]);
  });

  it('narrows down by name, service, labels and time', async () => {
    const values = async (parameters: Readonly<Record<string, string>> | string): Promise<number[]> =>
      (await call(parameters)).measures.flatMap(({ points }) => points.map(([, value]) => value));
    expect(await values({ name: 'entries' })).to.deep.equal([-1e300]);
    expect(await values({ service: 'web', name: 'distinct_users', end: time(HOUR - 1) })).to.deep.equal([3]);
    expect(await values({ start: time(HOUR - 3600), end: time(HOUR - 3600), label: 'zone:é' })).to.deep.equal([3]);
    expect(await values({ start: time(HOUR - 3599), end: time(HOUR - 1) })).to.deep.equal([]);
    expect(await values(`label=zone:${encodeURIComponent('é')}&label=service:${encodeURIComponent("o'neil")}`)).to.deep.equal([0.5]);
    expect(await values({ service: '' }), 'without the label').to.deep.equal([-1e300]);
    expect(await values({ name: 'distinct_user' })).to.deep.equal([]);
  });

  it('shows nothing that the plan does not keep any more, and all of it to the others', async () => {
    const found = async (key: string): Promise<number[]> =>
      (await call(ALL, key)).measures.flatMap(({ points }) => points.map(([, value]) => value)).filter((value) => value === 6);
    expect(await found('one')).to.deep.equal([6]);
    expect(await found('short')).to.deep.equal([]);
    expect((await call({ ...ALL, name: 'distinct_users' }, 'three', 3)).measures[0]?.points).to.deep.equal([['1969-12-31T23:00:00Z', 1]]);
  });

  it('shows a tenant its own alone, whatever is asked for, and with the wall of the engine gone too', async () => {
    for (const url of urls) {
      expect((await call(ALL, 'two', 2, url)).measures.map(({ name }) => name)).to.deep.equal(['distinct_users', 'secret']);
      for (const name of ['secret', ...ATTACKS]) {
        const places = [{ name }, { service: name }, { label: `service:${name}` }, { label: `${name}:web` }];
        for (const place of places) {
          const { status, measures } = await call({ ...ALL, ...place }, 'one', 1, url);
          expect([status, measures], JSON.stringify(place)).to.deep.equal([200, []]);
        }
        for (const place of [{ start: name }, { end: name }])
          expect((await call({ ...ALL, ...place }, 'one', 1, url)).status).to.equal(400);
      }
      // the parameter of another tenant changes nothing
      expect((await call({ ...ALL, tenant_id: '2', tenant: '2', name: 'secret' }, 'one', 1, url)).measures).to.deep.equal([]);
    }
    expect((await call(ALL, 'one', 2)).status).to.equal(403);
    expect((await call(ALL, 'nobody')).status).to.equal(403);
    expect((await call(ALL, 'writer')).status).to.equal(403);
  });

  it('refuses what it cannot understand with a sentence', async () => {
    const refusal = async (parameters: string): Promise<string> => {
      const { status, text } = await call(parameters);
      expect(status, parameters).to.equal(400);
      return text;
    };
    expect(await refusal('label=zone')).to.contain('must be a name and a value, as in label=zone:eu');
    expect(await refusal('label=:x')).to.contain('must be a name and a value');
    expect(await refusal(`name=${'a'.repeat(101)}`)).to.contain('name has more than 100 characters');
    expect(await refusal('name=')).to.contain('name is empty');
    expect(await refusal(Array.from({ length: 11 }, () => 'label=a:b').join('&'))).to.contain('label');
    expect(await refusal('start=now&end=-1h')).to.contain('is after end');
    expect(await refusal('start=x')).to.contain('is not a valid time');
  });

  it('refuses answers of more than 50,000 points', async () => {
    await own.store.command(
      "INSERT INTO measures (tenant_id, name, labels, span, time, value, version, arrived) SELECT 1, 'many', map(), 1, toDateTime64(number, 0, 'UTC'), 1, 1, now64(3) FROM numbers(50001)",
    );
    expect(await call({ ...ALL, name: 'many' }))
      .to.include({ status: 400 })
      .with.property('text')
      .that.contains('more than 50000 points');
    const { measures } = await call({ ...ALL, start: '1', name: 'many' });
    expect(measures[0]?.points).to.have.length(50_000);
  });
});
