import { cpSync, existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { findProgram, run } from '../../compose/embedded/run.ts';

const OWN = path.join(import.meta.dirname, 'go');
const EXAMPLE = path.resolve(import.meta.dirname, '../../examples/traces/opentelemetry-go');
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

/** Compiles telemetrygen and a Collector of few parts into `bin`, and gets the modules of the example. Throws an Error with what went wrong. */
export async function installGo(command: string, folder: string): Promise<void> {
  const bin = path.join(folder, 'bin');
  const env = { ...process.env, ...goEnvironment() };
  const step = async (program: string, args: readonly string[], cwd: string): Promise<void> => {
    const { code, output } = await run(program, args, { cwd, env });
    if (code !== 0) throw new Error(`${path.basename(program)} ${args[0] ?? ''}: ${output.trim().split('\n').slice(-5).join(' ')}`);
  };
  const source = path.join(folder, 'source');
  cpSync(OWN, source, { recursive: true });
  await step(command, ['build', '-o', `${bin}${path.sep}`, 'tool'], source);
  await step(path.join(bin, 'builder'), ['--config', 'builder.yaml', '--ldflags', '-s -w'], source);
  cpSync(path.join(source, 'otelcol', 'otelcol'), path.join(bin, 'otelcol'));
  cpSync(EXAMPLE, path.join(folder, 'example'), { recursive: true });
  await step(command, ['build', '-o', `${bin}${path.sep}`, '.'], path.join(folder, 'example'));
}
