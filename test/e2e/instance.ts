import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePorts } from '../free-ports.ts';
import { DescribedAnswers } from '../openapi/described-answers.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** A whole instance (supervisor, Kafka, ClickHouse, roles) in a temporary folder on free ports, as `npm start` starts it. */
export type Instance = {
  readonly app: string;
  readonly ingest: string;
  readonly admin: string;
  readonly key: string;
  readonly dataDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly supervisor: ChildProcess;
  /** From spawning the supervisor to the ready line, milliseconds. */
  readonly startMs: number;
  /** The processes of the instance by role. */
  processes(): Map<string, { readonly pid: number; readonly restarts: number }>;
  /** Sends a request with the key; the body is parsed as JSON where it is JSON. */
  call(
    method: string,
    url: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; headers: Headers; body: unknown }>;
  /** Sums `/hits` of a query over a window (default: all of the last 30 days). */
  count(query: string, window?: Readonly<Record<string, string>>): Promise<number>;
  /** SIGTERM; resolves with the exit code, and removes the folder unless it is kept. */
  stop(options?: { readonly keep?: boolean }): Promise<number>;
};

export type InstanceOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly dataDir?: string;
  /** What stands behind `npm start --`. */
  readonly args?: readonly string[];
  /** The folder of the program; the project itself without it. */
  readonly root?: string;
};

/** Those that were not stopped end with this process. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const supervisor of running) supervisor.kill('SIGTERM');
});

/** Starts an instance; throws what it said where it did not start. */
export async function startInstance(options: InstanceOptions = {}): Promise<Instance> {
  const dataDir = options.dataDir ?? mkdtempSync(path.join(os.tmpdir(), 'logweir-test-'));
  const [appPort, ingestPort, adminPort] = await freePorts(3);
  const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('LOGWEIR_') || name === 'LOGWEIR_NODE'));
  const key = 'e2e-key_0123456789';
  const env: NodeJS.ProcessEnv = {
    ...own,
    LOGWEIR_APP_PORT: String(appPort),
    LOGWEIR_INGEST_PORT: String(ingestPort),
    LOGWEIR_ADMIN_PORT: String(adminPort),
    LOGWEIR_DATA_DIR: dataDir,
    LOGWEIR_BOOTSTRAP_KEY: key,
    LOGWEIR_PLATFORM_ENTRIES_PER_SECOND: '0',
    // the disk of a machine that runs tests may be nearly full
    LOGWEIR_MIN_FREE_DISK_PERCENT: '0',
    // nobody asks /ready before a stop
    LOGWEIR_DRAIN_SECONDS: '0',
    ...options.env,
  };
  const began = Date.now();
  const program = ['main/start.mjs', ...(options.args ?? [])];
  const supervisor = spawn(process.execPath, program, { cwd: options.root ?? root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(supervisor);
  supervisor.once('exit', () => running.delete(supervisor));
  await readyLine(supervisor);
  return new RunningInstance({
    supervisor,
    dataDir,
    env,
    key,
    ports: [appPort, ingestPort, adminPort] as [number, number, number],
    startMs: Date.now() - began,
    isOther: options.root !== undefined && options.root !== root,
  });
}

let described: DescribedAnswers | null = null;

class RunningInstance implements Instance {
  readonly app: string;
  readonly ingest: string;
  readonly admin: string;
  readonly key: string;
  readonly dataDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly supervisor: ChildProcess;
  readonly startMs: number;
  readonly #isOther: boolean;

  constructor(made: {
    isOther: boolean;
    supervisor: ChildProcess;
    dataDir: string;
    env: NodeJS.ProcessEnv;
    key: string;
    ports: [number, number, number];
    startMs: number;
  }) {
    const [app, ingest, admin] = made.ports.map((port) => `http://127.0.0.1:${port}`) as [string, string, string];
    this.app = app;
    this.ingest = ingest;
    this.admin = admin;
    this.key = made.key;
    this.dataDir = made.dataDir;
    this.env = made.env;
    this.supervisor = made.supervisor;
    this.startMs = made.startMs;
    this.#isOther = made.isOther;
  }

  processes(): Map<string, { pid: number; restarts: number }> {
    const list = JSON.parse(readFileSync(path.join(this.dataDir, 'instance.json'), 'utf8')) as {
      role: string;
      pid: number;
      restarts: number;
    }[];
    return new Map(list.map((row) => [row.role, row]));
  }

  /** Every answer of the public hosts is as the description of the API has it. */
  #checkDescribed(method: string, url: string, { status, headers }: Response, body: unknown): void {
    // a program of another version has another description, and the ingest host lacks paths of the app host
    if (this.#isOther || !(url.startsWith(this.app) || (url.startsWith(this.ingest) && status !== 404))) return;
    described ??= DescribedAnswers.ofService();
    const fault = described.fault({ method, url, status, type: headers.get('content-type') ?? '', body });
    if (fault !== null) throw new Error(`An answer is not as it is described: ${fault}`);
  }

  async call(
    method: string,
    url: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; headers: Headers; body: unknown }> {
    const isText = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(url, {
      method,
      headers: {
        Authorization: `Bearer ${this.key}`,
        ...(body === undefined || isText ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    let parsed: unknown = text;
    try {
      parsed = JSON.parse(text);
    } catch {
      // no JSON: the text itself
    }
    this.#checkDescribed(method, url, response, parsed);
    return { status: response.status, headers: response.headers, body: parsed };
  }

  async count(query: string, window: Readonly<Record<string, string>> = { start: '-30d', end: 'now', step: '1d' }): Promise<number> {
    const { status, body } = await this.call(
      'GET',
      `${this.app}/api/v1/tenants/1/hits?${new URLSearchParams({ query, ...window }).toString()}`,
    );
    if (status !== 200) throw new Error(`/hits answered ${status}: ${JSON.stringify(body)}`);
    return (body as { hits: { hits: number }[] }).hits.reduce((sum, { hits }) => sum + hits, 0);
  }

  async stop({ keep = false } = {}): Promise<number> {
    const code = new Promise<number>((resolve) => this.supervisor.once('exit', (exit) => resolve(exit ?? 1)));
    if (this.supervisor.exitCode === null) this.supervisor.kill('SIGTERM');
    const result = this.supervisor.exitCode ?? (await code);
    if (!keep) rmSync(this.dataDir, { recursive: true, force: true });
    return result;
  }
}

function readyLine(supervisor: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    let errors = '';
    supervisor.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    supervisor.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const line = /^Logweir is ready: .*$/m.exec(output)?.[0];
      if (line !== undefined) resolve(line);
    });
    supervisor.once('exit', (code) => reject(new Error(`The instance ended with code ${String(code)}: ${errors}`)));
  });
}

/** Between two looks at a condition: a share of the wait so far, since looking takes more CPU time than waiting. Milliseconds. */
const [LEAST_LOOK_MS, MOST_LOOK_MS, LOOK_SHARE] = [100, 500, 0.1];

/** Waits until a condition holds; throws with what it last saw after `timeoutMs`. */
export async function until<T>(what: string, probe: () => Promise<T>, holds: (value: T) => boolean, timeoutMs = 240_000): Promise<T> {
  const began = Date.now();
  for (;;) {
    let last: unknown;
    try {
      const value = await probe();
      if (holds(value)) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    const waited = Date.now() - began;
    if (waited > timeoutMs)
      throw new Error(`${what} did not come within ${timeoutMs} ms; last: ${last instanceof Error ? last.message : JSON.stringify(last)}`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(MOST_LOOK_MS, Math.max(LEAST_LOOK_MS, LOOK_SHARE * waited))));
  }
}
