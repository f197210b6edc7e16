import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startClickHouse, type ClickHouse } from '../../compose/embedded/clickhouse.ts';
import type { StoragePlace } from '../../pipeline/core/storage-place.ts';
import { freePorts } from '../free-ports.ts';
import { NativeProxy } from './native-proxy.ts';

/** What the first servers of a set call themselves together, by their number. */
export const clusterOf = (count: number): string => `logweir_${String(count)}`;

type Places = {
  /** Of the servers' data; a temporary one without it. It is removed at the end. */
  readonly folder?: string;
  /** Where their backups lie; in the folder of each without it. */
  readonly backups?: StoragePlace;
};

/** Servers that are the shards of one set: they have the same users, and each knows where the others are. */
export class ShardEngines {
  readonly folder: string;
  readonly #backups: StoragePlace | undefined;
  readonly #running: (ClickHouse | null)[];

  readonly #proxies: readonly NativeProxy[];

  private constructor(ports: readonly number[], proxies: readonly NativeProxy[], { folder, backups }: Places) {
    this.folder = folder ?? mkdtempSync(path.join(os.tmpdir(), 'logweir-shards-'));
    this.#backups = backups;
    this.#proxies = proxies;
    this.#running = ports.map(() => null);
    const secrets = { password: randomBytes(24).toString('hex'), readerPassword: randomBytes(24).toString('hex') };
    const shard = (port: number): string =>
      `<shard><replica><host>127.0.0.1</host><port>${String(port)}</port><user>reader</user><password>${secrets.readerPassword}</password></replica></shard>`;
    /** What a server calls the first of them, by their number; it knows itself by its own port. */
    const clustersOf = (own: number): string =>
      ports
        .map((_port, last) => {
          const known = proxies.slice(0, last + 1).map((proxy, index) => shard(index === own ? (ports[own] ?? 0) : proxy.port));
          return `<${clusterOf(last + 1)}>${known.join('')}</${clusterOf(last + 1)}>`;
        })
        .join('');
    ports.forEach((port, index) => {
      const own = path.join(this.#dataDir(index), 'clickhouse');
      for (const name of ['config.d', 'users.d']) mkdirSync(path.join(own, name), { recursive: true });
      writeFileSync(path.join(own, 'secrets.json'), JSON.stringify(secrets));
      writeFileSync(
        path.join(own, 'config.d/shards.xml'),
        `<clickhouse><tcp_port>${String(port)}</tcp_port><remote_servers>${clustersOf(index)}</remote_servers></clickhouse>`,
      );
      this.setReader(index);
    });
  }

  /** What holds for the reader of a server from its next start on; `more`: elements of users.xml. */
  setReader(index: number, more = ''): void {
    const grants = ['logweir.*', 'logweir_shards.*'].map((what) => `<query>GRANT SELECT ON ${what}</query>`).join('');
    const file = path.join(this.#dataDir(index), 'clickhouse/users.d/shards.xml');
    writeFileSync(file, `<clickhouse><users><reader><grants replace="1">${grants}</grants>${more}</reader></users></clickhouse>`);
  }

  /** Lays them out; none of them runs yet. */
  static async make(count: number, places: Places = {}): Promise<ShardEngines> {
    const ports = await freePorts(count);
    return new ShardEngines(ports, await Promise.all(ports.map((port) => NativeProxy.start(port))), places);
  }

  static async start(count: number): Promise<ShardEngines> {
    const engines = await ShardEngines.make(count);
    await Promise.all(Array.from({ length: count }, (_none, index) => engines.start(index)));
    return engines;
  }

  #dataDir(index: number): string {
    return path.join(this.folder, String(index));
  }

  /** Of the servers, in their order. */
  get indexes(): number[] {
    return [...this.#running.keys()];
  }

  /** The server of a shard, counted from 0. */
  at(index: number): ClickHouse {
    const engine = this.#running[index];
    if (engine === null || engine === undefined) throw new Error(`The shard ${String(index)} does not run.`);
    return engine;
  }

  /** Starts the server of a shard, on the port that it had. */
  async start(index: number, port?: number, onSpawn?: (pid: number) => void): Promise<ClickHouse> {
    const engine = await startClickHouse({ dataDir: this.#dataDir(index), port, backups: this.#backups, onSpawn });
    this.#running[index] = engine;
    await this.ask(index, 'SYSTEM START LISTEN TCP');
    return engine;
  }

  /** Removes all that a server has stored, as where its disk is lost; it must have ended. Its users and its configuration stay. */
  loseDisk(index: number): void {
    rmSync(path.join(this.#dataDir(index), 'clickhouse/data'), { recursive: true });
  }

  /** Writes the file that names them as the set `b`, in this order; where it is. */
  writeSets(order: readonly number[]): string {
    const [first = 0, ...rest] = order;
    const { url, user, password, readerUser, readerPassword } = this.at(first);
    const shards = rest.map((index) => ({ url: this.at(index).url }));
    const ofShards = rest.length === 0 ? {} : { cluster: clusterOf(order.length), shards };
    const set = { name: 'b', url, user, password, reader_user: readerUser, reader_password: readerPassword, ...ofShards };
    const file = path.join(this.folder, `sets-${String(order.length)}.json`);
    writeFileSync(file, JSON.stringify({ sets: [set] }));
    return file;
  }

  /** As `kill -9`, and waits for its end; the port that it had. */
  async kill(index: number): Promise<number> {
    const engine = this.at(index);
    engine.kill();
    await engine.exited;
    return engine.port;
  }

  /** Stops a server where it is, or lets it go on. */
  signal(index: number, name: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    process.kill(this.at(index).pid, name);
    return Promise.resolve();
  }

  /** Runs a statement on one of them, as its owner: the rows of its result as texts. */
  async ask(index: number, statement: string): Promise<string[][]> {
    const text = String(await this.#send(index, statement));
    return text.split('\n').slice(0, -1).map((line) => line.split('\t')); // prettier-ignore
  }

  async #send(index: number, body: string | Buffer, query = ''): Promise<Buffer> {
    const { url, user, password } = this.at(index);
    const headers = { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password };
    const response = await fetch(`${url}/${query}`, { method: 'POST', body: new Uint8Array(Buffer.from(body)), headers });
    const answer = Buffer.from(await response.arrayBuffer());
    if (!response.ok) throw new Error(String(answer));
    return answer;
  }

  /** Moves rows that meet a condition from the first server to the second one. */
  async move(table: string, condition: string): Promise<void> {
    const names = (await this.ask(0, `SELECT name FROM system.columns WHERE database = 'logweir' AND table = '${table}' AND default_kind NOT IN ('ALIAS', 'MATERIALIZED')`)).flat().join(', '); // prettier-ignore
    const rows = await this.#send(0, `SELECT ${names} FROM logweir.${table} WHERE ${condition} FORMAT Native`);
    const insert = `?query=${encodeURIComponent(`INSERT INTO logweir.${table} (${names}) FORMAT Native`)}`;
    if (rows.length > 0) await this.#send(1, rows, insert);
    await this.#send(0, `ALTER TABLE logweir.${table} DELETE WHERE ${condition} SETTINGS mutations_sync = 1`);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.map(async (engine) => engine?.stop()));
    for (const proxy of this.#proxies) proxy.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
