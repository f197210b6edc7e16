import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Taken } from '../web/client/client.ts';
import { answerOf, findTarget, send, TARGET_FLAGS, TARGET_HELP, type Env, type Target } from './client.ts';
import { readFlags, wantsHelp } from './flags.ts';
import { EXIT, outputOf, printable, UsageError, type Sink } from './output.ts';
import { readRuleFile, type FileRule } from './rule-file.ts';

const HELP = `Usage: logweir rules import FILE [flags]
       logweir rules list [flags]
Rules over metrics (docs/rules.md#rules-over-metrics). import reads a rule file of Prometheus: its groups take the place of those of the
same names, other groups stay; repeated, it changes nothing. list prints the rules as JSON, one a line.

  --interval D    of groups that have none (default: 1m)
  --dry-run       only print what import would change
${TARGET_HELP}
Exit codes: 0 done, 1 the service cannot be reached, 2 wrong command line or file, 3 key refused.
`;

/** How often a change is tried again that comes too soon after others. */
const MAX_TRIES = 10;

type Known = FileRule & { readonly id: string; readonly created_at: string; readonly watch?: string };

/** What import does with a rule. */
type Step =
  | { readonly what: 'unchanged'; readonly rule: FileRule }
  | { readonly what: 'created'; readonly rule: FileRule }
  | { readonly what: 'changed'; readonly rule: FileRule; readonly id: string }
  | { readonly what: 'deleted'; readonly rule: FileRule; readonly id: string };

/** `logweir rules`: what a tenant has set over metrics, and rule files of Prometheus. */
export async function rulesCommand(argv: readonly string[], env: Env, to: Sink): Promise<number> {
  const output = outputOf(to, env);
  if (wantsHelp(argv)) {
    output.out(HELP);
    return EXIT.ok;
  }
  const { values, switches, positionals } = readFlags(argv, { values: ['interval', ...TARGET_FLAGS], switches: ['dry-run'], positionals: true }, HELP); // prettier-ignore
  const [what, file, ...others] = positionals;
  const isImport = what === 'import' && file !== undefined && others.length === 0;
  if (!isImport && !(what === 'list' && file === undefined)) throw new UsageError(HELP);
  const wanted = isImport ? readRuleFile(read(file), values.interval ?? '1m') : [];
  const target = findTarget(values, env);
  const known = await rulesOf(target);
  if (!isImport) {
    for (const rule of known) output.data(`${JSON.stringify(rule)}\n`);
    return EXIT.ok;
  }
  const steps = stepsOf(wanted, known);
  for (const step of steps) {
    if (!switches.has('dry-run')) await apply(target, step);
    const { rule } = step;
    if (step.what !== 'unchanged') output.out(`${step.what} ${printable(`${rule.group}/${rule.alert ?? rule.record ?? ''}`)}\n`);
  }
  const count = (kind: Step['what']): string => `${String(steps.filter((step) => step.what === kind).length)} ${kind}`;
  output.out(
    `${(['created', 'changed', 'deleted', 'unchanged'] as const).map(count).join(', ')}${switches.has('dry-run') ? ' (dry run)' : ''}\n`,
  );
  return EXIT.ok;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`The file ${file} cannot be read: ${(error as Error).message}`);
  }
}

const rulesOf = async (target: Target): Promise<readonly Known[]> =>
  (await answerOf(target, 'GET /api/v1/tenants/{tenant_id}/metric-rules', {})).items as unknown as readonly Known[];

/** What names a rule in its group: of several with one name the first is the first. */
function keysOf(rules: readonly FileRule[]): string[] {
  const counts = new Map<string, number>();
  return rules.map(({ group, alert = '', record = '' }) => {
    const key = JSON.stringify([group, alert, record]);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return `${key} ${String(count)}`;
  });
}

const sorted = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)) : value;

/** Whether two rules are the same, in whichever order their members stand. */
function isSame(one: FileRule, other: FileRule): boolean {
  const shown = ({ group, alert, record, expr, interval, for: wait, keep_firing_for: keep, labels, annotations }: FileRule): string =>
    JSON.stringify([
      group,
      alert,
      record,
      expr.trim(),
      interval,
      wait ?? '0s',
      keep ?? '0s',
      sorted(labels ?? {}),
      sorted(annotations ?? {}),
    ]);
  return shown(one) === shown(other);
}

/** What is to be done so that the groups of a file are what it has: deletions first, so that there is room for the others. */
function stepsOf(wanted: readonly FileRule[], known: readonly Known[]): Step[] {
  const groups = new Set(wanted.map(({ group }) => group));
  // a rule file has nothing that is watched
  const own = known.filter(({ group, watch }) => groups.has(group) && watch === undefined);
  const keys = keysOf(own);
  const before = new Map(own.map((rule, index) => [keys[index] as string, rule]));
  const wantedKeys = keysOf(wanted);
  const kept = new Set(wantedKeys);
  const deleted = [...before].filter(([key]) => !kept.has(key)).map(([, rule]): Step => ({ what: 'deleted', rule, id: rule.id }));
  const others = wanted.map((rule, index): Step => {
    const found = before.get(wantedKeys[index] as string);
    if (found === undefined) return { what: 'created', rule };
    return isSame(rule, found) ? { what: 'unchanged', rule } : { what: 'changed', rule, id: found.id };
  });
  return [...deleted, ...others];
}

async function apply(target: Target, step: Step): Promise<void> {
  if (step.what === 'unchanged') return;
  const body = step.rule as object as Taken<'POST /api/v1/tenants/{tenant_id}/metric-rules'>['body'];
  const run = (): Promise<Response> => {
    if (step.what === 'created') return send(target, 'POST /api/v1/tenants/{tenant_id}/metric-rules', { body });
    const path = { rule_id: step.id };
    return step.what === 'deleted'
      ? send(target, 'DELETE /api/v1/tenants/{tenant_id}/metric-rules/{rule_id}', { path })
      : send(target, 'PUT /api/v1/tenants/{tenant_id}/metric-rules/{rule_id}', { path, body });
  };
  for (let tries = 1; ; tries++)
    try {
      await run();
      return;
    } catch (error) {
      const { status, retryAfter = 1, message } = error as Error & { readonly status?: number; readonly retryAfter?: number };
      if (status === 429 && tries < MAX_TRIES) {
        await sleep(retryAfter * 1000);
        continue;
      }
      if (error instanceof UsageError) throw new UsageError(`${step.rule.group}/${step.rule.alert ?? step.rule.record ?? ''}: ${message}`);
      throw error;
    }
}
