/**
 * `npm run docs`: writes the generated parts of the documentation: from the configuration's schema docs/config.md as a whole,
 * from the endpoints docs/openapi.json, from the kinds of records docs/control.md as a whole,
 * from the endpoints docs/openapi.json, and from it the types of the TypeScript client,
 * from the table of docs/limits.ts and the constants that it names docs/limits.md as a whole,
 * from the members of LogsQL the reference in docs/logsql.md between its markers, from the functions of PromQL that in docs/promql.md.
 * from the rows of test/docs/conformance docs/conformance.md as a whole.
 * from docs/monitoring.ts the rules and the dashboard of compose/monitoring,
 * from bench/simulation the tables of docs/scale.md between its markers.
 * It prints which answers of the API no test has seen.
 * `npm run docs -- --check` writes nothing and fails where one of them is out of date.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openApi } from '../api/openapi/document.ts';
import { figuresSection, sectionsOf } from '../bench/simulation/report.ts';
import { SCENARIOS, simulate } from '../bench/simulation/simulate.ts';
import { describedEndpoints } from '../main/description.ts';
import { environment } from '../pipeline/core/config.ts';
import { SECTIONS } from '../test/docs/conformance/index.ts';
import { seenOf, tidySeen, type Operations } from '../test/openapi/seen.ts';
import { clientTypes } from './client-types.ts';
import { conformancePage } from './conformance-page.ts';
import { controlPage } from './control-page.ts';
import { LIMITS } from './limits.ts';
import { limitsPage } from './limits/page.ts';
import { alertRules, dashboard } from './monitoring.ts';
import { logsqlReference } from './logsql-reference.ts';
import { promqlReference } from './promql-reference.ts';

const ROOT = path.resolve(import.meta.dirname, '..');

/** One variable of the schema, in words; `preset` is empty where there is no default. */
export type Variable = { readonly name: string; readonly value: string; readonly preset: string; readonly meaning: string };

type Rule = {
  readonly name: string;
  readonly args?: { readonly limit?: number; readonly regex?: string; readonly options?: { readonly scheme?: readonly string[] } };
};
type Described = {
  readonly type: string;
  readonly flags?: { readonly default?: unknown; readonly description?: string; readonly only?: boolean };
  readonly allow?: readonly unknown[];
  readonly rules?: readonly Rule[];
};

/** Every variable of the schema, in its order. */
export function variables(): Variable[] {
  const { keys } = environment.describe() as { keys: Readonly<Record<string, Described>> };
  return Object.entries(keys).map(([name, { flags = {}, ...rest }]) => ({
    name,
    value: valueOf({ flags, ...rest }),
    preset: flags.default === undefined ? '' : code(flags.default),
    meaning: flags.description ?? '',
  }));
}

const code = (value: unknown): string => (value === '' ? 'empty' : `\`${String(value)}\``);

/** What a variable may be set to. */
function valueOf({ type, flags, allow = [], rules = [] }: Described): string {
  if (flags?.only === true) return allow.map(code).join(', ');
  if (type === 'boolean') return '`true`, `false`, `1`, `0`';
  const rule = (name: string): Rule | undefined => rules.find((candidate) => candidate.name === name);
  if (type === 'number') return rule('port') === undefined ? numberOf(rule) : `port${allow.includes(0) ? ', or 0 for any free one' : ''}`;
  const pattern = rule('pattern')?.args?.regex;
  if (pattern !== undefined) return `text that matches \`${pattern.slice(1, -1)}\``;
  if (rule('hostname') !== undefined) return 'host name or IP address';
  const schemes = rule('uri')?.args?.options?.scheme;
  if (schemes !== undefined) return `${schemes.join(' or ')} URL`;
  const shortest = rule('min')?.args?.limit;
  return shortest === undefined ? 'text' : `text of at least ${String(shortest)} characters`;
}

function numberOf(rule: (name: string) => Rule | undefined): string {
  const kind = rule('integer') === undefined ? 'number' : 'integer';
  const least = rule('sign') === undefined ? rule('min')?.args?.limit : 'more than 0';
  const most = rule('max')?.args?.limit;
  const from = least === undefined ? '' : typeof least === 'number' ? `at least ${String(least)}` : least;
  return [kind, from, most === undefined ? '' : `at most ${String(most)}`].filter((part) => part !== '').join(', ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function configPage(): string {
  return `# Configuration

<!-- Made by \`npm run docs\` from pipeline/core/config.ts; edit that file instead. -->

Logweir is configured by environment variables alone. They are read once, at the start. All faults are reported together; an unknown name
that begins with \`LOGWEIR_\` is a fault. Variables of clients, which the service ignores, are in [cli.md](cli.md#environment).

${table(
  ['Variable', 'Value (default)', 'Meaning'],
  variables().map(({ name, value, preset, meaning }) => [`\`${name}\``, preset === '' ? value : `${value} (${preset})`, meaning]),
)}
`;
}

/** The text with what stands between two markers as it should be. Throws where the markers are missing. */
function between(text: string, begin: string, end: string, part: string): string {
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`There is no ${begin} … ${end}.`);
  return `${text.slice(0, from)}${begin}\n${part}\n${text.slice(to)}`;
}

/** What the simulation comes to, and the constants that it is made of. */
const scaleTables = (): string =>
  [...sectionsOf(SCENARIOS.map((scenario) => simulate(scenario))), figuresSection()].map(({ title, head, rows }) => `### ${title}\n\n${table(head, rows)}`).join('\n\n'); // prettier-ignore

/** Each file with generated parts: its text now and as it should be. */
export function generated(): { readonly file: string; readonly is: string; readonly should: string }[] {
  const read = (file: string): string => (existsSync(path.join(ROOT, file)) ? readFileSync(path.join(ROOT, file), 'utf8') : '');
  const language = read('docs/logsql.md');
  const metrics = read('docs/promql.md');
  const scale = read('docs/scale.md');
  const description = openApi(describedEndpoints());
  return [
    { file: 'docs/config.md', is: read('docs/config.md'), should: configPage() },
    {
      file: 'docs/openapi.json',
      is: existsSync(path.join(ROOT, 'docs/openapi.json')) ? read('docs/openapi.json') : '',
      should: `${JSON.stringify(description, null, 1)}\n`,
    },
    { file: 'docs/control.md', is: read('docs/control.md'), should: controlPage(table) },
    { file: 'web/client/operations.ts', is: read('web/client/operations.ts'), should: clientTypes(description) },
    { file: 'compose/monitoring/alerts.yml', is: read('compose/monitoring/alerts.yml'), should: alertRules() },
    { file: 'compose/monitoring/dashboard.json', is: read('compose/monitoring/dashboard.json'), should: dashboard() },
    { file: 'docs/limits.md', is: read('docs/limits.md'), should: limitsPage(LIMITS, table) },
    { file: 'docs/conformance.md', is: read('docs/conformance.md'), should: conformancePage(SECTIONS, table) },
    {
      file: 'docs/logsql.md',
      is: language,
      should: between(language, '<!-- reference:begin -->', '<!-- reference:end -->', `\n${logsqlReference(table)}\n`),
    },
    {
      file: 'docs/scale.md',
      is: scale,
      should: between(scale, '<!-- simulation:begin -->', '<!-- simulation:end -->', `\n${scaleTables()}\n`),
    },
    {
      file: 'docs/promql.md',
      is: metrics,
      should: between(metrics, '<!-- reference:begin -->', '<!-- reference:end -->', `\n${promqlReference(table)}\n`),
    },
  ];
}

/** Writes what is out of date, or only says so. Gives the exit code. */
function main(argv: readonly string[]): number {
  const stale = generated().filter(({ is, should }) => is !== should);
  const isCheck = argv.includes('--check');
  if (!isCheck) printUnseen();
  for (const { file, should } of stale) {
    if (!isCheck) writeFileSync(path.join(ROOT, file), should);
    process.stdout.write(`${file} ${isCheck ? 'is out of date: run npm run docs' : 'was written'}\n`);
  }
  return isCheck && stale.length > 0 ? 1 : 0;
}

/** Prints which statuses of which operations no test has seen. */
function printUnseen(): void {
  const description = openApi(describedEndpoints()) as unknown as Operations;
  tidySeen(description);
  const { all, seen, missing } = seenOf(description);
  process.stdout.write(
    `${String(seen)} of ${String(all)} statuses of operations were seen by tests; ${String(missing.length)} should be seen:\n`,
  );
  for (const pair of missing) process.stdout.write(`  ${pair}\n`);
}

if (process.argv[1] === import.meta.filename) process.exitCode = main(process.argv.slice(2));
