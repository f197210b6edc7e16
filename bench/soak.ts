/**
 * `npm run bench:soak`: whether full load can go on: rate, backlog, parts and memory, minute by minute. Writes some 40 GB in 30 minutes, and
 * deletes it at the end.
 *   npm run bench:soak -- [--minutes 30] [--partitions 2,12] [--tenants 50] [--connections 4] [--body 2000]
 * With several numbers of partitions, there is an instance for each, loaded at the same time. The backlog is how long ago the oldest entry that
 * is not in the table yet was acknowledged, looked at every second; its most in a minute is told. Prints a Markdown table.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startInstance, type Instance } from '../test/e2e/instance.ts';
import { ask, createTenants } from './instance-load.ts';
import { LoadConnections } from './load.ts';
import { cpuSeconds } from './processes.ts';
import { bulkBodies } from './wire/bodies.ts';

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    partitions: { type: 'string', default: '2,12' },
    tenants: { type: 'string', default: '50' },
    connections: { type: 'string', default: '4' },
    body: { type: 'string', default: '2000' },
  },
});
const [bodySize, MINUTE_MS] = [Number(flags.body), 60_000];
const endAt = (began: number): number => began + Number(flags.minutes) * MINUTE_MS;

/** Bodies that are made anew one by one while the load goes on, so that times move on. */
const bodies = bulkBodies(40, bodySize, Date.now());
let oldest = 0;
const renewing = setInterval(() => {
  bodies[oldest++ % bodies.length] = bulkBodies(1, bodySize, Date.now())[0] as Buffer;
}, 1000);

type Minute = { readonly acknowledged: number; readonly stored: number; readonly backlogMs: number; readonly parts: number };

class Soak {
  readonly partitions: string;
  readonly minutes: Minute[] = [];
  readonly #instance: Instance;
  readonly #connections = new LoadConnections(Number(flags.connections));
  #entries = 0;
  refused = 0;
  /** Entries acknowledged in all, second by second. */
  readonly #told: { readonly at: number; readonly entries: number }[] = [];

  constructor(partitions: string, instance: Instance) {
    this.partitions = partitions;
    this.#instance = instance;
  }

  async run(began: number): Promise<void> {
    const keys = await createTenants(this.#instance, Number(flags.tenants));
    const url = `${this.#instance.ingest}/_bulk`;
    let next = 0;
    const send = async (): Promise<void> => {
      while (performance.now() < endAt(began)) {
        const number = next++;
        const body = bodies[number % bodies.length] as Buffer;
        const key = keys[number % keys.length] as string;
        const { status } = await this.#connections.send({ url, key, contentType: 'application/x-ndjson', body });
        if (status === 200) this.#entries += bodySize;
        else this.refused += 1;
      }
    };
    await Promise.all([this.#watch(began), ...Array.from({ length: Number(flags.connections) }, send)]);
    this.#connections.close();
  }

  async #watch(began: number): Promise<void> {
    for (let minute = 1; minute <= Number(flags.minutes); minute++) {
      const [first, before] = [this.#entries, await this.#stored()];
      let backlogMs = 0;
      while (performance.now() < began + minute * MINUTE_MS) {
        this.#told.push({ at: performance.now(), entries: this.#entries });
        backlogMs = Math.max(backlogMs, this.#backlog(await this.#stored()));
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
      const parts = Number(await ask(this.#instance, "SELECT count() FROM system.parts WHERE active AND table = 'logs'"));
      this.minutes.push({ acknowledged: this.#entries - first, stored: (await this.#stored()) - before, backlogMs, parts });
      console.error(`${this.partitions} partitions, minute ${String(minute)}: ${JSON.stringify(this.minutes.at(-1))}, ${this.#memory()}`);
    }
  }

  #stored(): Promise<number> {
    return ask(this.#instance, 'SELECT count() FROM logs').then(Number);
  }

  /** How long ago the first second ended at whose end more was acknowledged than is stored. */
  #backlog(stored: number): number {
    while ((this.#told[0]?.entries ?? Infinity) <= stored) this.#told.shift();
    const [first] = this.#told;
    return first === undefined ? 0 : performance.now() - first.at;
  }

  /** What the processes have taken up at most. */
  #memory(): string {
    return [...this.#instance.processes()]
      .map(([role, { pid }]) => {
        const most = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1] ?? '0';
        return `${role} ${String(Math.round(Number(most) / 1024))} MB`;
      })
      .join(', ');
  }

  row(): string {
    const mean = (minutes: readonly Minute[], of: (minute: Minute) => number): number =>
      minutes.reduce((sum, minute) => sum + of(minute), 0) / minutes.length;
    const [first, last] = [this.minutes.slice(0, 5), this.minutes.slice(-5)];
    const rates = [first, last].map((minutes) => mean(minutes, ({ stored }) => stored) / 60);
    const most = (of: (minute: Minute) => number): number => Math.max(...this.minutes.map(of));
    return `| ${[
      this.partitions,
      rates.map((rate) => rate.toFixed(0)).join(' → '),
      ((rates[1] ?? NaN) / (rates[0] ?? NaN)).toFixed(2),
      (mean(this.minutes, ({ backlogMs }) => backlogMs) / 1000).toFixed(1),
      (most(({ backlogMs }) => backlogMs) / 1000).toFixed(1),
      String(most(({ parts }) => parts)),
      String(this.minutes.at(-1)?.parts),
      String(this.refused),
      this.#memory(),
      ((1e6 * this.#cpu()) / this.#entries).toFixed(1),
    ].join(' | ')} |`;
  }

  #cpu(): number {
    return [...this.#instance.processes().values()].reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
  }
}

const instances: Instance[] = [];
try {
  const soaks: Soak[] = [];
  for (const partitions of flags.partitions.split(',')) {
    const instance = await startInstance({ env: { LOGWEIR_LOG_PARTITIONS: partitions } });
    instances.push(instance);
    soaks.push(new Soak(partitions, instance));
  }
  const began = performance.now();
  await Promise.all(soaks.map((soak) => soak.run(began)));
  console.log(`${flags.minutes} minutes, bodies of ${flags.body}, ${flags.tenants} tenants, ${flags.connections} connections each\n`);
  console.log(
    '| partitions | stored/s in the first → last five minutes | ratio | backlog, s, mean of the most in a minute | most | parts at most | at the end | refused | most memory | CPU µs an entry |',
  );
  console.log('|---|---|---|---|---|---|---|---|---|---|');
  for (const soak of soaks) console.log(soak.row());
} finally {
  clearInterval(renewing);
  await Promise.all(instances.map((instance) => instance.stop()));
}
process.exit(0);
