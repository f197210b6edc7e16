import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { spawnEngine, untilExited, untilReady, type EngineOptions, type RunningEngine } from './engine-process.ts';
import { startInFolder } from './engine-start.ts';
import { archived, classArchive } from './class-archive.ts';
import { prepareKafka, type KafkaProgram } from './kafka-jars.ts';
import { answersMetadata } from './kafka-probe.ts';
import { findProgram, run } from './run.ts';
import { StartError } from './start-error.ts';
import { template } from './template.ts';

const READY_TIMEOUT_MS = 240_000; // after a kill with much data the logs are read first
const STOP_TIMEOUT_MS = 15_000;
/** Kafka's own default of log.flush.interval.messages: the operating system decides when the disk is written. */
const NEVER = '9223372036854775807';

// Measured on two shared cores against G1: the same time to start, 25 MB less, and no threads that collect in parallel with the work.
// And against both compilers of Java: 4 s less of CPU until the service is ready, a start 2.5 s shorter, 40 MB less, and no more CPU for an entry (4.0 to
// 5.4 µs in place of 4.0 to 13.3, three pairs of 400,000 entries): what Kafka does for one is the system's.
const JVM_FLAGS = [
  '-Xms256m',
  '-Xmx512m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-XX:+ExitOnOutOfMemoryError',
  '-Djava.awt.headless=true',
];
const LOGGING = [`-Dlog4j2.configurationFile=${template('log4j2.properties')}`];

/**
 * A further port of the broker on 127.0.0.1. A client of it is sent to the advertised port for everything else, so all of its
 * traffic goes through what listens on that one: a proxy of the fault tests.
 */
export type ExtraListener = { readonly port: number; readonly advertisedPort: number };

/** What an embedded Kafka needs to start. */
export type KafkaOptions = EngineOptions & {
  /** Java and Maven may be installed from the system's packages where they are missing; true without it. */
  readonly mayInstall?: boolean | undefined;
  /** The ports of the broker and of its controller; without them free ones are taken. */
  readonly ports?: readonly [number, number] | undefined;
  /** In addition to the one that `brokers` names; none without it. */
  readonly extraListeners?: readonly ExtraListener[] | undefined;
  /** Further settings by their names, for tests; they come last and win. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Of the cluster that the node belongs to, where others do too; `settings` name them. A new one without it. */
  readonly clusterId?: string | undefined;
  /** Further options of Java, for tests. */
  readonly jvmArgs?: readonly string[] | undefined;
  /** A program, with its arguments, that becomes the node: for tests, which have it in a network of its own. */
  readonly launcher?: readonly string[] | undefined;
};

/** A running Kafka. */
export type Kafka = RunningEngine & {
  /** What clients connect to: `127.0.0.1:PORT`. */
  readonly brokers: string;
  readonly ports: readonly [number, number];
};

/**
 * Starts one Kafka node (broker and controller) as a child process and waits until it takes requests. The first start
 * on a machine fetches the jars with Maven. The node dies with the process that started it. Data and log are kept in
 * DATA_DIR/kafka.
 */
export async function startKafka(options: KafkaOptions): Promise<Kafka> {
  const { log = () => undefined, mayInstall, signal, ports } = options;
  const program = await prepareKafka({ log, mayInstall, signal });
  const address = { portCount: 2, ports, addressFile: 'brokers', addressOf: ({ brokers }: Kafka) => brokers };
  return startInFolder(options, { name: 'Kafka', folder: 'kafka', ...address }, (folder, taken) =>
    startBroker({ ...options, program, folder, ports: taken as readonly [number, number] }),
  );
}

type BrokerOptions = KafkaOptions & {
  readonly program: KafkaProgram;
  readonly folder: string;
  readonly ports: readonly [number, number];
};

async function startBroker({
  program,
  folder,
  ports,
  extraListeners = [],
  settings: more = {},
  survivesPowerLoss = false,
  clusterId: givenClusterId = newClusterId(),
  jvmArgs = [],
  launcher = [],
  onSpawn,
  signal,
}: BrokerOptions): Promise<Kafka> {
  const [port, controllerPort] = ports;
  const settings = writeSettings(folder, port, controllerPort, extraListeners, survivesPowerLoss, more);
  const meta = path.join(folder, 'data', 'meta.properties');
  if (!existsSync(meta)) await format(program, settings, givenClusterId, signal);
  const clusterId = /^cluster\.id=(.+)$/m.exec(readFileSync(meta, 'utf8'))?.[1] ?? '';

  const logFile = path.join(folder, 'kafka.log');
  const { java, jars, classpath } = program;
  const archive = classArchive(java, jars);
  const javaArgs = [...JVM_FLAGS, ...LOGGING, ...archive.args, ...jvmArgs, '-cp', classpath, 'kafka.Kafka', settings];
  const setpriv = findProgram('setpriv');
  const [command = java, ...args] = [...launcher, ...(setpriv === null ? [] : [setpriv, '--pdeathsig', 'KILL']), java, ...javaArgs];
  const engine = spawnEngine({ command, args, cwd: folder, logFile });
  void engine.exited.then(archive.keep);
  onSpawn?.(engine.pid);
  const check = (): Promise<boolean> => answersMetadata(port, clusterId);
  await untilReady('Kafka', engine, check, { logFile, timeoutMs: READY_TIMEOUT_MS, signal });

  const stop = async (): Promise<void> => {
    engine.terminate();
    await untilExited(engine, STOP_TIMEOUT_MS);
  };
  const brokers = `127.0.0.1:${port}`;
  return { brokers, ports: [port, controllerPort], pid: engine.pid, exited: engine.exited, stop, kill: engine.kill };
}

/** Fills in the template of the settings; answers where they lie. */
function writeSettings(
  folder: string,
  port: number,
  controllerPort: number,
  extraListeners: readonly ExtraListener[],
  survivesPowerLoss: boolean,
  more: Readonly<Record<string, string>>,
): string {
  const text = readFileSync(template('server.properties'), 'utf8');
  const logDir = path.join(folder, 'data').replaceAll('\\', '\\\\');
  const extra = extraListeners.map((listener, index) => ({ ...listener, name: `,PROXY${index + 1}` }));
  const filled = text
    .replaceAll('{{extraListeners}}', extra.map((one) => `${one.name}://127.0.0.1:${one.port}`).join(''))
    .replaceAll('{{extraAdvertised}}', extra.map((one) => `${one.name}://127.0.0.1:${one.advertisedPort}`).join(''))
    .replaceAll('{{extraProtocols}}', extra.map((one) => `${one.name}:PLAINTEXT`).join(''))
    .replaceAll('{{flushMessages}}', survivesPowerLoss ? '1' : NEVER)
    .replaceAll('{{port}}', String(port))
    .replaceAll('{{controllerPort}}', String(controllerPort))
    .replaceAll('{{logDir}}', () => logDir);
  const file = path.join(folder, 'server.properties');
  const lines = Object.entries(more).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(file, filled + lines.join(''));
  return file;
}

/** Prepares an empty data folder; Kafka refuses one that was not. */
async function format(
  { java, jars, classpath }: KafkaProgram,
  settings: string,
  clusterId: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const tool = ['-XX:TieredStopAtLevel=1', ...LOGGING, ...archived(java, jars), '-cp', classpath, 'kafka.tools.StorageTool'];
  const { code, output } = await run(java, [...tool, 'format', '-t', clusterId, '-c', settings], { signal });
  if (code !== 0) throw new StartError(`Kafka could not prepare its data folder: ${output.trimEnd().split('\n').at(-1) ?? ''}`);
}

/** 16 random bytes in URL-safe base64. A leading dash would read as an option. */
export const newClusterId = (): string => randomBytes(16).toString('base64url').replace(/^-/, 'A');
