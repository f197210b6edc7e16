import { expect } from 'chai';
import { once } from 'node:events';
import net from 'node:net';
import {
  addressBetween,
  BROKER_NAMES,
  openBrokerNetwork,
  type BrokerName,
  type BrokerNetwork,
  type BrokerPorts,
} from './broker-network.ts';

const opened: net.Server[] = [];
const sockets = new Set<net.Socket>();

/** A server in place of a broker: it answers each byte with its name's number. */
async function broker(name: BrokerName): Promise<BrokerPorts> {
  const ports: number[] = [];
  for (let count = 0; count < 5; count++) {
    const server = net.createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('data', () => socket.write(name.slice(-1)));
    });
    opened.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ports.push((server.address() as net.AddressInfo).port);
  }
  const [plain = 0, internal = 0, controller = 0, api = 0, sink = 0] = ports;
  return { plain, internal, controller, api, sink };
}

type Line = { readonly socket: net.Socket; readonly heard: () => string; readonly closed: Promise<unknown> };

async function connect(port: number, host = '127.0.0.1'): Promise<Line> {
  const socket = net.connect({ port, host });
  sockets.add(socket);
  let heard = '';
  socket.on('data', (bytes) => (heard += bytes.toString()));
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await Promise.race([once(socket, 'connect'), closed.then(() => Promise.reject(new Error('refused')))]);
  return { socket, heard: () => heard, closed };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
}

describe('a network of three brokers', () => {
  let ports: Record<BrokerName, BrokerPorts>;
  let network: BrokerNetwork;

  beforeEach(async () => {
    ports = { 'kafka-1': await broker('kafka-1'), 'kafka-2': await broker('kafka-2'), 'kafka-3': await broker('kafka-3') };
    network = await openBrokerNetwork(ports, ['api']);
  });
  afterEach(async () => {
    await network.close();
    for (const socket of sockets) socket.destroy();
    for (const server of opened.splice(0)) server.close();
  });

  const between = (from: BrokerName, to: BrokerName, what: 'internal' | 'controller' = 'internal'): Promise<Line> =>
    connect(ports[to][what], addressBetween(from, to));
  const client = (to: BrokerName): Promise<Line> => connect(network.clientPort(to, 'api') ?? 0);
  const answers = async (line: Line): Promise<string> => {
    const before = line.heard().length;
    line.socket.write('x');
    await until(() => line.heard().length > before);
    return line.heard().slice(before);
  };
  const fails = (line: Promise<Line>): Promise<boolean> => line.then(() => false).catch(() => true);

  it('has a way from each to each, for copies and for controllers, and one for clients where asked', async () => {
    for (const from of BROKER_NAMES)
      for (const to of BROKER_NAMES.filter((name) => name !== from)) {
        expect(await answers(await between(from, to)), `${from} to ${to}`).to.equal(to.slice(-1));
        expect(await answers(await between(from, to, 'controller')), `${from} to ${to}`).to.equal(to.slice(-1));
      }
    expect(await answers(await client('kafka-3'))).to.equal('3');
    expect(network.clientPort('kafka-3', 'sink')).to.equal(null);
    expect(network.counts.connections).to.equal(12);
  });

  it('has none between brokers where none is asked for', async () => {
    const none = await openBrokerNetwork(ports, [], false);
    expect(none.counts.connections).to.equal(0);
    await none.isolate('kafka-1', 'refused', true);
    expect(await answers(await between('kafka-2', 'kafka-1'))).to.equal('1');
    await none.close();
  });

  it('cuts one off from the others, both ways, and leaves those and its clients', async () => {
    const [out, into, others] = [
      await between('kafka-1', 'kafka-2'),
      await between('kafka-3', 'kafka-1'),
      await between('kafka-2', 'kafka-3'),
    ];
    await network.isolate('kafka-1', 'refused', false);
    await Promise.all([out.closed, into.closed]);
    expect(await fails(between('kafka-1', 'kafka-3', 'controller'))).to.equal(true);
    expect(await fails(between('kafka-2', 'kafka-1'))).to.equal(true);
    expect(await answers(others)).to.equal('3');
    expect(await answers(await client('kafka-1'))).to.equal('1');
    await network.heal();
    expect(await answers(await between('kafka-1', 'kafka-2'))).to.equal('2');
  });

  it('cuts one off from its clients too, where asked', async () => {
    await network.isolate('kafka-2', 'refused', true);
    expect(await fails(client('kafka-2'))).to.equal(true);
    expect(await answers(await client('kafka-1'))).to.equal('1');
  });

  it('swallows what is said to and by one that is silent, until it is over', async () => {
    const [into, others] = [await between('kafka-3', 'kafka-1'), await between('kafka-2', 'kafka-3')];
    await network.isolate('kafka-1', 'silent', false);
    into.socket.write('x');
    await until(() => network.counts.swallowedBytes === 1);
    expect(await answers(others)).to.equal('3');
    await network.heal();
    await into.closed;
    expect(into.heard()).to.equal('');
  });

  it('loses what one sends to another, requests and answers, and nothing that comes from there', async () => {
    const [asked, asking] = [await between('kafka-2', 'kafka-1'), await between('kafka-1', 'kafka-2')];
    network.loseOneWay('kafka-1', 'kafka-2');
    asking.socket.write('x');
    await until(() => network.counts.swallowedBytes === 1);
    // the request of the other one arrives; its answer does not
    asked.socket.write('x');
    await until(() => network.counts.swallowedBytes === 2);
    expect([asked.heard(), asking.heard()]).to.deep.equal(['', '']);
    expect(await answers(await between('kafka-1', 'kafka-3'))).to.equal('3');
    expect(await answers(await between('kafka-3', 'kafka-1'))).to.equal('1');
  });
});
