import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Recovery } from './recovery.ts';
import type { RunReport } from './run-scenarios.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Every run that was reported, one JSON object a line; the page's tables are made of it. */
const RUNS_FILE = path.join(ROOT, 'docs', 'reliability-runs.jsonl');
export const PAGE = path.join(ROOT, 'docs', 'reliability.md');
const [BEGIN, END] = ['<!-- runs: made by `npm run faults -- --report` -->', '<!-- end of runs -->'];

/** The checks that find acknowledged entries lost, and entries stored twice; a run with any other violation has another finding. */
const LOST = /^an acknowledged entry is not in the table/;
const TWICE = /^an (acknowledged entry|entry in doubt) is in the table more than once/;

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
    lost: countOf(LOST),
    twice: countOf(TWICE),
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

/** All runs that were kept, the earliest first. */
export const keptRuns = (): readonly RunRecord[] =>
  (existsSync(RUNS_FILE) ? readFileSync(RUNS_FILE, 'utf8') : '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RunRecord);

/** Makes the page's part of all runs that were kept. */
export function writePage(): void {
  const page = readFileSync(PAGE, 'utf8');
  const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (before < 0 || after < before) throw new Error(`docs/reliability.md lacks the lines ${BEGIN} and ${END}.`);
  // whole at any time: several runs may be reported at once
  const next = `${PAGE}.${String(process.pid)}`;
  writeFileSync(next, `${page.slice(0, before + BEGIN.length)}\n\n${render(keptRuns())}\n${page.slice(after)}`);
  renameSync(next, PAGE);
}

/** What all runs add up to: each scenario, findings, times of recovery, measures and safety parts, as Markdown. */
export function render(runs: readonly RunRecord[]): string {
  const plain = runs.filter(({ mutation }) => mutation === undefined);
  const mutated = runs.filter(({ mutation }) => mutation !== undefined);
  return [totalsLine(plain), scenarioTable(plain), findingList(plain), recoveryTable(plain), measureTable(plain), mutationTable(mutated)]
    .map((part) => `${part}\n`)
    .join('\n');
}

/** What a run found in addition to entries that were lost or stored twice. */
const otherFindings = ({ violations }: RunRecord): RunRecord['violations'] =>
  violations.filter(({ check }) => !LOST.test(check) && !TWICE.test(check));

const kindsOf = ({ scenario }: RunRecord): readonly string[] => scenario.split(' + ');
/** The scenarios of some runs, as `--scenario` takes them. */
const namesOf = (runs: readonly RunRecord[]): string => [...new Set(runs.map((run) => kindsOf(run).join('+')))].join(', ');

/** Members by each of their keys, the keys in the order in which they came. */
function groupBy<T>(members: readonly T[], keysOf: (member: T) => readonly string[]): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const member of members) for (const key of new Set(keysOf(member))) groups.set(key, [...(groups.get(key) ?? []), member]);
  return groups;
}

const sum = (runs: readonly RunRecord[], of: (run: RunRecord) => number): number => runs.reduce((total, run) => total + of(run), 0);
const sumOfCounters = (run: RunRecord, pattern: RegExp): number =>
  Object.entries(run.counters).reduce((total, [name, count]) => total + (pattern.test(name) ? count : 0), 0);
const latestDay = (runs: readonly RunRecord[]): string => runs.reduce((latest, { day }) => (day > latest ? day : latest), '');
const shown = (value: number): string => value.toLocaleString('en-US');

function totalsLine(runs: readonly RunRecord[]): string {
  const all = (of: (run: RunRecord) => number): string => shown(sum(runs, of));
  const counted = (pattern: RegExp): string => all((run) => sumOfCounters(run, pattern));
  return [
    `In all: ${all(() => 1)} runs, ${all(({ seconds }) => seconds)} s of load, ${all(({ acked }) => acked)} entries acknowledged,`,
    `${counted(/^kills|^SIGKILL/)} kills, ${counted(/^pauses|^SIGSTOP/)} pauses, ${counted(/^dropped produce/)} dropped produce answers,`,
    `${counted(/^dropped insert/)} dropped insert answers, ${counted(/^truncated inserts/)} truncated inserts.`,
    `Acknowledged entries lost: ${all(({ lost }) => lost)}; stored twice: ${all(({ twice }) => twice)}; runs with another finding:`,
    `${all((run) => (otherFindings(run).length > 0 ? 1 : 0))}. Most memory of a process: ${shown(Math.max(0, ...runs.map(({ maxMemory }) => maxMemory)))} MiB.`,
  ].join(' ');
}

const row = (cells: readonly (string | number)[]): string => cells.join(' | ');

/** A table; columns of a name that ends with a dot are numbers, which stand to the right. */
function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const names = head.map((name) => name.replace(/\.$/, ''));
  const sides = head.map((name) => (name.endsWith('.') ? '---:' : '---'));
  return [row(names), row(sides), ...rows.map(row)].join('\n');
}

/** All runs by the kinds of scenarios that they have: a run of several counts for each of them. */
function scenarioTable(runs: readonly RunRecord[]): string {
  const kinds = [...groupBy(runs, kindsOf)].sort(([one], [other]) => (one < other ? -1 : 1));
  return table(
    ['Scenario', 'Runs.', 'Seconds.', 'Faults.', 'Acknowledged.', 'Lost.', 'Twice.', 'Other.', 'Latest'],
    kinds.map(([kind, its]) => [
      kind,
      its.length,
      shown(sum(its, ({ seconds }) => seconds)),
      shown(sum(its, (run) => sumOfCounters(run, /./))),
      shown(sum(its, ({ acked }) => acked)),
      shown(sum(its, ({ lost }) => lost)),
      shown(sum(its, ({ twice }) => twice)),
      sum(its, (run) => (otherFindings(run).length > 0 ? 1 : 0)),
      latestDay(its),
    ]),
  );
}

/** Everything else that was found: how often, in how many runs, and in which scenarios. */
function findingList(runs: readonly RunRecord[]): string {
  const byCheck = groupBy(runs, (run) => otherFindings(run).map(({ check }) => check));
  const lines = [...byCheck].map(([check, its]) => {
    const times = sum(its, (run) => otherFindings(run).reduce((total, one) => total + (one.check === check ? one.count : 0), 0));
    return `- ${check}: ${shown(times)} in ${String(its.length)} (${namesOf(its)}; latest ${latestDay(its)})`;
  });
  return ['Other findings, with how often in how many runs:', '', ...(lines.length > 0 ? lines : ['- none'])].join('\n');
}

/** All recoveries of a kind over all runs: the middle of the runs' middles, and the longest. */
function recoveryTable(runs: readonly RunRecord[]): string {
  const byKind = groupBy(
    runs.flatMap(({ recoveries }) => recoveries),
    ({ what }) => [what],
  );
  const seconds = (ms: number): string => (ms / 1000).toFixed(1);
  return table(
    ['Recovery', 'Times.', 'Median of runs, s.', 'Longest, s.'],
    [...byKind].map(([what, found]) => {
      const medians = found.map(({ median }) => median).sort((a, b) => a - b);
      const times = found.reduce((total, recovery) => total + recovery.times, 0);
      const name = what.replace(': from its end to its start', ' restarted').replace(': from SIGTERM to its end', ' ended after SIGTERM');
      return [name, shown(times), seconds(medians[medians.length >> 1] ?? 0), seconds(Math.max(...found.map(({ max }) => max)))];
    }),
  );
}

/** What the promises in failures are measured by, as scenarios call it: the latest value, and the range where there are several. */
export const SHOWN_MEASURES: readonly string[] = [
  'Kafka outage: the slowest refusal, ms',
  'Kafka outage: from its return to the first acknowledgement, ms',
  'retention race: records deleted unread',
  'ClickHouse outage: from its return until all is stored, s',
  'overload: acknowledged requests that took the service at most 1 s, %',
  'noisy neighbour: p99 of acknowledgements beside the noise, times that without it',
  'noisy neighbour: p95 of searches beside the noise, times that without it',
  'noisy neighbour: p95 from acknowledgement to the tail beside the noise, times that without it',
  'three brokers: longest time without an acknowledgement, s',
  'three brokers: longest time without new rows in the table, s',
  'two sets: searches meanwhile that failed',
  'two sets: the slowest search meanwhile, ms',
  'two sets: from the return of what was away until both serve, s',
  'two sets: from the loss of a set until it serves again, s',
];

function measureTable(runs: readonly RunRecord[]): string {
  return table(
    ['Measured', 'Latest (range of all runs).'],
    SHOWN_MEASURES.flatMap((name) => {
      const values = runs.map(({ measures }) => measures?.[name]).filter((value) => value !== undefined);
      const latest = values.at(-1);
      if (latest === undefined) return [];
      const range = ` (${shown(Math.min(...values))} to ${shown(Math.max(...values))})`;
      return [[name, `${shown(latest)}${values.length > 1 ? range : ''}`]];
    }),
  );
}

/** All runs without a safety part, by the part: each of them must have found something. */
function mutationTable(runs: readonly RunRecord[]): string {
  const byPart = groupBy(runs, ({ mutation = '' }) => [mutation]);
  return table(
    ['Switched off', 'Lost.', 'Twice.', 'Wrong counts.', 'Found out'],
    [...byPart].map(([part, its]) => {
      const found = its.filter((run) => foundBy(run) > 0).length;
      const inAll = `${String(found)} of ${String(its.length)}`;
      return [
        part,
        shown(sum(its, ({ lost }) => lost)),
        shown(sum(its, ({ twice }) => twice)),
        shown(part.startsWith('state-') ? sum(its, foundBy) : 0),
        found === its.length ? inAll : `**${inAll}**`,
      ];
    }),
  );
}
