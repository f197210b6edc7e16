import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Recovery } from './recovery.ts';
import type { RunReport } from './run-scenarios.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Every run that was reported, one JSON object a line; the page is made of it. */
const RUNS_FILE = path.join(ROOT, 'docs', 'reliability-runs.jsonl');
const PAGE = path.join(ROOT, 'docs', 'reliability.md');
const [BEGIN, END] = ['<!-- runs: made by `npm run faults -- --report` -->', '<!-- end of runs -->'];

/** What of a run is kept. */
export type RunRecord = {
  readonly day: string;
  /** The commit that ran, with a `+` where files differed from it; runs of former versions lack it. */
  readonly commit?: string;
  readonly scenario: string;
  /** The safety part that was switched off; such a run must find something. */
  readonly mutation?: string;
  readonly seed: number;
  readonly seconds: number;
  readonly counters: Readonly<Record<string, number>>;
  /** What was measured, by its name; runs of former versions lack it. */
  readonly measures?: Readonly<Record<string, number>>;
  readonly acked: number;
  readonly unknown: number;
  readonly lost: number;
  readonly twice: number;
  /** Of the requests that were not made to be refused, how many were acknowledged, percent. */
  readonly deliveredPercent: number;
  readonly slowestRefusalMs: number;
  readonly recoveries: readonly Recovery[];
  /** MiB: the most of any process of ours. */
  readonly maxMemory: number;
  readonly violations: readonly { readonly check: string; readonly count: number }[];
};

/** How many violations a run without a safety part has found of what that part is there for: entries, or what is counted of them. */
export const foundBy = ({ mutation, lost, twice, violations }: Pick<RunRecord, 'mutation' | 'lost' | 'twice' | 'violations'>): number =>
  mutation?.startsWith('state-') === true
    ? violations.filter(({ check }) => /volume|usage|alert|rates/.test(check)).reduce((sum, { count }) => sum + count, 0)
    : lost + twice;

export function recordOf(report: RunReport, mutation?: string): RunRecord {
  const { totals, figures, violations } = report;
  const countOf = (pattern: RegExp): number =>
    violations.filter(({ check }) => pattern.test(check)).reduce((sum, { count }) => sum + count, 0);
  const wanted = totals.requests - totals.refused;
  return {
    day: new Date().toISOString().slice(0, 10),
    commit: commitOf(ROOT),
    scenario: report.scenarios,
    ...(mutation === undefined ? {} : { mutation }),
    seed: report.seed,
    seconds: report.seconds,
    counters: report.counters,
    measures: report.measures,
    acked: figures['acked'] ?? 0,
    unknown: figures['unknown'] ?? 0,
    lost: countOf(/^an acknowledged entry is not in the table/),
    twice: countOf(/^an (acknowledged entry|entry in doubt) is in the table more than once/),
    deliveredPercent: wanted === 0 ? 100 : Math.round((10_000 * totals.delivered) / wanted) / 100,
    slowestRefusalMs: totals.slowestRefusalMs,
    recoveries: report.recoveries,
    maxMemory: Math.max(0, ...Object.values(report.memory).map(({ max }) => max)),
    violations: violations.map(({ check, count }) => ({ check, count })),
  };
}

/** The commit of a checkout, short; with a `+` where its program differs from it. Empty where there is no git. */
function commitOf(folder: string): string {
  const git = (...args: readonly string[]): string => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim();
  try {
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '--', '*.ts', '*.mjs', '*.py') === '' ? '' : '+'}`;
  } catch {
    return '';
  }
}

/** Keeps a run, and makes the page's part of all runs anew. */
export function addToReport(record: RunRecord): void {
  appendFileSync(RUNS_FILE, `${JSON.stringify(record)}\n`);
  writePage();
}

/** Makes the page's part of all runs that were kept. */
export function writePage(): void {
  const text = existsSync(RUNS_FILE) ? readFileSync(RUNS_FILE, 'utf8') : '';
  const runs = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RunRecord);
  const page = readFileSync(PAGE, 'utf8');
  const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (before < 0 || after < before) throw new Error(`docs/reliability.md lacks the lines ${BEGIN} and ${END}.`);
  // whole at any time: several runs may be reported at once
  const next = `${PAGE}.${String(process.pid)}`;
  writeFileSync(next, `${page.slice(0, before + BEGIN.length)}\n\n${render(runs)}\n${page.slice(after)}`);
  renameSync(next, PAGE);
}

/** What all runs add up to, and tables of the latest ones, as Markdown. */
export function render(runs: readonly RunRecord[]): string {
  const plain = runs.filter(({ mutation }) => mutation === undefined);
  const latest = latestOf(plain, ({ scenario }) => scenario.split(' + '));
  const mutated = latestOf(
    runs.filter(({ mutation }) => mutation !== undefined),
    ({ mutation = '' }) => [mutation],
  );
  return [
    totalsLine(plain),
    '',
    ...runTable(latest),
    '',
    ...recoveryTable(latest),
    '',
    ...measureTable(latest),
    '',
    ...mutationTable(mutated),
    '',
  ].join('\n');
}

/** The fewest of the latest runs that have each kind, in their order. */
function latestOf(runs: readonly RunRecord[], kindsOf: (run: RunRecord) => readonly string[]): RunRecord[] {
  const seen = new Set<string>();
  const latest = [...runs].reverse().filter((run) => {
    const isNews = kindsOf(run).some((kind) => !seen.has(kind));
    for (const kind of kindsOf(run)) seen.add(kind);
    return isNews;
  });
  return latest.reverse();
}

function totalsLine(runs: readonly RunRecord[]): string {
  const sum = (of: (run: RunRecord) => number): string => runs.reduce((total, run) => total + of(run), 0).toLocaleString('en-US');
  const counted =
    (pattern: RegExp) =>
    (run: RunRecord): number =>
      Object.entries(run.counters).reduce((total, [name, count]) => total + (pattern.test(name) ? count : 0), 0);
  return [
    `In all: ${sum(() => 1)} runs, ${sum(({ seconds }) => seconds)} s of load, ${sum(({ acked }) => acked)} entries acknowledged,`,
    `${sum(counted(/^kills|^SIGKILL/))} kills, ${sum(counted(/^pauses|^SIGSTOP/))} pauses, ${sum(counted(/^dropped produce/))} dropped produce answers,`,
    `${sum(counted(/^dropped insert/))} dropped insert answers, ${sum(counted(/^truncated inserts/))} truncated inserts.`,
    `Acknowledged entries lost: ${sum(({ lost }) => lost)}; stored twice: ${sum(({ twice }) => twice)}; runs in which anything else was wrong:`,
    `${sum(({ violations, lost, twice }) => (violations.length > 0 && lost + twice === 0 ? 1 : 0))}.`,
  ].join(' ');
}

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

function runTable(runs: readonly RunRecord[]): string[] {
  return [
    row([
      'Scenario',
      'Day',
      'Commit',
      'Seed',
      'Seconds',
      'What was done',
      'Acknowledged',
      'Lost',
      'Twice',
      'Delivered, %',
      'Most memory, MiB',
      'Else',
    ]),
    row(['---', '---', '---', '---:', '---:', '---', '---:', '---:', '---:', '---:', '---:', '---']),
    ...runs.map((run) =>
      row([
        run.scenario,
        run.day,
        run.commit ?? '',
        run.seed,
        run.seconds,
        Object.entries(run.counters)
          .map(([name, count]) => `${String(count)} × ${name}`)
          .join(', '),
        run.acked.toLocaleString('en-US'),
        run.lost,
        run.twice,
        run.deliveredPercent,
        run.maxMemory,
        run.violations.map(({ check, count }) => `${check} (${String(count)})`).join('; ') || 'nothing',
      ]),
    ),
  ];
}

/** All recoveries of a kind over all runs: the middle of the runs' middles, and the longest. */
function recoveryTable(runs: readonly RunRecord[]): string[] {
  const byKind = new Map<string, Recovery[]>();
  for (const recovery of runs.flatMap(({ recoveries }) => recoveries))
    byKind.set(recovery.what, [...(byKind.get(recovery.what) ?? []), recovery]);
  const seconds = (ms: number): string => (ms / 1000).toFixed(1);
  return [
    row(['Back again', 'Times', 'Median, s', 'Longest, s']),
    row(['---', '---:', '---:', '---:']),
    ...[...byKind].map(([what, found]) => {
      const medians = found.map(({ median }) => median).sort((a, b) => a - b);
      const times = found.reduce((total, recovery) => total + recovery.times, 0);
      return row([what, times, seconds(medians[medians.length >> 1] ?? 0), seconds(Math.max(...found.map(({ max }) => max)))]);
    }),
  ];
}

/** What scenarios measured of themselves, run by run. */
function measureTable(runs: readonly RunRecord[]): string[] {
  return [
    row(['Scenario', 'Seconds', 'Measured', 'Value']),
    row(['---', '---:', '---', '---:']),
    ...runs.flatMap(({ scenario, seconds, measures = {} }) =>
      Object.entries(measures).map(([name, value]) => row([scenario, seconds, name, value.toLocaleString('en-US')])),
    ),
  ];
}

function mutationTable(runs: readonly RunRecord[]): string[] {
  return [
    row(['Switched off', 'Scenario', 'Day', 'Seed', 'Seconds', 'Acknowledged', 'Lost', 'Twice', 'Wrong counts', 'Found out']),
    row(['---', '---', '---', '---:', '---:', '---:', '---:', '---:', '---:', '---']),
    ...runs.map((run) =>
      row([
        run.mutation ?? '',
        run.scenario,
        run.day,
        run.seed,
        run.seconds,
        run.acked,
        run.lost,
        run.twice,
        run.mutation?.startsWith('state-') === true ? foundBy(run) : 0,
        foundBy(run) > 0 ? 'yes' : '**no**',
      ]),
    ),
  ];
}
