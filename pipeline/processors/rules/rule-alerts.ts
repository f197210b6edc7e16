import { RULE, type Alert } from '../../alerts/alert.ts';
import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import type { Merger } from '../merge/merger.ts';
import { valuesRecord } from '../merge/partials-signal.ts';
import { alertOutputs } from '../merge/alert-outputs.ts';
import type { Position } from '../base/processor.ts';
import { mostOf, type Bounds } from '../base/bounds.ts';
import { RuleWatch, type RulesResult } from './rule-watch.ts';
import { RULES } from './rules.ts';
import { readJson } from '../../core/read-json.ts';

const VERSION = 1;
/** How often tenants are looked at of which nothing comes. Milliseconds. */
const LOOK_MS = 10_000;
/** Of what groups and alerts take, about, in kibibytes. A snapshot (64 MiB) fits this, and what does not count for it. */
const BOUNDS: Bounds = { most: 32_000, ofTenant: 12_000, few: 256, last: 44_000 };

/** The tenants of a partition of `partials.v1`. */
export type RuleWatches = { readonly tenants: Map<number, RuleWatch>; lookAt: number };

/**
 * Watches the values of rules over all partitions, and publishes alerts (docs/rules.md). What is found is a function of the partials, of
 * the time that passes where a tenant sends nothing, and of what detectors of others have found in the values that it sends them.
 */
export const ruleAlerts: Merger<RuleWatches> = {
  name: 'rule-alerts',
  of: RULES,
  init: () => ({ tenants: new Map(), lookAt: 0 }),

  fold(state, input) {
    const alone = passed(state, input);
    if (input.kind === 'tick') return alone;
    const { tenantId } = input;
    let watch = state.tenants.get(tenantId);
    if (watch === undefined) state.tenants.set(tenantId, (watch = new RuleWatch()));
    return [...alone, ...publishedOf(state, input, input, watch.take(input, budgetOf(state, watch)), watch.retentionDays)];
  },

  hear(state, input) {
    const watch = state.tenants.get(input.tenantId);
    const alert = watch?.hear(input.tenantId, input, input.appendedAt, budgetOf(state, watch)) ?? null;
    return [...passed(state, input), ...(alert === null ? [] : recordsOf(state, input, [alert]))];
  },

  join(state, input) {
    state.tenants.get(input.tenantId)?.join(input, input.appendedAt);
    return passed(state, input);
  },

  resolve(state, input) {
    const { alert, note, appendedAt } = input;
    if (alert.detector !== RULE) return [];
    const watch = state.tenants.get(alert.tenantId) ?? new RuleWatch();
    state.tenants.set(alert.tenantId, watch);
    const resolved = watch.resolve(alert, note, appendedAt);
    return resolved === null ? [] : recordsOf(state, input, [resolved]);
  },

  snapshot: ({ tenants, lookAt }) => Buffer.from(JSON.stringify([VERSION, lookAt, [...tenants]])),

  restore(bytes) {
    try {
      const [version, lookAt, tenants] = readJson(bytes.toString()) as [number, number, [number, unknown][]];
      if (version !== VERSION) return null;
      return { lookAt, tenants: new Map(tenants.map(([tenantId, watch]) => [tenantId, RuleWatch.from(watch)])) };
    } catch {
      return null;
    }
  },
};

/** The records of tenants that send nothing. */
function passed(state: RuleWatches, at: Position): AbsoluteRecord[] {
  const { appendedAt } = at;
  if (appendedAt < state.lookAt) return [];
  const alone = [...state.tenants].filter(([, { isAlone }]) => isAlone);
  if (alone.length === 0) return [];
  state.lookAt = appendedAt + LOOK_MS;
  return alone.flatMap(([tenantId, watch]) =>
    publishedOf(state, at, { tenantId }, watch.pass(tenantId, appendedAt, budgetOf(state, watch)), watch.retentionDays),
  );
}

/** The records of a tenant: alerts, and values for detectors of others. */
const publishedOf = (
  state: RuleWatches,
  at: Position,
  { tenantId }: { readonly tenantId: number },
  result: RulesResult,
  retentionDays: number,
): AbsoluteRecord[] => [
  ...recordsOf(state, at, result.alerts),
  ...result.values.map((values) => valuesRecord(tenantId, retentionDays, values)),
];

/** Kibibytes that the groups and alerts of a tenant may take more. */
function budgetOf({ tenants }: RuleWatches, { weight }: RuleWatch): number {
  let all = 0;
  for (const one of tenants.values()) all += one.weight;
  return Math.max(0, mostOf(weight, all, BOUNDS) - weight);
}

/** The records of alerts at this place. */
const recordsOf = ({ tenants }: RuleWatches, at: Position, alerts: readonly Alert[]): AbsoluteRecord[] =>
  alertOutputs(at, alerts, (tenantId) => tenants.get(tenantId));
