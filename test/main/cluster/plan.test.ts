import { expect } from 'chai';
import { nodeCounts, planCluster } from '../../../main/cluster/plan.ts';
import { readSettings } from '../../../main/settings.ts';

const take = (count: number): Promise<number[]> => Promise.resolve(Array.from({ length: count }, (_, at) => 20_000 + at));

describe('the plan of a cluster on one machine', () => {
  it('has two nodes of each role unless told', () => {
    expect([...nodeCounts([])]).to.deep.equal([['ingest', 2], ['app', 2], ['sink', 2], ['processors', 2]]); // prettier-ignore
    expect(nodeCounts(['--nodes', 'app=3,sink=1']).get('app')).to.equal(3);
    expect(nodeCounts(['--nodes=app=3', '--nodes', ' sink=1']).get('sink')).to.equal(1);
  });

  for (const [argv, message] of [
    [['--role', 'app'], 'The option --role is unknown; there is only --nodes ROLE=COUNT,….'],
    [['--nodes'], '--nodes: there are no nodes ""; there are ingest, app, sink, processors.'],
    [['--nodes', 'doors=1'], '--nodes: there are no nodes "doors"; there are ingest, app, sink, processors.'],
    [['--nodes', 'app'], '--nodes: app must be an integer from 1 to 9 (got "").'],
    [['--nodes', 'app=0'], '--nodes: app must be an integer from 1 to 9 (got "0").'],
    [['--nodes', 'app=1e1'], '--nodes: app must be an integer from 1 to 9 (got "1e1").'],
  ] as const)
    it(`refuses ${argv.join(' ')}`, () => {
      expect(() => nodeCounts(argv)).to.throw(message);
    });

  it('gives everything a port and a folder of its own, and the balancer the ports of an instance', async () => {
    const env = { LOGWEIR_DATA_DIR: '/data', LOGWEIR_APP_PORT: '1080', LOGWEIR_INGEST_PORT: '1081', LOGWEIR_ADMIN_PORT: '1082' };
    const plan = await planCluster(readSettings(env, []), nodeCounts(['--nodes', 'app=3']), take);
    expect(plan.frontends.map(({ name, port, nodes }) => [name, port, nodes.map((node) => node.name)])).to.deep.equal([
      ['app', 1080, ['app-1', 'app-2', 'app-3']],
      ['ingest', 1081, ['ingest-1', 'ingest-2']],
      ['admin', 1082, ['app-1', 'app-2', 'app-3']],
    ]);
    const nodePorts = plan.nodes.flatMap(({ appPort, ingestPort, adminPort }) => [appPort, ingestPort, adminPort]);
    const ports = [...nodePorts, ...plan.brokers.flatMap((broker) => broker.ports), ...plan.sets.map(({ port }) => port)];
    expect(new Set(ports).size).to.equal(ports.length).and.to.equal(35);
    const folders = [...plan.nodes, ...plan.sets].map(({ dataDir }) => dataDir).concat(plan.brokers.map(({ options }) => options.dataDir));
    expect(new Set(folders).size).to.equal(14);
  });

  it('has brokers that know each other', async () => {
    const { brokers } = await planCluster(readSettings({}, []), nodeCounts([]), take);
    const voters = brokers.map(({ ports: [, controller] }, index) => `${String(index + 1)}@127.0.0.1:${String(controller)}`).join(',');
    for (const [index, { options }] of brokers.entries())
      expect(options.settings).to.include({ 'node.id': String(index + 1), 'controller.quorum.voters': voters });
    expect(new Set(brokers.map(({ options }) => options.clusterId)).size).to.equal(1);
  });
});
