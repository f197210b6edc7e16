/**
 * `npm run faults -- X [--seconds N] [--times T] [--seed S] [--report] [--keep FOLDER]`: breaks a cluster while a load runs,
 * and counts again what was acknowledged. X (or `--scenario X`) are names with commas between them, `cluster-*`, or `all`; each runs on a cluster of its own,
 * those with a `+` between them on one at the same time, until it has done its work T times or for N seconds. `--whole [--jobs J]` runs
 * what a release must have gone through, J at a time. `--sample` runs a little of each, as `npm run test:all` does. Exit
 * code 1 unless everything holds. `--mutation X` (or `all`) runs with a part of the product switched off; exit code 1 unless that is found
 * out. `--signals marks` sends other signals beside the log, and counts them too. `--render` makes the page of kept runs anew. `--list` lists the scenarios.
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../../main/install.mjs';
import { MUTATIONS } from './mutations.ts';
import { OTHER_SIGNALS } from './other-signals.ts';
import { addToReport, foundBy, recordOf, writePage } from './report.ts';
import { runScenarios, type RunReport } from './run-scenarios.ts';
import { runWhole } from './run-whole.ts';
import { samples } from './sample.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios/index.ts';
import { WHOLE } from './whole.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    scenario: { type: 'string' },
    times: { type: 'string' },
    whole: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '1' },
    sample: { type: 'boolean', default: false },
    mutation: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    report: { type: 'boolean', default: false },
    keep: { type: 'string' },
    signals: { type: 'string', default: '' },
    render: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds);
const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
const times = values.times === undefined ? {} : { times: Number(values.times) };
const jobs = Number(values.jobs);
if (!(seconds > 0) || !Number.isInteger(seed) || !Number.isInteger(jobs) || jobs < 1 || !((times.times ?? 1) > 0))
  throw new Error('--seconds and --times take a number above 0, --jobs an integer above 0, --seed an integer.');

const log = (line: string): void => {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
};

/** The members that a list of names chooses. */
function chosen<Member extends { readonly name: string }>(what: string, list: string, members: readonly Member[]): readonly Member[] {
  if (list === 'all') return members;
  return list.split(',').map((name) => {
    const member = members.find((one) => one.name === name);
    if (member === undefined)
      throw new Error(`There is no ${what} ${name}; there are ${members.map((one) => one.name).join(', ')}, and all.`);
    return member;
  });
}

/** What is sent beside the log. */
const signals = values.signals === '' ? [] : chosen('signal', values.signals, OTHER_SIGNALS);

/** Where the data of a run is kept, to be looked into: engines, logs, ledger. */
const kept = (name: string): { readonly dataDir?: string } =>
  values.keep === undefined ? {} : { dataDir: path.resolve(values.keep, name) };

function tell(report: RunReport, mutation?: string): void {
  const { totals, measures, figures, recoveries, memory, violations } = report;
  for (const [name, value] of Object.entries({
    measures,
    figures,
    totals: { ...totals, oddAnswers: totals.oddAnswers.length },
    recoveries,
    memory,
  }))
    log(`  ${name} ${JSON.stringify(value)}`);
  for (const violation of violations) log(`  VIOLATION ${JSON.stringify(violation).slice(0, 1500)}`);
  if (values.report) addToReport(recordOf(report, mutation));
}

/** The scenarios of each run: names with `+` between them run at the same time, those that begin as `name*` does one by one. */
function groups(list: string): (readonly Scenario[])[] {
  return list.split(',').flatMap((names) => {
    const begun = scenarios.members.filter(({ name }) => names === 'all' || (names.endsWith('*') && name.startsWith(names.slice(0, -1))));
    return begun.length > 0 ? begun.map((one) => [one]) : [chosen('scenario', names.replaceAll('+', ','), scenarios.members)];
  });
}

async function runAll(): Promise<number> {
  let failed = 0;
  const list = groups(values.scenario ?? (positionals.join(',') || 'all'));
  for (const [index, group] of list.entries()) {
    const name = group.map((scenario) => scenario.name).join('+');
    log(`scenario ${String(index + 1)} of ${String(list.length)}: ${name}. ${group.map(({ about }) => about).join(' ')}`);
    const obstacle = group.map((scenario) => scenario.cannotRun?.() ?? null).find((one) => one !== null);
    if (obstacle !== undefined) {
      log(`${name}: SKIPPED, NOT TRIED: ${obstacle}`);
      continue;
    }
    try {
      const report = await runScenarios({
        scenarios: group,
        together: true,
        secondsOf: () => seconds,
        ...times,
        signals,
        seed,
        log,
        ...kept(name),
      });
      tell(report);
      log(report.violations.length === 0 ? `${name}: exact` : `${name}: NOT EXACT (seed ${String(seed)})`);
      if (report.violations.length > 0) failed += 1;
    } catch (error) {
      // the others are worth running all the same
      log(`${name}: FAILED (seed ${String(seed)}): ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      failed += 1;
    }
  }
  return failed;
}

async function runSamples(): Promise<number> {
  let wrong = 0;
  const { shared, ofBrokers, alone } = samples(true);
  for (const sample of [shared, ofBrokers, ...alone]) {
    const why = sample.scenarios.map(({ cannotRun }) => cannotRun?.() ?? null).find((reason) => reason !== null);
    if (why !== undefined) {
      log(`sample: NOT RUN: ${why}`);
      continue;
    }
    const report = await runScenarios({ ...sample, seed, log, ...kept(`sample-${sample.scenarios[0]?.name ?? ''}`) });
    tell(report);
    log(`sample of ${report.scenarios}: ${report.violations.length === 0 ? 'exact' : `NOT EXACT (seed ${String(seed)})`}`);
    wrong += report.violations.length;
  }
  return wrong;
}

async function runMutations(list: string): Promise<number> {
  let missed = 0;
  for (const { name, about, scenario, off } of chosen('mutation', list, MUTATIONS)) {
    log(`without ${name}: ${about}`);
    const report = await runScenarios({ scenarios: [scenario], secondsOf: () => seconds, once: true, seed, log, off, ...kept(name) });
    tell(report, name);
    const found = foundBy(recordOf(report, name));
    log(found > 0 ? `without ${name}: found out, ${String(found)} times` : `without ${name}: NOT FOUND OUT`);
    if (found === 0) missed += 1;
  }
  return missed;
}

// what the harness has started ends with it (cluster.ts listens to `exit`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

/** The number of runs that ended in anything but what they should. */
async function runChosen(): Promise<number> {
  if (values.whole) {
    const failed = await runWhole({ runs: WHOLE, jobs, seed, report: values.report, log });
    if (values.report) writePage();
    log(failed.length === 0 ? 'the whole: exact' : `the whole: NOT EXACT: ${failed.join(', ')}`);
    return failed.length;
  }
  if (values.sample) return runSamples();
  return values.mutation === undefined ? runAll() : runMutations(values.mutation);
}

if (values.render) writePage();
else if (values.list) for (const { name, about } of scenarios.members) process.stdout.write(`${name}: ${about}\n`);
else {
  await ensureBuilt({ root: path.resolve(import.meta.dirname, '../..'), log });
  const failed = await runChosen();
  // whatever a scenario has left open ends here
  process.exit(failed === 0 ? 0 : 1);
}
