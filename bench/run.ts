/**
 * `npm run bench`: loads 1,000,000 entries several times into a fresh instance with all roles running, and times the queries.
 *   npm run bench -- [--loads 4] [--entries 1000000] [--out FILE]
 * The load and the queries are those of the shared benchmark folder (LOGWEIR_SHARED). Prints Markdown tables.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startInstance, type Instance } from '../test/e2e/instance.ts';
import { merged, python } from './instance-load.ts';
import { cpuSeconds } from './processes.ts';

const root = path.resolve(import.meta.dirname, '..');
const shared = path.resolve(root, process.env['LOGWEIR_SHARED'] ?? '../shared', 'bench');
const { values: flags } = parseArgs({
  options: { loads: { type: 'string', default: '4' }, entries: { type: 'string', default: '1000000' }, out: { type: 'string' } },
});

type Usage = { readonly cpuSeconds: number; readonly rssMb: number };

/** CPU seconds and resident memory of each process of the instance. */
function usage(instance: Instance): Map<string, Usage> {
  return new Map(
    [...instance.processes()].map(([role, { pid }]) => {
      const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
      return [role, { cpuSeconds: cpuSeconds(pid), rssMb: Math.round(rss / 1024) }];
    }),
  );
}

type Load = {
  readonly entries: number;
  readonly acked_per_s: number;
  readonly searchable_per_s: number;
  readonly searchable: number;
  readonly p99_ms: number;
  readonly retries: number;
  readonly failed: number;
};

async function load(instance: Instance, bodies: string, number: number): Promise<string> {
  const before = usage(instance);
  const window = new URLSearchParams({ query: '*', start: '-30h', end: 'now', step: '1d' });
  const output = await python([
    path.join(shared, 'load.py'),
    bodies,
    '--url',
    `${instance.ingest}/insert/elasticsearch/_bulk`,
    '--key',
    instance.key,
    '--concurrency',
    '4',
    '--count-url',
    `${instance.app}/api/v1/tenants/1/hits?${window.toString()}`,
  ]);
  const result = JSON.parse(output.trim().split('\n').at(-1) ?? '{}') as Load;
  if (result.failed > 0 || result.searchable !== result.entries) throw new Error(`The load is not whole: ${output}`);
  const after = usage(instance);
  const cpu = [...after].map(
    ([role, { cpuSeconds, rssMb }]) =>
      `${role} ${((1e6 * (cpuSeconds - (before.get(role)?.cpuSeconds ?? 0))) / result.entries).toFixed(1)} µs, ${rssMb} MB`,
  );
  return `| ${number} | ${result.acked_per_s} | ${result.searchable_per_s} | ${result.p99_ms} | ${cpu.join('; ')} |`;
}

async function main(): Promise<void> {
  const bodies = path.join(root, '.bench', `bodies-${flags.entries}-${new Date().toISOString().slice(0, 13)}`);
  if (!existsSync(path.join(bodies, 'meta.json'))) {
    mkdirSync(bodies, { recursive: true });
    console.error('bench: writing the load …');
    execFileSync('python3', [path.join(shared, 'gen_logs.py'), bodies, '--entries', flags.entries]);
  }
  console.error('bench: starting a fresh instance …');
  const instance = await startInstance();
  const lines: string[] = [
    `ready after ${(instance.startMs / 1000).toFixed(1)} s`,
    '',
    '| load | acknowledged/s | searchable/s | p99 ms of a request | CPU for each entry, RSS |',
    '|---|---|---|---|---|',
  ];
  try {
    for (let number = 1; number <= Number(flags.loads); number++) {
      lines.push(await load(instance, bodies, number));
      console.error(lines.at(-1));
      if (number === 1) {
        await merged(instance);
        const times = path.join(root, '.bench', 'queries.json');
        await python([
          path.join(shared, 'query.py'),
          path.join(bodies, 'meta.json'),
          '--api',
          instance.app,
          '--tenant',
          '1',
          '--key',
          instance.key,
          '--out',
          times,
        ]);
        const table = queryTable(
          JSON.parse(readFileSync(times, 'utf8')) as Times,
          JSON.parse(readFileSync(path.join(shared, 'victorialogs-1m.json'), 'utf8')) as Times,
        );
        console.error(table.join('\n'));
        lines.push('', ...table, '');
      }
    }
  } finally {
    await instance.stop();
  }
  console.log(lines.join('\n'));
  if (flags.out !== undefined) writeFileSync(flags.out, lines.join('\n') + '\n');
}

type Times = Readonly<
  Record<string, { readonly median_ms?: number; readonly max_ms?: number; readonly size?: number; readonly refused?: string }>
>;

function queryTable(ours: Times, theirs: Times): string[] {
  const rows = Object.entries(ours).map(([query, { median_ms: median, max_ms: max, size, refused }]) => {
    const peer = theirs[query]?.median_ms;
    return `| ${query} | ${median?.toFixed(1) ?? refused ?? 'refused'} | ${max?.toFixed(1) ?? ''} | ${size ?? ''} | ${peer ?? ''} | ${median !== undefined && peer !== undefined ? (median / peer).toFixed(2) : ''} |`;
  });
  return ['| query, 1,000,000 entries | median ms | max ms | size | VictoriaLogs ms | ratio |', '|---|---|---|---|---|---|', ...rows];
}

await main();
