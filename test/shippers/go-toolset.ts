import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { findProgram, run } from '../../compose/embedded/run.ts';

const OWN = path.join(import.meta.dirname, 'go');
const EXAMPLE = path.resolve(import.meta.dirname, '../../examples/traces/opentelemetry-go');
const ORACLE = path.resolve(import.meta.dirname, '../promql/oracle');
/** Where Go's own installer puts it. */
const INSTALLED = '/usr/local/go/bin/go';

/** The command `go`, null where there is none. */
export const goCommand = (): string | null => findProgram('go') ?? (existsSync(INSTALLED) ? INSTALLED : null);

/** The environment of Go's commands. Modules and what is compiled are in Go's own caches, as those of other toolsets are: a second clone is quick. */
export const goEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: `${path.dirname(goCommand() ?? '')}${path.delimiter}${process.env['PATH'] ?? ''}`,
  GOFLAGS: '-modcacherw -buildvcs=false',
});

/** What the programs are made of: modules with their sums, the Collector's parts, and the example that needs its modules. */
export const goMadeFor = (): string =>
  [...readdirSync(OWN).map((name) => path.join(OWN, name)), path.join(EXAMPLE, 'go.sum')]
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');

/** A server of Prometheus 3, as the oracle of PromQL has it. */
export const prometheusMadeFor = (): string => readFileSync(path.join(ORACLE, 'go.sum'), 'utf8');

/** Compiles Prometheus 3 into `bin`, without what finds targets. Throws an Error with what went wrong. */
export async function installPrometheus(command: string, folder: string): Promise<void> {
  const source = path.join(folder, 'source');
  for (const name of ['go.mod', 'go.sum']) cpSync(path.join(ORACLE, name), path.join(source, name));
  const args = [
    'build',
    '-tags',
    'remove_all_sd',
    '-o',
    path.join(folder, 'bin', 'prometheus'),
    'github.com/prometheus/prometheus/cmd/prometheus',
  ];
  await step(command, args, source);
}

/** The release of Telegraf, and those of its parts that the example needs. */
const [TELEGRAF, TELEGRAF_PARTS] = ['github.com/influxdata/telegraf@v1.37.2', 'custom,inputs.cpu,inputs.mem,outputs.influxdb_v2'];

/** What Telegraf is made of. */
export const telegrafMadeFor = (): string => `${TELEGRAF} ${TELEGRAF_PARTS}`;

/** Compiles a Telegraf of few parts into `bin`. Throws an Error with what went wrong. */
export async function installTelegraf(command: string, folder: string): Promise<void> {
  const source = path.join(folder, 'source');
  mkdirSync(source);
  const module = await step(command, ['mod', 'download', '-json', TELEGRAF], source);
  const { Dir: unpacked } = JSON.parse(module.slice(module.indexOf('{'))) as { readonly Dir: string };
  // as the main module it has its own sums and replacements
  cpSync(unpacked, source, { recursive: true });
  await step(command, ['build', '-tags', TELEGRAF_PARTS, '-o', path.join(folder, 'bin', 'telegraf'), './cmd/telegraf'], source);
}

/** A server of S3 over a folder. */
const S3_SERVER = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0';

/** What the server of S3 is made of. */
export const s3MadeFor = (): string => S3_SERVER;

/** Compiles the server of S3 into `bin`. Throws an Error with what went wrong. */
export async function installS3(command: string, folder: string): Promise<void> {
  await step(command, ['install', S3_SERVER], folder, { GOBIN: path.join(folder, 'bin') });
}

/** Runs a step of an installation and gives what it printed; throws its last lines where it fails. */
async function step(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { code, output } = await run(program, args, { cwd, env: { ...process.env, ...goEnvironment(), ...env } });
  if (code !== 0) throw new Error(`${path.basename(program)} ${args[0] ?? ''}: ${output.trim().split('\n').slice(-5).join(' ')}`);
  return output;
}

/** Compiles telemetrygen and a Collector of few parts into `bin`, and gets the modules of the example. Throws an Error with what went wrong. */
export async function installGo(command: string, folder: string): Promise<void> {
  const bin = path.join(folder, 'bin');
  const source = path.join(folder, 'source');
  cpSync(OWN, source, { recursive: true });
  await step(command, ['build', '-o', `${bin}${path.sep}`, 'tool'], source);
  await step(path.join(bin, 'builder'), ['--config', 'builder.yaml', '--ldflags', '-s -w'], source);
  cpSync(path.join(source, 'otelcol', 'otelcol'), path.join(bin, 'otelcol'));
  cpSync(EXAMPLE, path.join(folder, 'example'), { recursive: true });
  await step(command, ['build', '-o', `${bin}${path.sep}`, '.'], path.join(folder, 'example'));
}
