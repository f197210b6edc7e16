/**
 * `npm run hostile`: what a quiet tenant notices of another one that attacks the node.
 *   npm run hostile -- [--attacks replaces,sort] [--entries 300000] [--seconds 5] [--plan custom] [--timeout 10] [--pending 1]
 * A fresh instance; for each attack (`attacks.ts`) the quiet tenant beside it. Prints a Markdown table at the end; exit code 1 where a rule is broken
 * (`rules.ts`).
 */
import { parseArgs } from 'node:util';
import { startInstance } from '../e2e/instance.ts';
import { ATTACKS, attackOf } from './attacks.ts';
import { hostileDoors } from './doors.ts';
import { DEEDS, type QuietRecord } from './quiet-tenant.ts';
import { CLICKHOUSE, judged, percentile, type AttackRecord } from './rules.ts';
import { HostileRunner } from './runner.ts';

const { values: flags } = parseArgs({
  options: {
    attacks: { type: 'string', default: ATTACKS.map(({ name }) => name).join(',') },
    entries: { type: 'string', default: '300000' },
    seconds: { type: 'string', default: '5' },
    plan: { type: 'string', default: 'custom' },
    /** LOGWEIR_QUERY_TIMEOUT_SECONDS */
    timeout: { type: 'string', default: '10' },
    /** Of how many answers of a kind the quiet tenant waits at most: on a busy machine it else waits for its own haste. */
    pending: { type: 'string' },
  },
});
const names = flags.attacks.split(',').map((name) => attackOf(name.trim()).name);
/** The quiet tenant is seen for so long without an attack. */
const ALONE_MS = 15_000;
/** Beyond the time of a query, its answer is waited for. */
const GRACE_MS = 3000;

const write = (text: string): void => void process.stdout.write(`${text}\n`);
const timesOf = (quiet: QuietRecord): string =>
  DEEDS.map((deed) => [0.5, 0.99, 1].map((share) => percentile(quiet[deed].ms, share).toFixed(0)).join(' / ')).join(' | ');
const failedOf = (quiet: QuietRecord): number => DEEDS.reduce((sum, deed) => sum + quiet[deed].failures.length, 0);
function row({ name, quiet, answers, processes }: AttackRecord): string {
  const answered = Object.entries(answers).map(([status, times]) => `${String(times)} × ${status}`);
  const { [CLICKHOUSE]: clickhouse = 0, ...others } = processes.growthMb;
  const [[role, mb] = ['', 0]] = Object.entries(others).sort(([, a], [, b]) => b - a);
  const grown = `${String(mb)} (${role}) | ${String(clickhouse)}`;
  return `| ${name} | ${answered.join(', ') || '–'} | ${timesOf(quiet)} | ${String(failedOf(quiet))} | ${grown} | ${String(processes.workersLost)} |`;
}

const doors = await hostileDoors();
const instance = await startInstance({
  env: { ...doors.env, LOGWEIR_PLATFORM_ENTRIES_PER_SECOND: '50000', LOGWEIR_QUERY_TIMEOUT_SECONDS: flags.timeout },
});
const rows: string[] = [];
const broken: string[] = [];
try {
  const attackMs = Number(flags.seconds) * 1000;
  const pending = flags.pending === undefined ? {} : { maxPending: Number(flags.pending) };
  const graceMs = Number(flags.timeout) * 1000 + GRACE_MS;
  const runner = await HostileRunner.start(instance, {
    doors: doors.urls,
    entries: Number(flags.entries),
    plan: flags.plan,
    attackMs,
    graceMs,
    ...pending,
  });
  await runner.alone(ALONE_MS / 3);
  const alone = await runner.alone(ALONE_MS);
  rows.push(`| nobody | – | ${timesOf(alone)} | ${String(failedOf(alone))} | | | |`);
  write(rows.join('\n'));
  for (const name of names) {
    const record = await runner.run(name);
    const rules = judged(record, alone);
    rows.push(row(record));
    write(rows.at(-1) ?? '');
    for (const rule of rules) write(`  BROKEN ${name}: ${rule}`);
    broken.push(...rules.map((rule) => `${name}: ${rule}`));
  }
  await runner.checkWritten();
  runner.stop();
} finally {
  await instance.stop();
}
write(
  '\n| attack | the attacker was answered | searches, ms: p50 / p99 / most | writes | `/health` | found | in the tail | by a door | failed | grew most, MB | ClickHouse, MB | workers ended |\n|---|---|---|---|---|---|---|---|---|---|---|---|',
);
write(rows.join('\n'));
write(broken.length === 0 ? '\nNo rule is broken.' : `\n${broken.join('\n')}`);
process.exit(broken.length === 0 ? 0 : 1);
