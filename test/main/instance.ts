import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../free-ports.ts';

const FIXTURES = path.join(import.meta.dirname, 'fixtures');
const START = path.join(FIXTURES, 'start.ts');

/** A line of `instance.json`. */
export type InstanceProcess = { readonly role: string; readonly pid: number; readonly restarts: number };

/** What a fake role or engine has written down. */
export type Event = { readonly role: string; readonly event: string } & Readonly<Record<string, unknown>>;

/** An instance of the supervisor in a process of its own, with a fake program and, if so asked, fake engines. */
export class Instance {
  readonly dataDir: string;
  stdout = '';
  stderr = '';
  #child: ChildProcess | null = null;
  #exited: Promise<number | NodeJS.Signals> = Promise.resolve(0);
  readonly #env: Readonly<Record<string, string>>;

  /** The folder that this instance has made itself: the only one that it may delete. */
  readonly #ownFolder: string;

  private constructor(ownFolder: string, env: Readonly<Record<string, string>>) {
    this.#ownFolder = ownFolder;
    this.dataDir = env['LOGWEIR_DATA_DIR'] ?? ownFolder;
    this.#env = { ...env, LOGWEIR_DATA_DIR: this.dataDir };
  }

  /** Prepares one with its own data directory and ports; `env` overrides. */
  static async create(env: Readonly<Record<string, string>> = {}): Promise<Instance> {
    const ownFolder = mkdtempSync(path.join(tmpdir(), 'logweir-test-'));
    const [app, ingest, admin] = (await freePorts(3)).map(String) as [string, string, string];
    const ports = { LOGWEIR_APP_PORT: app, LOGWEIR_INGEST_PORT: ingest, LOGWEIR_ADMIN_PORT: admin };
    return new Instance(ownFolder, { ...ports, ...env });
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  spawn(...args: string[]): this {
    return this.#spawn(process.execPath, [START, ...args]);
  }

  /** Spawns it as the child of a shell, as npm may do; signals reach the shell only. */
  spawnUnderShell(): this {
    return this.#spawn('sh', ['-c', `${[process.execPath, START].map((word) => `"${word}"`).join(' ')}; exit $?`]);
  }

  #spawn(command: string, args: readonly string[]): this {
    const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(LOGWEIR|FAKE|npm)_/.test(name)));
    const child = spawn(command, args, {
      env: { ...inherited, ...this.#env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.stdout = '';
    this.stderr = '';
    child.stdout.on('data', (part: Buffer) => (this.stdout += part.toString()));
    child.stderr.on('data', (part: Buffer) => (this.stderr += part.toString()));
    this.#child = child;
    this.#exited = new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code ?? -1)));
    return this;
  }

  /** Waits for the ready line. */
  async ready(timeoutMs = 45_000): Promise<void> {
    await until(() => this.stdout.includes('Logweir is ready') || this.#child?.exitCode !== null, 'ready', timeoutMs);
    if (this.#child?.exitCode !== null) throw new Error(`The supervisor ended: ${this.stderr}`);
  }

  /** Waits for the end; answers the exit code or the signal. */
  exited(): Promise<number | NodeJS.Signals> {
    return this.#exited;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Stops it, whatever state it is in, and removes the folder that was made for it; never one that it was given. */
  async dispose(): Promise<void> {
    this.signal('SIGINT');
    const timer = setTimeout(() => this.signal('SIGKILL'), 40_000);
    await this.#exited;
    clearTimeout(timer);
    rmSync(this.#ownFolder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  processes(): InstanceProcess[] {
    const file = path.join(this.dataDir, 'instance.json');
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as InstanceProcess[]) : [];
  }

  process(role: string): InstanceProcess {
    const found = this.processes().find((one) => one.role === role);
    if (found === undefined) throw new Error(`No ${role} among the processes.`);
    return found;
  }

  events(event: string, role?: string): Event[] {
    const file = path.join(this.dataDir, 'events');
    if (!existsSync(file)) return [];
    // the last line may be half written
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    const all = lines.map((line) => JSON.parse(line) as Event);
    return all.filter((one) => one.event === event && (role === undefined || one.role === role));
  }

  /** Runs `logweir ps` on its data directory. */
  ps(...args: string[]): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
    const child = spawn(process.execPath, [path.join(FIXTURES, 'ps.ts'), ...args], {
      env: { ...process.env, LOGWEIR_DATA_DIR: this.dataDir },
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (part: Buffer) => (stdout += part.toString()));
    child.stderr.on('data', (part: Buffer) => (stderr += part.toString()));
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
  }
}

/** Waits until a condition holds; fails with its name otherwise. */
export async function until(condition: () => boolean | Promise<boolean>, name: string, timeoutMs = 45_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain: ${name}`);
    await sleep(20);
  }
}

/** Whether a process is there and not only waiting to be buried. */
export function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
