import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { until } from '../e2e/instance.ts';
import { freePorts } from '../free-ports.ts';
import { goCommand, goEnvironment } from './go-toolset.ts';

/** Where an example runs: a copy of its folder inside its toolset's, so that programs find their packages. */
export type Workplace = {
  readonly folder: string;
  readonly toolset: string;
  /** `http://127.0.0.1:PORT`, and the key, as the program's environment and its configuration have them. */
  readonly url: string;
  readonly key: string;
};

/** A shipper that runs. */
export type Running = {
  /** What it printed so far. */
  output(): string;
  /** The exit code, null while it runs. */
  exitCode(): number | null;
  /** Resolves when it has ended by itself. */
  readonly ended: Promise<void>;
  /** Ends it (SIGTERM, after 5 s SIGKILL) unless it has ended. */
  stop(): Promise<void>;
};

const examples = path.resolve(import.meta.dirname, '../../examples');

/**
 * Copies an example, a folder of `examples/shippers/` or with its own folder before it (`traces/otelcol`). In `.conf` files KEY becomes the key and port 8081 the wire's; `edit` replaces a text, which must be there, in
 * every program (the variant of an example that differs by one word).
 */
export function layOut(
  example: string,
  toolset: string,
  at: { readonly port: number; readonly key: string },
  edit?: readonly [string, string],
): Workplace {
  const folder = mkdtempSync(path.join(toolset, `run-${path.basename(example)}-`));
  cpSync(path.join(examples, example.includes('/') ? example : path.join('shippers', example)), folder, { recursive: true });
  let edits = 0;
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    let text = readFileSync(file, 'utf8');
    if (name.endsWith('.conf')) text = text.replace(/\bKEY\b/g, at.key).replace(/\b8081\b/g, String(at.port));
    if (edit !== undefined && text.includes(edit[0])) {
      text = text.replace(edit[0], edit[1]);
      edits += 1;
    }
    writeFileSync(file, text);
  }
  if (edit !== undefined && edits !== 1) throw new Error(`${example} has ${edits} files with ${edit[0]}`);
  return { folder, toolset, url: `http://127.0.0.1:${at.port}`, key: at.key };
}

/** Removes what `layOut` made. */
export function clearUp({ folder }: Workplace): void {
  rmSync(folder, { recursive: true, force: true });
}

type Start = (at: Workplace) => Running | Promise<Running>;

/** A Node program, fed with text. `env`: what its environment has beside. */
export const node =
  (program: string, stdin = (): string => '', env: NodeJS.ProcessEnv = {}): Start =>
  (at) =>
    start(at, process.execPath, [program], { stdin: stdin(), env });

/** A Python program. */
export const python =
  (program: string, env: NodeJS.ProcessEnv = {}): Start =>
  (at) =>
    start(at, path.join(at.toolset, 'bin', 'python'), [program], { env });

/** A program in Go, compiled first with what its toolset has. */
export const goProgram: Start = async (at) => {
  const compiler = start(at, goCommand() ?? 'go', ['build', '-o', 'program', '.'], { env: goEnvironment() });
  await compiler.ended;
  return compiler.exitCode() === 0 ? start(at, path.join(at.folder, 'program'), []) : compiler;
};

/** A shell script, which finds the programs of its toolset. */
export const shell =
  (script: string): Start =>
  (at) =>
    start(at, 'sh', [script], { env: { PATH: `${path.join(at.toolset, 'bin')}${path.delimiter}${process.env['PATH'] ?? ''}` } });

/** The Collector with the configuration of an example on a port of its own, before the program of another example that sends to it. */
export const throughCollector =
  (example: string, run: Start): Start =>
  async (at) => {
    const [port = 0] = await freePorts(1);
    const collector = start(at, path.join(at.toolset, 'bin', 'otelcol'), ['--config', 'config.yaml'], { env: { OTLP_PORT: String(port) } });
    await send(port, '', collector);
    if (collector.exitCode() !== null) return collector;
    const place = layOut(example, at.toolset, { port, key: at.key });
    const sender = await run(place);
    await sender.ended;
    clearUp(place);
    return { ...collector, output: () => sender.output() + collector.output() };
  };

/** App.java, compiled first. */
export const java: Start = async (at) => {
  const jars = readdirSync(at.toolset)
    .filter((name) => name.endsWith('.jar'))
    .map((name) => path.join(at.toolset, name));
  const classpath = ['.', ...jars].join(path.delimiter);
  const program = process.env['JAVA_HOME'] === undefined ? 'java' : path.join(process.env['JAVA_HOME'], 'bin', 'java');
  const flags = ['-17', '-encoding', 'UTF-8', '-proc:none', '-nowarn', '-d', '.', '-cp', classpath];
  const compiler = start(at, program, ['-cp', classpath, 'org.eclipse.jdt.internal.compiler.batch.Main', ...flags, 'App.java']);
  await compiler.ended;
  return compiler.exitCode() === 0 ? start(at, program, ['-cp', classpath, 'App']) : compiler;
};

/** rsyslogd in the foreground with a TCP input before the example; takes the frames as its own system's messages. */
export const rsyslog =
  (frames: () => string): Start =>
  async (at) => {
    const [port = 0] = await freePorts(1);
    const root = path.join(at.toolset, 'rsyslog', 'root');
    const config = `
global(workDirectory="${at.folder}")
module(load="imptcp")
input(type="imptcp" address="127.0.0.1" port="${port}")
include(file="${at.folder}/60-logweir.conf")
`;
    writeFileSync(path.join(at.folder, 'main.conf'), config);
    const modules = folderOf(root, 'imptcp.so');
    const args = ['-n', '-f', 'main.conf', '-i', path.join(at.folder, 'pid'), '-M', modules];
    const daemon = start(at, path.join(root, 'usr', 'sbin', 'rsyslogd'), args, { libraries: root });
    await send(port, frames(), daemon);
    return daemon;
  };

/** syslog-ng in the foreground with a TCP source before the example. */
export const syslogNg =
  (frames: () => string): Start =>
  async (at) => {
    const [port = 0] = await freePorts(1);
    const root = path.join(at.toolset, 'syslog-ng', 'root');
    const modules = folderOf(root, 'libhttp.so');
    const version = /\d+\.\d+$/.exec(modules)?.[0] ?? 'current';
    const config = `@version: ${version}
options { keep-hostname(yes); };
source s_src { network(ip("127.0.0.1") port(${port}) transport("tcp") flags(syslog-protocol)); };
@include "${at.folder}/logweir.conf"
`;
    writeFileSync(path.join(at.folder, 'main.conf'), config);
    const own = (name: string): string => path.join(at.folder, name);
    const files = ['-f', own('main.conf'), '-R', own('persist'), '-c', own('control'), '-p', own('pid')];
    const args = ['-F', '--no-caps', '--module-path', modules, ...files];
    const daemon = start(at, path.join(root, 'usr', 'sbin', 'syslog-ng'), args, { libraries: root });
    await send(port, frames(), daemon);
    return daemon;
  };

/** Telegraf, once. */
export const telegraf: Start = (at) => start(at, path.join(at.toolset, 'bin', 'telegraf'), ['--config', 'telegraf.conf', '--once']);

/** A server of Prometheus with the configuration of an example, which reads its own page each second. */
export const prometheus: Start = async (at) => {
  const [port = 0] = await freePorts(1);
  return startPrometheus(at, readFileSync(path.join(at.folder, 'prometheus.yml'), 'utf8'), port);
};

/** collectd in the foreground with the configuration of an example, and a Prometheus with that of another one that reads its page too. */
export const collectd: Start = async (at) => {
  const [port = 0, page = 0] = await freePorts(2);
  const root = path.join(at.toolset, 'collectd', 'root');
  const example = readFileSync(path.join(at.folder, 'collectd.conf'), 'utf8');
  const config = `
BaseDir "${at.folder}"
PIDFile "${at.folder}/pid"
PluginDir "${folderOf(root, 'write_prometheus.so')}"
TypesDB "${path.join(root, 'usr', 'share', 'collectd', 'types.db')}"
${replaced(example, ['Interval 10', 'Interval 1'], ['"9103"', `"${String(page)}"`])}`;
  writeFileSync(path.join(at.folder, 'main.conf'), config);
  const daemon = start(at, path.join(root, 'usr', 'sbin', 'collectd'), ['-f', '-C', 'main.conf'], { libraries: root });
  await send(page, '', daemon);
  const job = `  - job_name: collectd\n    static_configs: [{ targets: ['127.0.0.1:${String(page)}'] }]\nremote_write:`;
  const text = readFileSync(path.join(examples, 'shippers', 'prometheus', 'prometheus.yml'), 'utf8');
  const reader = startPrometheus(at, replaced(text, ['remote_write:', job]), port);
  return {
    ...reader,
    output: () => daemon.output() + reader.output(),
    stop: async () => {
      await reader.stop();
      await daemon.stop();
    },
  };
};

function startPrometheus(at: Workplace, example: string, port: number): Running {
  const text = replaced(
    example,
    ['KEY', at.key],
    ['http://localhost:8080', at.url],
    ['localhost:9090', `127.0.0.1:${String(port)}`],
    ['scrape_interval: 15s', 'scrape_interval: 1s'],
  );
  writeFileSync(path.join(at.folder, 'main.yml'), text);
  const packaged = path.join(at.toolset, 'prometheus', 'root', 'usr', 'bin', 'prometheus');
  const program = existsSync(packaged) ? packaged : path.join(at.toolset, 'bin', 'prometheus');
  const args = ['--config.file=main.yml', '--storage.tsdb.path=samples', `--web.listen-address=127.0.0.1:${String(port)}`];
  return start(at, program, args);
}

/** A text with others in place of parts that it must have. */
function replaced(text: string, ...pairs: readonly (readonly [from: string, to: string])[]): string {
  return pairs.reduce((before, [from, to]) => {
    if (!before.includes(from)) throw new Error(`no ${from} in ${before}`);
    return before.replace(from, to);
  }, text);
}

/** Delivers text to a daemon's TCP port as soon as it listens. */
async function send(port: number, text: string, daemon: Running): Promise<void> {
  const deliver = (): Promise<boolean> =>
    new Promise((resolve, reject) => {
      const socket = net.connect(port, '127.0.0.1', () => socket.end(text));
      socket.on('close', (failed) => resolve(!failed));
      socket.on('error', reject);
    });
  await until(`port ${port} of ${daemon.output()}`, deliver, (done) => done || daemon.exitCode() !== null);
}

function start(
  at: Workplace,
  command: string,
  args: readonly string[],
  {
    stdin = '',
    libraries,
    env: more = {},
  }: { readonly stdin?: string; readonly libraries?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Running {
  const own = Object.entries(process.env).filter(([name]) => !/^(LOGWEIR|OTEL)_|_proxy$/i.test(name));
  const env: NodeJS.ProcessEnv = {
    ...Object.fromEntries(own),
    LOGWEIR_INGEST_URL: at.url,
    LOGWEIR_API_KEY: at.key,
    FORCE_COLOR: '0',
    ...more,
  };
  if (libraries !== undefined) env['LD_LIBRARY_PATH'] = [...libraryFolders(libraries)].join(':');
  const child: ChildProcess = spawn(command, args, { cwd: at.folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  const keep = (chunk: Buffer | string): void => void (output = (output + chunk.toString()).slice(-65_536));
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  child.stdin?.on('error', () => undefined); // a program that does not read
  child.stdin?.end(stdin);
  let code: number | null = null;
  const ended = new Promise<void>((resolve) => {
    const settle = (exit: number | null): void => {
      code ??= exit ?? -1;
      resolve();
    };
    child.on('error', (error) => {
      keep(error.message);
      settle(-1);
    });
    child.on('close', settle);
  });
  return {
    output: () => output,
    exitCode: () => code,
    ended,
    stop: async () => {
      if (code !== null) return;
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(kill);
    },
  };
}

const files = (root: string): string[] => readdirSync(root, { recursive: true, encoding: 'utf8' });

/** The folders of the shared libraries below a folder. */
export function libraryFolders(root: string): Set<string> {
  return new Set(
    files(root)
      .filter((name) => /\.so(\.|$)/.test(name))
      .map((name) => path.join(root, path.dirname(name))),
  );
}

function folderOf(root: string, name: string): string {
  const found = files(root).find((one) => path.basename(one) === name);
  if (found === undefined) throw new Error(`no ${name} in ${root}`);
  return path.join(root, path.dirname(found));
}
