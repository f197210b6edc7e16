import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { identify, isAlive } from '../../../main/lock.mjs';
import { debianProgram } from '../debian-program.ts';
import { startInstance, until, type Instance } from '../instance.ts';
import type { SteadyClient } from './steady-client.ts';

type Answer = Awaited<ReturnType<Instance['call']>>;

/** A node of a cluster, by its own addresses. */
export type NodeAddresses = { readonly name: string; readonly app: string; readonly ingest: string; readonly admin: string };

/** `npm run cluster`, in a temporary folder. */
export class RunningCluster {
  /** As seen through the balancer; its programs know the engines. */
  readonly instance: Instance;
  readonly nodes: readonly NodeAddresses[];
  readonly #sets: readonly { readonly name: string; readonly port: number }[];
  readonly #programs: string;

  private constructor(instance: Instance, programs: string) {
    const read = (name: string): string => readFileSync(path.join(instance.dataDir, name), 'utf8');
    const { nodes, sets } = JSON.parse(read('cluster.json')) as {
      nodes: { name: string; app: number; ingest: number; admin: number }[];
      sets: { name: string; port: number }[];
    };
    const url = (port: number): string => `http://127.0.0.1:${String(port)}`;
    this.nodes = nodes.map(({ name, app, ingest, admin }) => ({ name, app: url(app), ingest: url(ingest), admin: url(admin) }));
    this.#sets = sets;
    this.#programs = programs;
    this.instance = Object.assign(instance, { env: { ...instance.env, ...parseEnv(read('cluster.env')) } });
  }

  /** Starts one, on the data of another maybe, or of the program in another folder. Throws NotHere where this machine cannot have HAProxy. */
  static async start(
    options: { readonly dataDir?: string; readonly args?: readonly string[]; readonly root?: string } = {},
  ): Promise<RunningCluster> {
    const { file, env } = await debianProgram('balancer', 'haproxy', 'usr/sbin/haproxy');
    const programs = mkdtempSync(path.join(os.tmpdir(), 'logweir-programs-'));
    const variables = Object.entries(env).map(([name, value]) => `${name}='${value}' `);
    writeFileSync(path.join(programs, 'haproxy'), `#!/bin/sh\n${variables.join('')}exec '${file}' "$@"\n`);
    chmodSync(path.join(programs, 'haproxy'), 0o755);
    const PATH = `${programs}:${process.env['PATH'] ?? ''}`;
    // the drain is what is tested
    const own = { PATH, LOGWEIR_DRAIN_SECONDS: '3' };
    try {
      return new RunningCluster(await startInstance({ ...options, args: ['--cluster', ...(options.args ?? [])], env: own }), programs);
    } catch (error) {
      rmSync(programs, { recursive: true, force: true });
      throw error;
    }
  }

  node(name: string): NodeAddresses {
    const found = this.nodes.find((node) => node.name === name);
    if (found === undefined) throw new Error(`There is no node ${name}.`);
    return found;
  }

  /** Sends a signal to a process of the cluster; resolves when another one runs in its place. */
  async replace(name: string, signal: NodeJS.Signals): Promise<void> {
    const pidNow = (): number => this.instance.processes().get(name)?.pid ?? 0;
    const before = pidNow();
    process.kill(before, signal);
    await until(`a new ${name}`, () => Promise.resolve(pidNow()), (pid) => pid !== before && pid !== 0); // prettier-ignore
  }

  /** The commands of the processes of a node. */
  commands(name: string): string {
    const text = readFileSync(path.join(this.instance.dataDir, name, 'instance.json'), 'utf8');
    const pids = (JSON.parse(text) as { pid: number }[]).map(({ pid }) => String(pid));
    return execFileSync('ps', ['-o', 'args=', '-p', pids.join(',')], { encoding: 'utf8' });
  }

  /** Resolves when these nodes are ready. */
  async untilReady(nodes: readonly NodeAddresses[] = this.nodes): Promise<void> {
    for (const { name, admin } of nodes)
      await until(`${name} ready`, () => this.instance.call('GET', `${admin}/ready`), ({ status }) => status === 200); // prettier-ignore
  }

  /** A request of an operator to a node. */
  admin(node: string, method: string, at: string, body?: object): Promise<Answer> {
    const Authorization = `Bearer ${String(this.instance.env['LOGWEIR_ADMIN_TOKEN'])}`;
    return this.instance.call(method, `${this.node(node).admin}/admin${at}`, body, { Authorization });
  }

  /** Runs a statement in each set, as the owner of its tables: the rows by set. */
  ask(statement: string): Promise<string[][][]> {
    return Promise.all(
      this.#sets.map(async ({ name, port }) => {
        const secrets = readFileSync(path.join(this.instance.dataDir, `clickhouse-${name}`, 'clickhouse', 'secrets.json'), 'utf8');
        const { password } = JSON.parse(secrets) as { password: string };
        const headers = { 'X-ClickHouse-User': 'logweir', 'X-ClickHouse-Key': password, 'X-ClickHouse-Database': 'logweir' };
        const response = await fetch(`http://127.0.0.1:${String(port)}`, { method: 'POST', body: statement, headers });
        const text = await response.text();
        if (!response.ok) throw new Error(text);
        return text.split('\n').slice(0, -1).map((line) => line.split('\t')); // prettier-ignore
      }),
    );
  }

  /** Nothing of the client has failed, and what was acknowledged to it is in each set: once, or at least once where it had to try again. */
  async expectOnce({ atOnce, again, searches, retries, failures }: SteadyClient): Promise<void> {
    console.log(`      ${String(atOnce.length + again.length)} entries, ${String(searches)} searches; tried again:`);
    for (const why of retries) console.log(`        ${why}`);
    expect(failures).to.deep.equal([]);
    const known = new Set([...atOnce, ...again]);
    const found = await until(
      'all entries',
      () => this.ask("SELECT _msg, count() FROM logs WHERE startsWith(_msg, 'steady ') GROUP BY _msg"),
      (sets) => sets.every((rows) => rows.length >= known.size),
    );
    for (const rows of found) {
      const counts = new Map(rows.map(([message = '', count]): [string, number] => [message, Number(count)]));
      expect(atOnce.filter((message) => counts.get(message) !== 1)).to.deep.equal([]);
      expect(again.filter((message) => !counts.has(message))).to.deep.equal([]);
    }
  }

  /** SIGTERM; resolves with the exit code. */
  async stop(options: { readonly keep?: boolean } = {}): Promise<number> {
    const code = await this.instance.stop(options);
    rmSync(this.#programs, { recursive: true, force: true });
    return code;
  }

  /** SIGKILL to the command alone; resolves when nothing of it runs any more, and removes its data. */
  async kill(): Promise<void> {
    const all = [...this.instance.processes().values()].flatMap(({ pid }) => identify(pid) ?? []);
    this.instance.supervisor.kill('SIGKILL');
    await until('the end of all', () => Promise.resolve(all.filter(isAlive)), ({ length }) => length === 0); // prettier-ignore
    for (const folder of [this.instance.dataDir, this.#programs]) rmSync(folder, { recursive: true, force: true });
  }
}
