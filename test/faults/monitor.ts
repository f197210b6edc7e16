import { readFileSync } from 'node:fs';
import { ROLE_NAMES, type Cluster, type RoleName } from './cluster.ts';

/**
 * Resident memory of a process of ours, MiB: shortly after its first start, the most of the first minute of load, the most it ever was,
 * and at rest after the load, when all is stored. `warm` is null where the load lasted for less than two minutes: what comes to its
 * working size takes about one.
 */
export type Memory = { readonly start: number; readonly warm: number | null; readonly max: number; readonly end: number };

/** A look at the table: rows at a time (milliseconds since the epoch). */
export type Stored = { readonly at: number; readonly rows: number };

const EVERY_MS = 500;
const WARM_UP_MS = 60_000;

/** Looks at memory and at the table while a scenario runs. */
export class Monitor {
  readonly stored: Stored[] = [];
  readonly #cluster: Cluster;
  readonly #memory = new Map<RoleName, { start: number; warm: number; max: number; end: number }>();
  #began = 0;
  #ended = 0;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | null = null;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  start(): void {
    this.#began = performance.now();
    this.#timer = setInterval(() => {
      this.#look();
    }, EVERY_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
    this.#look();
    await this.#looking;
    this.#ended = performance.now();
  }

  /** After `stop`, when the processes are at rest: what they take up now is their end. */
  lookAtRest(): void {
    for (const name of ROLE_NAMES) this.#lookAtMemory(name);
  }

  get memory(): Readonly<Record<string, Memory>> {
    const isLong = this.#ended - this.#began >= 2 * WARM_UP_MS;
    return Object.fromEntries([...this.#memory].map(([name, memory]) => [name, { ...memory, warm: isLong ? memory.warm : null }]));
  }

  #look(): void {
    for (const name of ROLE_NAMES) this.#lookAtMemory(name);
    this.#looking ??= this.#countRows().finally(() => {
      this.#looking = null;
    });
  }

  #lookAtMemory(name: RoleName): void {
    const mib = residentMiB(this.#cluster.process(name).pid);
    if (mib === null) return;
    const memory = this.#memory.get(name);
    if (memory === undefined) this.#memory.set(name, { start: mib, warm: mib, max: mib, end: mib });
    else {
      if (performance.now() - this.#began < WARM_UP_MS) memory.warm = Math.max(memory.warm, mib);
      memory.max = Math.max(memory.max, mib);
      memory.end = mib;
    }
  }

  async #countRows(): Promise<void> {
    const { url, user, password } = this.#cluster.clickhouse;
    const body = "SELECT sum(rows) FROM system.parts WHERE active AND table = 'logs'";
    try {
      const headers = { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password };
      const response = await fetch(url, { method: 'POST', body, headers, signal: AbortSignal.timeout(5000) });
      const rows = Number(await response.text());
      if (response.ok) this.stored.push({ at: Date.now(), rows });
    } catch {
      // ClickHouse is down just now: that is what is being tried
    }
  }
}

/** Resident memory of a process in MiB; null where there is none. */
function residentMiB(pid: number): number | null {
  if (pid === 0) return null;
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1];
    return kib === undefined ? null : Math.round(Number(kib) / 1024);
  } catch {
    return null;
  }
}
