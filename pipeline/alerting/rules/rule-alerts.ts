import { RULE } from '../book/alert.ts';
import { type AlertCommand, type TenantCommands, commandRecords } from '../book/command.ts';
import { FORMER_RESOLUTIONS, formerResolution } from '../exchange/former-resolution.ts';
import type { Merger } from '../../processors/merge/merger.ts';
import { partialRecord } from '../../processors/merge/partials.ts';
import { mostOf, type Bounds } from '../../processors/base/bounds.ts';
import type { PartialInput } from '../../processors/base/partial.ts';
import { readFinding } from '../exchange/finding.ts';
import { RULE_ALERTS, valuesText } from '../exchange/rule-values.ts';
import { CUSTOM_DETECTORS } from '../settings/switch.ts';
import { derivedSamples } from '../../samples/derived-samples.ts';
import { RuleWatch, type RulesResult } from './rule-watch.ts';
import { RULES } from '../../processors/rules/rules-fold.ts';
import { SPAN_RULES } from '../../processors/rules/span-rules.ts';
import { readJson } from '../../core/read-json.ts';

const VERSION = 2;
/** That of releases with alerts. */
const FIRST_VERSION = 1;
/** How often tenants are looked at of which nothing comes. Milliseconds. */
const LOOK_MS = 10_000;
/** Of what groups and alerts take, about, in kibibytes. A snapshot (64 MiB) fits this, and what does not count for it. */
const BOUNDS: Bounds = { most: 32_000, ofTenant: 12_000, few: 256, last: 44_000 };

/** The tenants of a partition of `partials.v1`. */
export type RuleWatches = {
  readonly tenants: Map<number, RuleWatch>;
  lookAt: number;
  /** Whether it was read of what a release before wrote, which kept alerts. */
  hasCarried: boolean;
};

/**
 * Watches the values of rules over all partitions, and reports to the book of alerts (docs/rules.md). What is found is a function of the partials, of
 * the time that passes where a tenant sends nothing, and of what detectors of others have found in the values that it sends them.
 */
export const ruleAlerts: Merger<RuleWatches> = {
  name: RULE_ALERTS,
  of: RULES,
  alsoOf: [SPAN_RULES],
  ofMergers: [CUSTOM_DETECTORS, FORMER_RESOLUTIONS],
  init: () => ({ tenants: new Map(), lookAt: 0, hasCarried: false }),

  fold(state, input) {
    const found = [...carried(state), ...passed(state, input.appendedAt), ...(input.kind === 'tick' ? [] : takeOne(state, input))];
    const values = found.flatMap(({ tenantId, retentionDays, values: own }) =>
      own.map((one) => partialRecord(RULE_ALERTS, null, { tenantId, retentionDays, value: valuesText(one) })),
    );
    const recorded = found.flatMap(({ tenantId, retentionDays, recorded: own }) => derivedSamples({ tenantId, retentionDays }, own));
    return [...commandRecords(RULE_ALERTS, input, found), ...values, ...recorded];
  },

  snapshot: ({ tenants, lookAt }) => Buffer.from(JSON.stringify([VERSION, lookAt, [...tenants]])),

  restore(bytes) {
    try {
      const [version, lookAt, tenants] = readJson(bytes.toString()) as [number, number, [number, unknown][]];
      if (version > VERSION || version < FIRST_VERSION) return null;
      return {
        hasCarried: version === FIRST_VERSION,
        lookAt,
        tenants: new Map(tenants.map(([tenantId, watch]) => [tenantId, RuleWatch.from(watch)])),
      };
    } catch {
      return null;
    }
  },
};

/** What is to be reported of a tenant, and its values for detectors of others. */
type Found = TenantCommands & RulesResult;

const foundOf = (tenantId: number, { retentionDays }: RuleWatch, result: RulesResult): Found => ({ tenantId, retentionDays, ...result });
const commandsOf = (tenantId: number, watch: RuleWatch, commands: readonly AlertCommand[]): Found =>
  foundOf(tenantId, watch, { commands, values: [], recorded: [] });

/** What was found after a partial. */
function takeOne(state: RuleWatches, input: PartialInput): Found[] {
  const { tenantId, processor } = input;
  const known = state.tenants.get(tenantId);
  if (processor === FORMER_RESOLUTIONS) {
    const resolved = formerResolution(input, (detector) => detector === RULE);
    return resolved === null ? [] : [{ tenantId, retentionDays: input.retentionDays, commands: [resolved], values: [], recorded: [] }];
  }
  if (processor === CUSTOM_DETECTORS) {
    const found = readFinding(input.value);
    const command = known === undefined || found === null ? null : known.hear(tenantId, found, input.appendedAt, budgetOf(state, known));
    return known === undefined || command === null ? [] : [commandsOf(tenantId, known, [command])];
  }
  const watch = known ?? new RuleWatch();
  state.tenants.set(tenantId, watch);
  return [foundOf(tenantId, watch, watch.take(input, budgetOf(state, watch)))];
}

/** What a release before kept with the rules, once. */
function carried(state: RuleWatches): Found[] {
  if (!state.hasCarried) return [];
  state.hasCarried = false;
  return [...state.tenants].map(([tenantId, watch]) => commandsOf(tenantId, watch, watch.carried()));
}

/** What was found of tenants that send nothing. */
function passed(state: RuleWatches, appendedAt: number): Found[] {
  if (appendedAt < state.lookAt) return [];
  const alone = [...state.tenants].filter(([, { isAlone }]) => isAlone);
  if (alone.length === 0) return [];
  state.lookAt = appendedAt + LOOK_MS;
  return alone.map(([tenantId, watch]) => foundOf(tenantId, watch, watch.pass(tenantId, appendedAt, budgetOf(state, watch))));
}

/** Kibibytes that the groups and alerts of a tenant may take more. */
function budgetOf({ tenants }: RuleWatches, { weight }: RuleWatch): number {
  let all = 0;
  for (const one of tenants.values()) all += one.weight;
  return Math.max(0, mostOf(weight, all, BOUNDS) - weight);
}
