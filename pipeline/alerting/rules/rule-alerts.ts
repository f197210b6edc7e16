import { RULE, type Alert } from '../book/alert.ts';
import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import type { Merger } from '../../processors/merge/merger.ts';
import { partialRecord } from '../../processors/merge/partials-signal.ts';
import { alertOutputs } from '../../processors/merge/alert-outputs.ts';
import type { Position } from '../../processors/base/position.ts';
import { mostOf, type Bounds } from '../../processors/base/bounds.ts';
import type { PartialInput } from '../../processors/base/partial.ts';
import { readFinding } from '../exchange/finding.ts';
import { RULE_ALERTS, valuesText } from '../exchange/rule-values.ts';
import { CUSTOM_DETECTORS } from '../settings/switch.ts';
import { RuleWatch, type RulesResult } from './rule-watch.ts';
import { RULES } from '../../processors/rules/rules.ts';
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
  name: RULE_ALERTS,
  of: RULES,
  ofMergers: [CUSTOM_DETECTORS],
  init: () => ({ tenants: new Map(), lookAt: 0 }),

  fold(state, input) {
    const alone = passed(state, input);
    if (input.kind === 'tick') return alone;
    if (input.processor === CUSTOM_DETECTORS) return [...alone, ...heard(state, input)];
    const { tenantId } = input;
    let watch = state.tenants.get(tenantId);
    if (watch === undefined) state.tenants.set(tenantId, (watch = new RuleWatch()));
    return [...alone, ...publishedOf(state, input, input, watch.take(input, budgetOf(state, watch)), watch.retentionDays)];
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

/** The records of what a detector of others has found in the values of a group. */
function heard(state: RuleWatches, input: PartialInput): AbsoluteRecord[] {
  const watch = state.tenants.get(input.tenantId);
  const found = readFinding(input.value);
  const alert = watch === undefined || found === null ? null : watch.hear(input.tenantId, found, input.appendedAt, budgetOf(state, watch));
  return alert === null ? [] : recordsOf(state, input, [alert]);
}

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
  ...result.values.map((values) => partialRecord(RULE_ALERTS, null, { tenantId, retentionDays, value: valuesText(values) })),
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
