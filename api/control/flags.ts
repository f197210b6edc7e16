import { invalidParameter } from '../../pipeline/core/errors.ts';
import { findPlan, MOST_QUERIES_AT_ONCE, PLANS, type Plan } from '../tenants/plans.ts';

type Flag = {
  readonly name: string;
  readonly type: 'switch' | 'number';
  /** The numbers of a contract: they count on the plan `custom` only. */
  readonly customOnly?: true;
  readonly max?: number;
  /** The plan with this value in place of its own. */
  apply(plan: Plan, value: boolean | number): Plan;
};

const feature = (plan: Plan, features: Partial<Plan['features']>): Plan => ({ ...plan, features: { ...plan.features, ...features } });

const credits = (plan: Plan, own: Partial<Plan['credits']>): Plan => ({ ...plan, credits: { ...plan.credits, ...own } });

/** Everything that can be set on a tenant in addition to its plan, one row each. */
export const FLAGS: readonly Flag[] = [
  { name: 'demo', type: 'switch', apply: (plan) => plan },
  { name: 'metrics', type: 'switch', apply: (plan, value) => feature(plan, { metrics: value === true }) },
  { name: 'replay', type: 'switch', apply: (plan, value) => feature(plan, { replay: value === true }) },
  { name: 'utf8_names', type: 'switch', apply: (plan, value) => ({ ...plan, utf8Names: value === true }) },
  { name: 'ai', type: 'switch', apply: (plan, value) => feature(plan, { ai: value === true }) },
  { name: 'projects', type: 'number', max: 10_000, apply: (plan, value) => feature(plan, { projects: Number(value) }) },
  {
    name: 'shards',
    type: 'number',
    // as many partitions as the log can have
    max: 2048,
    apply: (plan, value) => ({ ...plan, shards: Math.max(plan.shards, Number(value)) }),
  },
  { name: 'ceiling_bytes', type: 'number', apply: (plan, value) => (plan.paid ? { ...plan, ceilingBytes: Number(value) } : plan) },
  { name: 'entries_per_second', type: 'number', customOnly: true, apply: (plan, value) => ({ ...plan, entriesPerSecond: Number(value) }) },
  { name: 'daily_bytes', type: 'number', customOnly: true, apply: (plan, value) => ({ ...plan, dailyBytes: Number(value) }) },
  { name: 'queries_per_minute', type: 'number', customOnly: true, apply: (plan, value) => ({ ...plan, queriesPerMinute: Number(value) }) },
  {
    name: 'queries_at_once',
    type: 'number',
    customOnly: true,
    max: MOST_QUERIES_AT_ONCE,
    apply: (plan, value) => ({ ...plan, queriesAtOnce: Math.max(1, Number(value)) }),
  },
  { name: 'streams_per_day', type: 'number', customOnly: true, apply: (plan, value) => ({ ...plan, streamsPerDay: Number(value) }) },
  { name: 'series_per_day', type: 'number', customOnly: true, apply: (plan, value) => ({ ...plan, seriesPerDay: Number(value) }) },
  { name: 'ai_credits', type: 'number', customOnly: true, apply: (plan, value) => credits(plan, { daily: Number(value) }) },
  { name: 'deep_rca_credits', type: 'number', customOnly: true, apply: (plan, value) => credits(plan, { deepRca: Number(value) }) },
  {
    name: 'playbook_import_credits',
    type: 'number',
    customOnly: true,
    apply: (plan, value) => credits(plan, { playbookImport: Number(value) }),
  },
  {
    name: 'retention_days',
    type: 'number',
    customOnly: true,
    max: 365,
    apply: (plan, value) => ({ ...plan, retentionDays: Math.max(1, Number(value)) }),
  },
];

/** The projects of a tenant whose flag is just `on`. */
const SOME_PROJECTS = 5;

/** Parses a flag's value: `on`, `off`, a whole number; null for `default`, which removes the flag. */
export function parseFlag(name: string, text: string, plan: string): boolean | number | null {
  const flag = FLAGS.find((row) => row.name === name);
  if (flag === undefined)
    throw invalidParameter(`No flag is named ${JSON.stringify(name)}; there are ${FLAGS.map((row) => row.name).join(', ')}.`);
  if (flag.customOnly === true && plan !== 'custom')
    throw invalidParameter(`The flag ${name} belongs to the plan custom; this tenant is on ${plan}.`);
  const word = text.trim().toLowerCase();
  if (word === 'default') return null;
  const on = ['on', 'true', 'yes'].includes(word);
  const off = ['off', 'false', 'no'].includes(word);
  if (flag.type === 'switch') {
    if (on || word === '1') return true;
    if (off || word === '0') return false;
    throw invalidParameter(`The flag ${name} is on, off or default.`);
  }
  if (name === 'projects' && (on || off)) return on ? SOME_PROJECTS : 0;
  const number = /^\d{1,15}$/.test(word) ? Number(word) : NaN;
  if (!(number <= (flag.max ?? Infinity)))
    throw invalidParameter(
      `The flag ${name} is a whole number${flag.max === undefined ? '' : ` of at most ${String(flag.max)}`}, or default.`,
    );
  return number;
}

/** What a tenant gets whose plan this release does not know. */
const LEAST_PLAN = PLANS.find((plan) => plan.name === 'trial_expired') as Plan;

/** The plan of a tenant with its flags in place. */
export function effectivePlan(tenant: { readonly plan: string; readonly flags: Readonly<Record<string, boolean | number>> }): Plan {
  const base = findPlan(tenant.plan) ?? LEAST_PLAN;
  return FLAGS.reduce((plan, flag) => {
    const value = Object.hasOwn(tenant.flags, flag.name) ? tenant.flags[flag.name] : undefined;
    return value === undefined || (flag.customOnly === true && base.name !== 'custom') ? plan : flag.apply(plan, value);
  }, base);
}
