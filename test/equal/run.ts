/**
 * `npm run equal`: random queries over random entries, in memory and in ClickHouse, and hostile queries of one tenant about another's.
 *   npm run equal -- [--pairs 200000] [--seed 1]             both back ends of LogsQL give the same
 *   npm run equal -- --groups [--pairs 200000]              the same, of pipes after groups alone
 *   npm run equal -- --sorts [--pairs 200000]               the same, of sorts of entries alone
 *   npm run equal -- --long [--pairs 200000]                the same, of promoted fields of any length alone
 *   npm run equal -- --spans [--pairs 200000]               the same, of spans
 *   npm run equal -- --canaries [--queries 50000] [--seed 1]  no query gives a row of another tenant
 *   npm run equal -- --canaries --projects                  the same, of another project of the tenant
 *   npm run equal -- --budgets [--queries 10000] [--seed 1]   with little memory and time each ends, and gives what it would alone
 */
import { parseArgs } from 'node:util';
import { checkBudgets } from './budgets.ts';
import { checkCanaries } from './canary.ts';
import { checkEqual } from './equal.ts';
import { randomGroupPipes } from './groups.ts';
import { randomSort } from './pipes.ts';

const { values: flags } = parseArgs({
  options: {
    pairs: { type: 'string', default: '200000' },
    queries: { type: 'string', default: '50000' },
    seed: { type: 'string', default: '1' },
    groups: { type: 'boolean', default: false },
    sorts: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    spans: { type: 'boolean', default: false },
    canaries: { type: 'boolean', default: false },
    projects: { type: 'boolean', default: false },
    budgets: { type: 'boolean', default: false },
  },
});
const progress = (line: string): void => void process.stdout.write(`${line}\n`);
const seed = Number(flags.seed);
const began = Date.now();
const queries = Number(flags.queries);
const report = flags.canaries
  ? await checkCanaries({ queries, seed, progress, ofProjects: flags.projects })
  : flags.budgets
    ? await checkBudgets({ queries, seed, progress, isTimed: true })
    : await checkEqual({
        ...{ pairs: Number(flags.pairs), seed, progress },
        ...(flags.long ? ({ kind: 'long' } as const) : flags.spans ? ({ kind: 'spans' } as const) : {}),
        wholeOneIn: flags.groups || flags.sorts ? 1 : 8,
        ...(flags.groups ? { pipes: (source) => ({ text: randomGroupPipes(source), isOrdered: true }) } : {}),
        ...(flags.sorts ? { pipes: randomSort } : {}),
      });
const faults = 'leaks' in report ? report.leaks : report.counterexamples;
progress(JSON.stringify({ ...report, seconds: Math.round((Date.now() - began) / 1000) }, null, 1));
process.exit(faults.length === 0 ? 0 : 1);
