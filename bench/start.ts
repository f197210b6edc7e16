/**
 * `npm run bench:start [-- --rounds 3] [--node NODE]`: how long `npm start` takes, and with what. Each round clones the commit that is checked
 * out, starts it there for the first time (packages from npm's cache, Kafka from Maven's), and then `--later` times (3) more, with the data of
 * the time before. `--node`: what `npm` runs on (this Node without it). Prints a Markdown table: seconds until each step was reported.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { freePorts } from '../test/free-ports.ts';

const root = path.resolve(import.meta.dirname, '..');
const { values: flags } = parseArgs({
  options: { rounds: { type: 'string', default: '1' }, later: { type: 'string', default: '3' }, node: { type: 'string' } },
});

/** What a start reports, in order; a step is over when the next one is reported. */
const STEPS: readonly (readonly [name: string, line: RegExp])[] = [
  ['installing packages', /installing packages/],
  ['compiling, fetching Kafka', /building/],
  ['ClickHouse is up', /ClickHouse is up/],
  ['Kafka is up', /Kafka is up/],
  ['topics and tables', /preparing topics/],
  ['ready', /^Logweir is ready/m],
];

/** Seconds from the start until each step was reported first, by its name; what was not needed is missing. */
type Times = ReadonlyMap<string, number>;

async function timed(clone: string, env: NodeJS.ProcessEnv): Promise<Times> {
  const began = Date.now();
  const npm = spawn('npm', ['start'], { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const times = new Map<string, number>();
  let output = '';
  const take = (part: Buffer): void => {
    output += part.toString();
    for (const [name, line] of STEPS) if (!times.has(name) && line.test(output)) times.set(name, (Date.now() - began) / 1000);
  };
  npm.stdout.on('data', take);
  npm.stderr.on('data', take);
  const ended = once(npm, 'exit');
  while (!times.has('ready')) {
    if (npm.exitCode !== null) throw new Error(output);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  npm.kill('SIGTERM');
  await ended;
  return times;
}

const rows: { readonly name: string; readonly times: Times }[] = [];
for (let round = 1; round <= Number(flags.rounds); round++) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-start-bench-'));
  try {
    const clone = path.join(folder, 'logweir');
    execFileSync('git', ['clone', '-q', root, clone]);
    const [app, ingest, admin] = (await freePorts(3)).map(String);
    const inherited = Object.entries(process.env).filter(([name]) => !/^(LOGWEIR|npm)_/.test(name));
    // npm puts the pinned Node in front of the PATH of what it runs, which a user's shell does not
    const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((one) => !one.split(path.sep).includes('node_modules'));
    if (flags.node !== undefined) folders.unshift(path.dirname(flags.node));
    const env = {
      ...Object.fromEntries(inherited),
      ...{ PATH: folders.join(path.delimiter), LOGWEIR_APP_PORT: app, LOGWEIR_INGEST_PORT: ingest, LOGWEIR_ADMIN_PORT: admin },
    };
    for (let later = 0; later <= Number(flags.later); later++) {
      const name = later === 0 ? `fresh clone ${String(round)}` : `later ${String(round)}.${String(later)}`;
      process.stderr.write(`${name} …\n`);
      rows.push({ name, times: await timed(clone, env) });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const names = STEPS.map(([name]) => name);
const cell = (times: Times, name: string): string => times.get(name)?.toFixed(1) ?? '–';
const lines = rows.map(({ name, times }) => `| ${[name, ...names.map((step) => cell(times, step))].join(' | ')} |`);
process.stdout.write(`| start | ${names.join(' | ')} |\n|---|${names.map(() => '--:').join('|')}|\n${lines.join('\n')}\n`);
