import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { until, type Instance } from '../e2e/instance.ts';
import type { Target } from './attack.ts';
import type { Answers, Order } from './attacker.ts';
import type { DoorUrls } from './doors.ts';
import { cpuSeconds, watchProcesses } from './processes.ts';
import { QuietTenant, type QuietRecord } from './quiet-tenant.ts';
import type { AttackRecord } from './rules.ts';
import { seedSpans } from './seed-spans.ts';
import { count, createTenant, seedAttacker, seedQuiet, setPlan, type Tenant } from './seed.ts';

export type RunnerOptions = {
  /** Of the instance. */
  readonly doors: DoorUrls;
  /** How many small entries the attacker has. */
  readonly entries: number;
  /** The attacker's plan. */
  readonly plan?: string;
  /** How long an attack goes on, and how long the attacker waits for what was not answered then. Milliseconds. */
  readonly attackMs: number;
  readonly graceMs: number;
  /** Of how many answers of a kind the quiet tenant waits at most; without it, any number: then its times tell all. */
  readonly maxPending?: number;
};

/** The instance is at rest where it uses less than so much of a core in a time; after so long it is gone on without. */
const REST_SHARE = 0.3;
const LOOK_MS = 500;
const MAX_REST_MS = 20_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs attacks against an instance, one after the other, beside a quiet tenant. */
export class HostileRunner {
  readonly #instance: Instance;
  readonly #options: RunnerOptions;
  readonly #tenant: Tenant;
  readonly #quiet: QuietTenant;
  readonly #target: Target;
  readonly #attacker: ChildProcess;

  private constructor(made: { instance: Instance; options: RunnerOptions; tenant: Tenant; target: Target; attacker: ChildProcess }) {
    this.#instance = made.instance;
    this.#options = made.options;
    this.#tenant = made.tenant;
    this.#quiet = new QuietTenant(made.instance, made.tenant, made.options);
    this.#target = made.target;
    this.#attacker = made.attacker;
  }

  /** Makes both tenants and their entries. */
  static async start(instance: Instance, options: RunnerOptions): Promise<HostileRunner> {
    const [bad, tenant] = [await createTenant(instance, 'attacker'), await createTenant(instance, 'quiet')];
    await seedQuiet(instance, tenant);
    const target = { ...(await seedAttacker(instance, bad, options.entries)), ...options.doors };
    await seedSpans(instance, bad, options.entries);
    for (const one of [bad, tenant]) await setPlan(instance, one, options.plan ?? 'custom');
    const attacker = fork(path.join(import.meta.dirname, 'attacker.ts'), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    await once(attacker, 'message');
    return new HostileRunner({ instance, options, tenant, target, attacker });
  }

  /** What the quiet tenant sees while nobody attacks. */
  alone(ms: number): Promise<QuietRecord> {
    return this.#quiet.during(pause(ms));
  }

  /** Runs one attack. */
  async run(name: string): Promise<AttackRecord> {
    await this.#rest();
    const began = performance.now();
    const watched = await watchProcesses(this.#instance);
    const { attackMs, graceMs } = this.#options;
    const order: Order = { attack: name, target: this.#target, attackMs, graceMs };
    const ended = once(this.#attacker, 'message') as Promise<[Answers]>;
    this.#attacker.send(order);
    const quiet = await this.#quiet.during(ended);
    const [answers] = await ended;
    const processes = await watched.stop();
    return { name, quiet, answers, processes, seconds: (performance.now() - began) / 1000 };
  }

  /** Throws where an entry of the quiet tenant was acknowledged and is not found. */
  async checkWritten(): Promise<void> {
    await until(
      'the entries of the quiet tenant',
      () => count(this.#instance, this.#tenant, 'app:=quiet'),
      (found) => found >= this.#quiet.written,
    );
  }

  stop(): void {
    this.#quiet.close();
    this.#attacker.disconnect();
  }

  /** Waits until what the attack before has left behind is done. */
  async #rest(): Promise<void> {
    const end = performance.now() + MAX_REST_MS;
    for (let before = cpuSeconds(this.#instance); performance.now() < end;) {
      await pause(LOOK_MS);
      const now = cpuSeconds(this.#instance);
      if ((now - before) * 1000 < LOOK_MS * REST_SHARE) return;
      before = now;
    }
  }
}
