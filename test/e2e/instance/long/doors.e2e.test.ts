import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { expect } from 'chai';
import type { Admin } from 'kafkajs';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { pino } from 'pino';
import { connect as connectTls } from 'node:tls';
import { freePorts } from '../../../free-ports.ts';
import { newTenant, sharedInstance } from '../../shared.ts';
import { until, type Instance } from '../../instance.ts';
import { doorAuthority, doorKeyFile, doorPorts, shareDoors } from './shared-doors.ts';
import { otlpRecord } from '../../../fakes/otlp-record.ts';
import { leaseBroker, type LeasedBroker } from '../../../engines/leased-broker.ts';
import { createKafka, type Kafka } from '../../../../pipeline/bus/connection/kafka.ts';

let users: LeasedBroker;

/** A topic of a user's own Kafka, which is made while the door waits for it. */
const ORDERS = 'orders';
const pulled = { kind: 'kafka', key_file: doorKeyFile, format: 'json' };

shareDoors(async () => {
  users = await leaseBroker();
  const [away] = await freePorts(1);
  return [
    { ...pulled, name: 'shop', brokers: [users.brokers], topics: [ORDERS] },
    { ...pulled, name: 'away', brokers: [`127.0.0.1:${String(away)}`], topics: ['nothing'] },
  ];
});

const frame = (key: string, text: string): string =>
  `<14>1 ${new Date().toISOString()} web-1 door-test 7 - [logweir@32473 key="${key}"] ${text}`;
/** Entries of a tenant that a query finds, once there are so many. */
const found = (
  instance: Instance,
  tenant: { readonly id: number; readonly key: string },
  query: string,
  count: number,
): Promise<Record<string, unknown>[]> =>
  until(
    `${String(count)} entries`,
    async () => {
      const url = `${instance.app}/api/v1/tenants/${String(tenant.id)}/search?enrich=false`;
      const { body } = await instance.call('POST', url, { query, start: '-1h' }, { Authorization: `Bearer ${tenant.key}` });
      return (body as { readonly logs?: Record<string, unknown>[] }).logs ?? [];
    },
    ({ length }) => length >= count,
  );

describe('doors of an instance', function () {
  this.timeout(600_000);
  let instance: Instance;
  let kafka: Kafka;
  let admin: Admin;
  before(async () => {
    instance = await sharedInstance();
    kafka = createKafka({ brokers: [users.brokers], clientId: 'test', log: pino({ level: 'silent' }) });
    admin = kafka.admin();
    await admin.connect();
  });
  after(async () => {
    await admin.disconnect();
    await users.giveBack();
  });
  /** Records of the topic that the door has committed. */
  const committed = async (): Promise<number> => {
    const look = (): ReturnType<typeof admin.fetchOffsets> => admin.fetchOffsets({ groupId: `logweir-shop.${ORDERS}`, topics: [ORDERS] });
    // a coordinator that loads its groups says that it does
    const [{ partitions } = { partitions: [] }] = await until('the offsets', look, () => true);
    return partitions.reduce((sum, { offset }) => sum + Math.max(Number(offset), 0), 0);
  };

  it('take syslog over TCP and UDP, by keys in structured data', async () => {
    const tenant = await newTenant(instance);
    const counted = frame(tenant.key, 'counted,\nof two lines');
    const socket = connect(doorPorts.tcp, '127.0.0.1');
    socket.end(`${frame(tenant.key, 'of a line')}\n${String(Buffer.byteLength(counted))} ${counted}`);
    await once(socket.resume(), 'close');
    const udp = createSocket('udp4');
    await new Promise((resolve) => udp.send(frame(tenant.key, 'of a datagram'), doorPorts.udp, '127.0.0.1', resolve));
    udp.close();
    const entries = await found(instance, tenant, '*', 3);
    expect(entries.map(({ _msg }) => _msg).sort()).to.deep.equal(['counted,\nof two lines', 'of a datagram', 'of a line']);
    expect(entries.every(({ service, level }) => service === 'door-test' && level === 'info')).to.equal(true);
    expect(JSON.stringify(entries)).to.not.include(tenant.key);
  });

  it('take syslog over TLS, by the certificate of the client', async () => {
    const client = doorAuthority.issue('web-1');
    const [ca, cert, key] = [doorAuthority.ca, client.cert, client.key].map((file) => readFileSync(file)) as [Buffer, Buffer, Buffer];
    const socket = connectTls({ ...{ port: doorPorts.tls, host: '127.0.0.1', servername: 'localhost' }, ca, cert, key });
    socket.end('<14>1 - web-1 tls-door - - - by certificate\n');
    await once(socket.resume(), 'close');
    const [entry] = await found(instance, { id: 1, key: instance.key }, 'service:="tls-door"', 1);
    expect(entry).to.include({ _msg: 'by certificate' });
  });

  it('take OTLP over gRPC, and answer once it is on the log', async () => {
    const tenant = await newTenant(instance);
    const client = new Client(`127.0.0.1:${String(doorPorts.grpc)}`, credentials.createInsecure());
    const asIs = (bytes: Buffer): Buffer => bytes;
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${tenant.key}`);
    await new Promise<void>((resolve, reject) => {
      client.makeUnaryRequest(
        '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
        asIs,
        asIs,
        otlpRecord('by gRPC'),
        metadata,
        (error) => (error === null ? resolve() : reject(error)),
      );
    });
    client.close();
    const [entry] = await found(instance, tenant, '*', 1);
    expect(entry).to.include({ _msg: 'by gRPC' });
  });

  it('pull topics of another Kafka: nothing is lost with a killed process, and at most a group comes twice', async () => {
    await admin.createTopics({ topics: [{ topic: ORDERS, numPartitions: 3 }] });
    const [kills, slice] = [3, 20_000];
    const records = kills * slice;
    let killed = 0;
    for (let from = 0; from < records; from += slice) {
      const before = await committed();
      const { pid } = (await until(
        'the doors',
        () => Promise.resolve(instance.processes().get('doors')),
        (doors) => doors !== undefined && doors.pid !== killed && isAlive(doors.pid),
      )) as { pid: number };
      const produced = produce(kafka, from, from + slice);
      await until('records that are committed', committed, (count) => count > before);
      process.kill(pid, 'SIGKILL');
      killed = pid;
      await produced;
    }
    // with each slice, one that is no JSON on each partition
    await until('all records', committed, (count) => count === records + 3 * kills);
    const { rows, distinct } = await until(
      'all entries',
      () => pulledEntries(instance),
      (found) => found.distinct >= records,
    );
    expect(distinct).to.equal(records);
    expect(rows - distinct, 'a group for each kill').to.be.at.most(1000 * kills);
    const { body } = await instance.call('GET', `${instance.admin}/ready`, undefined, adminOf(instance));
    expect((body as { warnings: string[] }).warnings.join('\n')).to.match(/doors: The door away does not read the topic nothing/);
  });

  it('leave records where they are while the tenant is disabled, for longer than a session of the group', async () => {
    const [before, stored] = [await committed(), await pulledEntries(instance)];
    const order = (what: string): Promise<unknown> =>
      instance.call('POST', `${instance.admin}/admin/tenants/1/${what}`, undefined, adminOf(instance));
    const warnings = async (): Promise<string> => {
      const { body } = await instance.call('GET', `${instance.admin}/ready`, undefined, adminOf(instance));
      return (body as { warnings: string[] }).warnings.join('\n');
    };
    await order('disable');
    await produce(kafka, 100_000, 101_000);
    const waits = /doors: The door shop reads no further in the topic orders: /;
    await until('the warning', warnings, (text) => waits.test(text));
    expect(await committed()).to.equal(before);
    await order('enable');
    // the door looks every 30 s; a member that is not heard of for 6 s would have lost its partitions
    await until('the records', committed, (count) => count === before + 1000);
    const { rows, distinct } = await until(
      'the entries',
      () => pulledEntries(instance),
      (found) => found.distinct >= stored.distinct + 1000,
    );
    expect([rows, distinct]).to.deep.equal([stored.rows + 1000, stored.distinct + 1000]);
    expect(await warnings()).to.not.match(waits);
  });

  it('and everything else opens the ports of the table in docs/operations.md, and no others', () => {
    const port = (url: string): number => Number(new URL(url).port);
    const expected: Readonly<Record<string, readonly number[]>> = {
      ...{ ingest: [port(instance.ingest)], app: [port(instance.app), port(instance.admin)] },
      doors: [doorPorts.tcp, doorPorts.tls, doorPorts.grpc],
    };
    /** Each has one internal listener on a free port of the loopback, but for the app, whose has a port of its own. */
    const internal: Readonly<Record<string, number>> = { ingest: 1, doors: 1, sink: 1, processors: 1, kafka: 2, clickhouse: 1 };
    for (const [role, { pid }] of instance.processes()) {
      const open = listening(pid);
      const known = expected[role] ?? [];
      expect(
        open
          .filter(({ port: own }) => known.includes(own))
          .map(({ port: own }) => own)
          .sort(),
        role,
      ).to.deep.equal([...known].sort());
      const others = open.filter(({ port: own }) => !known.includes(own));
      expect(others.length, `${role}: ${JSON.stringify(others)}`).to.equal(internal[role] ?? 0);
      expect(
        open.every(({ isLoopback }) => isLoopback),
        `${role} listens on the loopback alone, unless told`,
      ).to.equal(true);
      expect(
        listening(pid, 'udp').map(({ port: own }) => own),
        role,
      ).to.deep.equal(role === 'doors' ? [doorPorts.udp] : []);
    }
    const table = readFileSync(path.join(import.meta.dirname, '../../../../docs/operations.md'), 'utf8');
    for (const role of instance.processes().keys()) expect(table, role).to.match(new RegExp(`^\\| \`${role}\` \\|`, 'm'));
  });
});

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const adminOf = ({ dataDir }: Instance): Record<string, string> => ({
  Authorization: `Bearer ${readFileSync(path.join(dataDir, 'admin.token'), 'utf8').trim()}`,
});

/** Puts records on all partitions of the topic, in order, and one that cannot be read on each. */
async function produce(kafka: Kafka, first: number, end: number): Promise<void> {
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
  await producer.connect();
  for (let from = first; from < end; from += 1000) {
    const messages = Array.from({ length: 1000 }, (_, index) => ({
      partition: index % 3,
      value: JSON.stringify({ _msg: `order ${String(from + index)}`, service: 'kafka-door' }),
    }));
    if (from === first + 5000) messages.push(...[0, 1, 2].map((partition) => ({ partition, value: '{"_msg": no JSON}' })));
    await producer.send({ topic: ORDERS, messages });
  }
  await producer.disconnect();
}

/** How many entries of the topic are stored, and how many of them say something else. */
async function pulledEntries(instance: Instance): Promise<{ readonly rows: number; readonly distinct: number }> {
  const query = 'service:="kafka-door" | stats count() n, count_uniq(_msg) u';
  const url = `${instance.app}/api/v1/tenants/1/search?enrich=false`;
  const { body } = await instance.call('POST', url, { query, start: '-1h' });
  const [row] = (body as { readonly logs?: { readonly n: string; readonly u: string }[] }).logs ?? [];
  return { rows: Number(row?.n), distinct: Number(row?.u) };
}

/** The sockets that a process listens on, from Linux' tables. */
function listening(pid: number, protocol: 'tcp' | 'udp' = 'tcp'): { readonly port: number; readonly isLoopback: boolean }[] {
  const inodes = new Set(
    readdirSync(`/proc/${String(pid)}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${String(pid)}/fd/${fd}`))?.slice(1) ?? [];
      } catch {
        return []; // closed meanwhile
      }
    }),
  );
  return [protocol, `${protocol}6`].flatMap((table) =>
    readFileSync(`/proc/${String(pid)}/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => inode !== undefined && inodes.has(inode) && state === (protocol === 'tcp' ? '0A' : '07'))
      .map(([, local = '']) => {
        const [address = '', port = ''] = local.split(':');
        return {
          port: Number.parseInt(port, 16),
          isLoopback: address.endsWith('7F') || /^0{8}0{8}(?:0000FFFF0100007F|0{8}01000000)$/.test(address) || address === '0100007F',
        };
      }),
  );
}
