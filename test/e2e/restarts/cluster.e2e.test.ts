import { expect } from 'chai';
import { pino } from 'pino';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { timeText } from '../../../pipeline/alerting/book/shown-alert.ts';
import { alert } from '../../fakes/alerts-record.ts';
import { NotHere } from '../../shippers/toolsets.ts';
import { isWhole } from '../../extent.ts';
import { alertTeller } from '../alert-source.ts';
import { until } from '../instance.ts';
import { runCli } from '../shared.ts';
import { RunningCluster } from './running-cluster.ts';
import { SteadyClient } from './steady-client.ts';

describe('a cluster on one machine, under entries and searches', function () {
  this.timeout(900_000);
  let cluster: RunningCluster;
  let client: SteadyClient;
  /** What is to be stopped, the last one first. */
  const stops: (() => Promise<unknown>)[] = [];
  const stopAll = async (): Promise<void> => {
    for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) await stop();
  };

  before(async function () {
    try {
      cluster = await RunningCluster.start();
    } catch (error) {
      if (!(error instanceof NotHere)) throw error;
      console.error(`SKIPPED: no cluster runs, since ${error.message}`);
      this.skip();
    }
    const { app, ingest, key } = cluster.instance;
    stops.push(() => cluster.stop());
    client = new SteadyClient([ingest, ingest, app], app, key);
    stops.push(() => client.stop());
  });
  after(stopAll);

  /** Something went on since then, and nothing failed. */
  const goesOn = async (): Promise<void> => {
    const [entries, searches] = [client.atOnce.length, client.searches];
    await until('requests', () => Promise.resolve(client), (now) => now.atOnce.length > entries && now.searches > searches); // prettier-ignore
    expect(client.failures).to.deep.equal([]);
  };

  it('fails no request while each node is restarted in turn', async () => {
    await goesOn();
    // a sample has one that the balancer sends requests to
    for (const node of isWhole ? cluster.nodes : [cluster.node('app-1')]) {
      await cluster.replace(node.name, 'SIGTERM');
      await cluster.untilReady([node]);
      await goesOn();
    }
  });

  it('fails no request where a broker is killed, which comes back', async () => {
    await cluster.replace('kafka-2', 'SIGKILL');
    await goesOn();
    const brokers = String(cluster.instance.env['LOGWEIR_KAFKA_BROKERS']).split(',');
    const admin = createKafka({ brokers, clientId: 'test', log: pino({ level: 'silent' }) }).admin();
    await admin.connect();
    await until('three brokers', () => admin.describeCluster(), (known) => known.brokers.length === 3); // prettier-ignore
    await admin.disconnect();
    await cluster.untilReady();
    await goesOn();
  });

  it('fails no request where a ClickHouse is killed, which comes back', async () => {
    await cluster.replace('clickhouse-a', 'SIGKILL');
    await goesOn();
    for (const name of ['app-1', 'app-2'])
      await until(
        'both sets',
        async () => String((await cluster.instance.call('GET', `${cluster.node(name).admin}/metrics`)).body),
        (text) => /logweir_set_ready\{.*set="a".*\} 1/.test(text) && /logweir_set_ready\{.*set="b".*\} 1/.test(text),
      );
    await cluster.untilReady();
    await goesOn();
  });

  it('has each acknowledged entry once, in both sets', async () => {
    await client.stop();
    await cluster.expectOnce(client);
    const { stdout } = await until(
      'the audit',
      () => runCli(cluster.instance, { id: 1, key: cluster.instance.key }, ['audit', '--all-sets']),
      ({ code }) => code === 0,
    );
    expect(stdout)
      .to.match(/set a: logs\.v1.*: 0 lost, 0 doubled/)
      .and.to.match(/set b: logs\.v1.*: 0 lost, 0 doubled/);
  });

  it('has the same keys, plans, rates of queries and alerts on every node', async () => {
    const { instance } = cluster;
    const seconds: Record<string, string> = {};
    /** Waits until a look at every node gives this, and notes how long that was. */
    const untilEverywhere = async (what: string, look: () => Promise<readonly unknown[]>, wanted: unknown): Promise<void> => {
      const began = performance.now();
      let looks = 0;
      const counted = (): Promise<readonly unknown[]> => ((looks += 1), look());
      await until(what, counted, (found) => found.every((one) => one === wanted));
      seconds[what] = `${((performance.now() - began) / 1000).toFixed(2)} (${String(looks)} looks)`;
    };
    const made = (await cluster.admin('app-1', 'POST', '/tenants', { name: 'everywhere', plan: 'team' })).body as { tenant_id: number };
    const tenant = made.tenant_id;
    const { body } = await cluster.admin('app-1', 'POST', `/tenants/${String(tenant)}/keys`, { scopes: ['read', 'write', 'ingest'] });
    const { id, key } = body as { id: string; key: string };
    const auth = { Authorization: `Bearer ${key}` };
    const base = (node: string): string => `${cluster.node(node).app}/api/v1/tenants/${String(tenant)}`;
    const ingested = (): Promise<readonly unknown[]> =>
      Promise.all(
        ['ingest-1', 'ingest-2'].map(async (node) => {
          const { status } = await instance.call('POST', `${cluster.node(node).ingest}/api/v1/ingest`, [{ _msg: 'x' }], auth);
          return status;
        }),
      );
    const read = (): Promise<readonly unknown[]> =>
      Promise.all(['app-1', 'app-2'].map(async (node) => (await instance.call('GET', `${base(node)}/alerts`, undefined, auth)).status));
    await untilEverywhere('a new key', async () => [...(await ingested()), ...(await read())], 200);

    await cluster.admin('app-2', 'PUT', `/tenants/${String(tenant)}/plan`, { plan: 'trial_expired' });
    await untilEverywhere('a quota of zero', ingested, 429);
    await cluster.admin('app-1', 'PUT', `/tenants/${String(tenant)}/plan`, { plan: 'team' });
    await untilEverywhere('a quota again', ingested, 200);

    await cluster.admin('app-1', 'PUT', `/tenants/${String(tenant)}/plan`, { plan: 'custom' });
    await cluster.admin('app-1', 'PUT', `/tenants/${String(tenant)}/flags/queries_per_minute`, { value: 10 });
    const search = async (node: string): Promise<unknown> =>
      (await instance.call('POST', `${base(node)}/search`, { query: '*' }, auth)).status;
    await until('queries of a key that are used up', () => search('app-1'), (status) => status === 429); // prettier-ignore
    await untilEverywhere('a rate that is used up', () => Promise.all(['app-1', 'app-2'].map(search)), 429);
    await cluster.admin('app-2', 'PUT', `/tenants/${String(tenant)}/plan`, { plan: 'team' });

    const teller = alertTeller(instance);
    const now = Math.floor(Date.now() / 1000);
    const evidence = JSON.stringify({ opened_at: timeText(now) });
    const fired = alert({ tenantId: tenant, id: 900_001, firedAt: now, updatedAt: now, evidence });
    await teller.tell(fired, 1);
    await teller.close();
    const states = (): Promise<readonly unknown[]> =>
      Promise.all(
        ['app-1', 'app-2'].map(async (node) => {
          const { body: shown } = await instance.call('GET', `${base(node)}/alerts/900001`, undefined, auth);
          return (shown as { state?: string }).state;
        }),
      );
    await untilEverywhere('an alert', states, 'firing');
    const resolved = await instance.call('POST', `${base('app-1')}/alerts/900001/resolve`, { note: 'done' }, auth);
    expect(resolved.status, JSON.stringify(resolved.body)).to.equal(200);
    await untilEverywhere('its resolution', states, 'resolved');

    await cluster.admin('app-2', 'DELETE', `/tenants/${String(tenant)}/keys/${id}`);
    await untilEverywhere('a revoked key', async () => [...(await ingested()), ...(await read())], 403);
    console.log(`      the same on every node, seconds after the answer, with the time of the looks: ${JSON.stringify(seconds)}`);
  });

  (isWhole ? it : it.skip)('stops in order, and goes on with its data and fewer nodes; killed, it leaves nothing running', async () => {
    const { dataDir } = cluster.instance;
    const before = await cluster.instance.count('steady');
    expect(before).to.be.above(0);
    stops.length = 0;
    expect(await cluster.stop({ keep: true })).to.equal(0);

    cluster = await RunningCluster.start({ dataDir, args: ['--nodes', 'app=1,ingest=1,sink=1,processors=1'] });
    stops.push(() => cluster.kill());
    expect(cluster.nodes).to.have.length(4);
    expect(await cluster.instance.count('steady')).to.equal(before);
    await stopAll();
  });
});
