import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { until } from '../e2e/instance.ts';
import { layBrokerCables, whyNoCables } from './broker-cables.ts';
import { BROKER_NAMES, type BrokerName, type BrokerNetwork, type BrokerPorts } from './broker-network.ts';
import { freePorts } from '../free-ports.ts';

/** In place of a broker: says whether another one is reached from where it is. */
const BROKER = `
require('node:http').createServer(async ({ url }, response) => {
  const answer = await fetch('http://' + url.slice(1), { signal: AbortSignal.timeout(1000) }).then(() => 'reached', () => 'silent');
  response.end(url === '/' ? 'here' : answer);
}).listen(Number(process.argv[1]), process.argv[2], () => console.log('listens'));
`;

const why = whyNoCables();
if (why !== null) console.error(`SKIPPED: ${why}`);

(why === null ? describe : describe.skip)('brokers in network namespaces', () => {
  let network: BrokerNetwork;
  let ports: Record<BrokerName, BrokerPorts>;
  const brokers: ChildProcess[] = [];

  before(async () => {
    const free = await freePorts(3);
    const [one, two, three] = free.map((plain) => ({ plain, internal: 0, controller: 0, api: 0, sink: 0 })) as [BrokerPorts, BrokerPorts, BrokerPorts]; // prettier-ignore
    ports = { 'kafka-1': one, 'kafka-2': two, 'kafka-3': three };
    network = await layBrokerCables(ports);
    for (const name of BROKER_NAMES) {
      const { launcher, listens } = network.place(name);
      const [command, ...args] = [...launcher, process.execPath, '-e', BROKER, String(ports[name].plain), listens];
      const broker = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      brokers.push(broker);
      await once(broker.stdout, 'data');
    }
  });
  after(async () => {
    for (const broker of brokers) broker.kill('SIGKILL');
    await network.close();
  });

  const ask = (name: BrokerName, what = ''): Promise<string> =>
    fetch(`http://127.0.0.1:${String(ports[name].plain)}/${what}`, { signal: AbortSignal.timeout(3000) }).then((answer) => answer.text(), () => 'silent'); // prettier-ignore
  const between = (from: BrokerName, to: BrokerName): Promise<string> =>
    ask(from, `${network.address(from, to)}:${String(ports[to].plain)}/`);

  it('reach each other and are reached, but for what is unplugged, until it is plugged in again', async () => {
    const state = async (): Promise<string[]> => [
      await ask('kafka-1'),
      await between('kafka-1', 'kafka-2'),
      await between('kafka-3', 'kafka-1'),
      await between('kafka-2', 'kafka-3'),
    ];
    const becomes = (...wanted: string[]): Promise<unknown> =>
      until(wanted.join(', '), state, (found) => found.join() === wanted.join(), 60_000);
    await becomes('here', 'reached', 'reached', 'reached');
    await network.isolate('kafka-1', 'silent', false);
    await becomes('here', 'silent', 'silent', 'reached');
    await network.heal();
    await becomes('here', 'reached', 'reached', 'reached');
  });
});
