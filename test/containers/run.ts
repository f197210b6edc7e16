/** Runs the image that test/containers/build.sh has built, as docs/containers.md promises it runs: `npm run image:check`. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http2 from 'node:http2';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { startClickHouse } from '../../compose/embedded/clickhouse.ts';
import { startKafka } from '../../compose/embedded/kafka.ts';
import { until } from '../e2e/instance.ts';
import { freePorts } from '../free-ports.ts';

const IMAGE = 'localhost/logweir:check';
const MOST_MB = 350;
const KEY = 'image-key_0123456789';
const DRIVER = process.env['STORAGE_DRIVER'] ?? 'vfs';
const podman = (...args: readonly string[]): string =>
  execFileSync('podman', ['--storage-driver', DRIVER, '--cgroup-manager=cgroupfs', '--runtime=runc', ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const dataDir = mkdtempSync(path.join(os.tmpdir(), 'logweir-image-'));

/** A container of the image with a read-only root, as the user of the image; its id. `mounts`: folders that it reads. */
function start(name: string, args: readonly string[], variables: Readonly<Record<string, string>>, mounts: readonly string[] = []): string {
  const given = Object.entries(variables).flatMap(([key, value]) => ['-e', `${key}=${value}`]);
  const limits = ['--ulimit', 'nofile=20000:20000', '--ulimit', 'nproc=10000:10000'];
  const rights = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges', '--tmpfs', '/tmp:size=256m'];
  // as compose has it: of two first starts at once one may give up
  return podman(
    'run',
    '-d',
    '--restart=on-failure',
    '--name',
    `${name}-${String(process.pid)}`,
    '--network=host',
    ...limits,
    ...rights,
    ...given,
    ...mounts.flatMap((mount) => ['-v', `${mount}:ro`]),
    IMAGE,
    ...args,
  );
}

const answers = async (url: string): Promise<number> =>
  fetch(url).then(
    ({ status }) => status,
    () => 0,
  );

/** What the root of the image takes; the store's own figure has each layer whole where its driver copies. */
function imageMegabytes(): number {
  const layers = JSON.parse(podman('image', 'inspect', IMAGE)) as readonly { readonly Size: number }[];
  return Math.round((layers[0]?.Size ?? 0) / 1e6);
}

/** The doors that come with the files, on these ports; the folder can be read by the image's user. */
function writeDoors(ports: readonly number[]): string {
  const folder = path.join(dataDir, 'doors');
  mkdirSync(folder);
  const { doors } = JSON.parse(readFileSync(path.join(import.meta.dirname, '../../compose/doors/doors.json'), 'utf8')) as { doors: readonly object[] }; // prettier-ignore
  writeFileSync(path.join(folder, 'doors.json'), JSON.stringify({ doors: doors.map((door, index) => ({ ...door, port: ports[index] })) }));
  chmodSync(folder, 0o755);
  chmodSync(path.join(folder, 'doors.json'), 0o644);
  return folder;
}

/** Sends a frame of syslog with its key. */
function sendSyslog(port: number, message: string): void {
  const frame = `<14>1 ${new Date().toISOString()} host app - - [logweir@32473 key="${KEY}"] ${message}\n`;
  net.connect({ port, host: '127.0.0.1' }).on('error', () => undefined).end(frame); // prettier-ignore
}

/** The status that a door of OTLP gives an export without entries: 0 is success. */
async function exportNothing(port: number): Promise<string> {
  const session = http2.connect(`http://127.0.0.1:${String(port)}`);
  try {
    return await new Promise((resolve, reject) => {
      session.on('error', reject);
      const call = session.request({
        ':method': 'POST',
        ':path': '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
        'content-type': 'application/grpc',
        authorization: `Bearer ${KEY}`,
        te: 'trailers',
      });
      call.on('error', reject);
      call.on('trailers', (trailers) => resolve(String(trailers['grpc-status'])));
      call.on('end', () => resolve('no status')).resume();
      call.end(Buffer.alloc(5));
    });
  } finally {
    session.close();
  }
}

const megabytes = imageMegabytes();
print(`${IMAGE}: ${String(megabytes)} MB`);
if (megabytes > MOST_MB) throw new Error(`The image has more than ${String(MOST_MB)} MB.`);
const started: string[] = [];
const [kafka, clickhouse] = await Promise.all([startKafka({ dataDir }), startClickHouse({ dataDir })]);
try {
  const [app, ingest, admin, sinkAdmin, doorsAdmin] = (await freePorts(5)).map(String) as [string, string, string, string, string];
  const [syslog = 0, otlp = 0] = await freePorts(2);
  const engines = {
    LOGWEIR_HOST: '127.0.0.1',
    LOGWEIR_ADMIN_HOST: '127.0.0.1',
    LOGWEIR_KAFKA_BROKERS: kafka.brokers,
    LOGWEIR_CLICKHOUSE_URL: clickhouse.url,
    LOGWEIR_CLICKHOUSE_USER: clickhouse.user,
    LOGWEIR_CLICKHOUSE_PASSWORD: clickhouse.password,
    LOGWEIR_CLICKHOUSE_READER_USER: clickhouse.readerUser,
    LOGWEIR_CLICKHOUSE_READER_PASSWORD: clickhouse.readerPassword,
    LOGWEIR_KEY_PEPPER: 'a pepper of the image',
    LOGWEIR_ADMIN_TOKEN: 'a-token-of-the-image',
    LOGWEIR_BOOTSTRAP_KEY: KEY,
  };
  const ports = { LOGWEIR_APP_PORT: app, LOGWEIR_INGEST_PORT: ingest, LOGWEIR_ADMIN_PORT: admin };
  started.push(start('logweir-hosts', ['--role', 'app,ingest'], { ...engines, ...ports }));
  started.push(start('logweir-rest', ['--role', 'sink,processors'], { ...engines, LOGWEIR_ADMIN_PORT: sinkAdmin }));
  const doors = { ...engines, LOGWEIR_ADMIN_PORT: doorsAdmin, LOGWEIR_DOORS: '/etc/logweir/doors/doors.json' };
  started.push(start('logweir-doors', ['--role', 'doors'], doors, [`${writeDoors([syslog, otlp])}:/etc/logweir/doors`]));
  for (const port of [admin, sinkAdmin, doorsAdmin])
    await until(
      'an instance that is ready',
      () => answers(`http://127.0.0.1:${port}/ready`),
      (status) => status === 200,
    );
  print('all instances are ready, each on its own internal port');

  const headers = { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' };
  const entries = { method: 'POST', headers, body: JSON.stringify([{ _msg: 'out of a container' }]) };
  const send = (): Promise<number> =>
    fetch(`http://127.0.0.1:${ingest}/api/v1/ingest`, entries).then(
      ({ status }) => status,
      () => 0,
    );
  // the app may be ready before the role ingest beside it listens
  await until('ingest', send, (status) => status >= 200 && status < 300);
  const search = { method: 'POST', headers, body: JSON.stringify({ query: 'container' }) };
  const hits = async (): Promise<string> => (await fetch(`http://127.0.0.1:${app}/api/v1/tenants/1/search`, search)).text();
  await until('the entry', hits, (text) => text.includes('out of a container'));
  print('an entry was sent to one container, stored by the other, and found');

  sendSyslog(syslog, 'through a door of syslog');
  search.body = JSON.stringify({ query: 'syslog' });
  await until('the frame', hits, (text) => text.includes('through a door of syslog'));
  const status = await exportNothing(otlp);
  if (status !== '0') throw new Error(`The door of OTLP answered ${status}.`);
  print('the doors take syslog and OTLP on the ports of doors.json');

  const [hosts = ''] = started;
  for (const id of started) podman('healthcheck', 'run', id);
  const user = podman('exec', hosts, 'id', '-u');
  if (user !== '10001') throw new Error(`The processes run as ${user}.`);
  const write = podman('exec', hosts, 'sh', '-c', 'touch /app/x 2>&1 || true');
  if (!write.includes('Read-only file system')) throw new Error('The root can be written to.');
  print('health checks pass; the user is 10001, the root is read-only');
  for (const id of started) podman('stop', '-t', '30', id);
  for (const id of started) {
    const code = podman('inspect', '--format', '{{.State.ExitCode}}', id);
    if (code !== '0') throw new Error(`A container ended with ${code}: ${podman('logs', '--tail', '20', id)}`);
  }
  print('SIGTERM ends all with 0');
} finally {
  for (const id of started) podman('rm', '-f', id);
  await Promise.all([kafka.stop(), clickhouse.stop()]);
  rmSync(dataDir, { recursive: true, force: true });
}
