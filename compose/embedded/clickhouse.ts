import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { BACKUP_DISK } from '../../pipeline/core/config-backups.ts';
import { isS3, type StoragePlace } from '../../pipeline/core/storage-place.ts';
import { keepColdVolume } from './cold-volume.ts';
import { spawnEngine, untilExited, untilReady, type EngineOptions, type RunningEngine } from './engine-process.ts';
import { startInFolder } from './engine-start.ts';
import { StartError } from './start-error.ts';
import { storageXml } from './storage.ts';
import { template } from './template.ts';

const EXTENSION = path.extname(import.meta.filename);
const CHILD = path.join(import.meta.dirname, `clickhouse-child${EXTENSION}`);
const DATABASE = 'logweir';
const USER = 'logweir';
const MAX_SERVER_MEMORY_BYTES = 6_000_000_000;
/** Statements at once: of all, and of queries; the others are for inserts and what watches them. */
const [SERVER_QUERIES, READER_QUERIES] = [64, 40];
/** How much of the server's memory queries may take together. */
const READER_SHARE = 0.6;
const READY_TIMEOUT_MS = 240_000;
const STOP_TIMEOUT_MS = 15_000;

// Opens the HTTP interface and then never ends by itself: it is what keeps the engine alive, and killing it is what
// stops the engine. Without max_block_size=1 it would end at once. These two statements are all that the quota in
// users.xml allows.
const KEEP_ALIVE =
  'SYSTEM START LISTEN HTTP; SELECT sleepEachRow(0.1) /* keepalive */ FROM system.numbers FORMAT Null ' +
  'SETTINGS function_sleep_max_microseconds_per_block=0, max_block_size=1, max_execution_time=0, max_rows_to_read=0, log_queries=0';
const STOP = "KILL QUERY WHERE query LIKE '%sleepEachRow%' AND query NOT LIKE '%KILL%' ASYNC";

/** What an embedded ClickHouse needs to start. */
export type ClickHouseOptions = EngineOptions & {
  /** The port of the HTTP interface; without it a free one is taken. */
  readonly port?: number | undefined;
  /** Where backups may lie: a folder, without it DATA_DIR/backups, which is made with the first backup; or S3, as a disk `backups`. */
  readonly backups?: StoragePlace | undefined;
  /** Where old rows may go: the volume `cold` of the storage policy `logweir`. */
  readonly cold?: StoragePlace | null | undefined;
};

/** A running ClickHouse. */
export type ClickHouse = RunningEngine & {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** The name of the product's database, which the engine's `reader` is confined to; migrations create it. */
  readonly database: 'logweir';
  readonly readerUser: string;
  readonly readerPassword: string;
  readonly port: number;
};

/**
 * Starts the ClickHouse engine of npm's chdb as a child process and waits until its HTTP interface answers.
 * It dies with the process that started it. Data, users and log are kept in DATA_DIR/clickhouse.
 */
export async function startClickHouse(options: ClickHouseOptions): Promise<ClickHouse> {
  const { port } = options;
  const library = findLibrary();
  const address = { portCount: 1, ports: port === undefined ? port : [port], addressFile: 'url', addressOf: ({ url }: ClickHouse) => url };
  return startInFolder(options, { name: 'ClickHouse', folder: 'clickhouse', ...address }, (folder, [taken]) =>
    startEngine({ ...options, library, folder, port: taken as number }),
  );
}

type ServerOptions = ClickHouseOptions & {
  readonly library: string;
  readonly folder: string;
  readonly port: number;
};

async function startEngine(options: ServerOptions): Promise<ClickHouse> {
  const { library, folder, port, cold = null, onSpawn, signal } = options;
  keepColdVolume(folder, cold);
  const secrets = keptSecrets(folder);
  const configFile = writeConfig(options, secrets);
  const logFile = path.join(folder, 'clickhouse.log');
  const args = [CHILD, String(process.pid), library, ...engineArguments(folder, configFile, port)];
  const engine = spawnEngine({ command: process.execPath, args, cwd: folder, logFile });
  onSpawn?.(engine.pid);
  // With the password, so that no other ClickHouse on this port is taken for this one.
  const check = (): Promise<boolean> =>
    query(port, secrets.password, 'SELECT 1').then(
      () => true,
      () => false,
    );
  await untilReady('ClickHouse', engine, check, { logFile, timeoutMs: READY_TIMEOUT_MS, signal });

  const stop = async (): Promise<void> => {
    await query(port, secrets.password, STOP).catch(() => engine.terminate());
    await untilExited(engine, STOP_TIMEOUT_MS);
  };
  return {
    url: `http://127.0.0.1:${port}`,
    user: USER,
    password: secrets.password,
    database: DATABASE,
    readerUser: 'reader',
    readerPassword: secrets.readerPassword,
    port,
    pid: engine.pid,
    exited: engine.exited,
    stop,
    kill: engine.kill,
  };
}

/** Where npm has put the engine for this machine. */
function findLibrary(): string {
  const name = `@chdb/lib-linux-${process.arch}-gnu`;
  try {
    const folder = path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    const library = path.join(folder, 'libchdb.so');
    if (existsSync(library)) return library;
  } catch {
    // Thrown below: the package is optional, npm leaves it out on machines it is not made for.
  }
  throw new StartError(
    `The embedded ClickHouse needs the npm package ${name}, which is not installed; name a ClickHouse server in LOGWEIR_CLICKHOUSE_URL instead.`,
  );
}

type Secrets = { readonly password: string; readonly readerPassword: string };

/** The passwords of this data directory, made at its first start. */
function keptSecrets(folder: string): Secrets {
  const file = path.join(folder, 'secrets.json');
  if (!existsSync(file)) {
    const secrets = { password: randomBytes(24).toString('hex'), readerPassword: randomBytes(24).toString('hex') };
    writeFileSync(file, `${JSON.stringify(secrets)}\n`, { mode: 0o600 });
  }
  return JSON.parse(readFileSync(file, 'utf8')) as Secrets;
}

/** Fills in the two templates; answers where the main configuration lies. */
function writeConfig({ folder, dataDir, survivesPowerLoss = false, backups, cold = null }: ServerOptions, secrets: Secrets): string {
  const remote = backups !== undefined && isS3(backups.at) ? backups : null;
  const backupFolder = remote === null && backups !== undefined ? backups.at : path.join(dataDir, 'backups');
  const usersFile = path.join(folder, 'users.xml');
  const configFile = path.join(folder, 'config.xml');
  const serverMemory = Math.min(MAX_SERVER_MEMORY_BYTES, os.totalmem() * 0.4);
  render('users.xml', usersFile, {
    database: DATABASE,
    passwordHash: sha256(secrets.password),
    readerPasswordHash: sha256(secrets.readerPassword),
    readerMemoryBytes: String(Math.floor(serverMemory * READER_SHARE)),
    readerQueries: String(READER_QUERIES),
  });
  render('config.xml', configFile, {
    usersFile: xmlText(usersFile),
    backupFolder: xmlText(path.resolve(backupFolder)),
    backupDisk: remote === null ? '' : `<allowed_disk>${BACKUP_DISK}</allowed_disk>`,
    storage: storageXml({ cold, backups: remote }, xmlText),
    fsync: survivesPowerLoss ? '1' : '0',
    maxServerMemoryBytes: String(Math.floor(serverMemory)),
    serverQueries: String(SERVER_QUERIES),
  });
  return configFile;
}

function render(name: string, file: string, values: Readonly<Record<string, string>>): void {
  const text = readFileSync(template(name), 'utf8');
  const filled = text.replace(/\{\{(\w+)\}\}/g, (all, key: string) => values[key] ?? all);
  writeFileSync(file, filled, { mode: 0o600 });
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const xmlText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function engineArguments(folder: string, configFile: string, httpPort: number): readonly string[] {
  return [
    `--path=${path.join(folder, 'data')}`,
    '--listen_host=127.0.0.1',
    `--http_port=${httpPort}`,
    '--log-level=warning', // only read here: the configuration's <logger> is ignored
    `--config-file=${configFile}`,
    '--query',
    KEEP_ALIVE,
  ];
}

/** Runs a statement on a connection of its own: one kept alive would delay the engine's end. */
function query(port: number, password: string, sql: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { connection: 'close', 'x-clickhouse-user': USER, 'x-clickhouse-key': password };
    const sent = http.request({ host: '127.0.0.1', port, method: 'POST', headers, agent: false, timeout: 5000 });
    sent.on('timeout', () => sent.destroy(new Error('ClickHouse did not answer within 5 s.')));
    sent.on('error', reject);
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`ClickHouse answered ${String(response.statusCode)}: ${text.slice(0, 500)}`));
      });
    });
    sent.end(sql);
  });
}
