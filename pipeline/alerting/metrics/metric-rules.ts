import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import { readJson } from '../../core/read-json.ts';
import { metricRuleStateRecords, STATE_DAYS } from '../../counters/metric-rule-states.ts';
import { derivedSamples } from '../../samples/derived-samples.ts';
import { mostOf, type Bounds } from '../../processors/base/bounds.ts';
import type { PartialInput } from '../../processors/base/partial.ts';
import { partialRecord } from '../../processors/merge/partials.ts';
import type { Merger, MergerInput } from '../../processors/merge/merger.ts';
import { commandRecords } from '../book/command.ts';
import { METRIC_EVALUATIONS, readEvaluated, readTurn } from './evaluated.ts';
import { Evaluations, type MetricRunner } from './evaluations.ts';
import { METRIC_RULES, metricRuleSettings, MOST_METRIC_RULES } from './metric-rule-fault.ts';
import { readMetricRule, type ReadMetricRule } from './metric-rule.ts';
import { MetricWatch, type WatchResult } from './metric-watch.ts';

const VERSION = 1;
const KIB = 1024;
/** Bytes of alerts and series that rules hold in a partition: with all settings they fit into a snapshot. */
const HELD: Bounds = { most: 20_000 * KIB, ofTenant: 8000 * KIB, few: 256 * KIB, last: 28_000 * KIB };

/** What says that the records of a tenant come to a partition. */
const HERE = Buffer.from('[]');

/** A rule as it is set; null where it is removed. */
type SetRule = { readonly version: number; readonly read: ReadMetricRule | null };

/** The tenants of a partition of `partials.v1`. */
export type MetricRulesState = {
  readonly tenants: Map<number, MetricWatch>;
  /** What is set, by tenant and slot: in the settings, not in the snapshot. */
  readonly set: Map<number, Map<number, SetRule>>;
  /** When the last record was appended, milliseconds; 0 behind a snapshot, until one was read. */
  seenAt: number;
  readonly evaluations: Evaluations;
};

/**
 * Rules over metrics (docs/adr/0047-rules-over-metrics.md): has what is due evaluated, puts the results on `partials.v1`, and folds them there.
 * What fires and what is recorded follows from these records, the first one for each rule and time, and not from when something ran.
 */
export const createMetricRules = (runner: MetricRunner): Merger<MetricRulesState> => ({
  ...metricRuleSettings,
  of: METRIC_EVALUATIONS,
  init: () => newState(runner),

  configure({ set, tenants }, { tenantId, key, value, version }) {
    const slot = slotOf(key);
    if (slot === 0 || tenantId === 0) return;
    const found = value === null ? null : readMetricRule(value);
    // another release may have taken what is none here
    const read = typeof found === 'string' ? null : found;
    let slots = set.get(tenantId);
    if (slots === undefined) set.set(tenantId, (slots = new Map<number, SetRule>()));
    slots.set(slot, { version, read });
    const known = tenants.get(tenantId)?.rules.get(slot);
    if (known?.version === version) known.read ??= read;
  },

  fold(state, input) {
    state.seenAt = Math.max(state.seenAt, input.appendedAt);
    if (input.kind === 'partial') return input.processor === METRIC_EVALUATIONS ? evaluated(state, input) : [];
    const { setting } = input;
    return setting?.processor === METRIC_RULES ? changed(state, input, setting.tenantId, slotOf(setting.key)) : [];
  },

  news(state) {
    state.evaluations.begin(state.tenants, state.seenAt);
    return state.evaluations.finished();
  },

  snapshot: ({ tenants }) => Buffer.from(JSON.stringify([VERSION, [...tenants]])),

  restore(bytes) {
    try {
      const [version, tenants] = readJson(bytes.toString()) as [number, [number, unknown][]];
      if (version !== VERSION) return null;
      const state = newState(runner);
      for (const [tenantId, watch] of tenants) state.tenants.set(tenantId, MetricWatch.from(watch));
      return state;
    } catch {
      return null;
    }
  },
});

function newState(runner: MetricRunner): MetricRulesState {
  return { tenants: new Map(), set: new Map(), seenAt: 0, evaluations: new Evaluations(runner) };
}

/** The slot of a setting's key; 0 for none. */
function slotOf(key: string): number {
  const [, digits] = /^rule_([1-9]\d{0,2})$/.exec(key) ?? [];
  return digits === undefined || Number(digits) > MOST_METRIC_RULES ? 0 : Number(digits);
}

/** A setting that was taken into the state applies from here on. */
function changed(state: MetricRulesState, input: MergerInput, tenantId: number, slot: number): AbsoluteRecord[] {
  const rule = state.set.get(tenantId)?.get(slot);
  if (rule === undefined) return [];
  const watch = watchOf(state, tenantId);
  const result = watch.set(slot, rule.version, rule.read, input.appendedAt);
  const records = recordsOf(input, tenantId, watch, result);
  if (watch.isOver(input.appendedAt)) state.tenants.delete(tenantId);
  // settings are in all partitions; this record goes to the tenant's own, which alone evaluates
  return watch.isHere || rule.read === null ? records : [...records, partialRecord(METRIC_EVALUATIONS, null, { tenantId, retentionDays: watch.retentionDays, value: HERE })]; // prettier-ignore
}

function watchOf({ tenants }: MetricRulesState, tenantId: number): MetricWatch {
  let watch = tenants.get(tenantId);
  if (watch === undefined) tenants.set(tenantId, (watch = new MetricWatch()));
  return watch;
}

function evaluated(state: MetricRulesState, input: PartialInput): AbsoluteRecord[] {
  const { tenantId, retentionDays, appendedAt } = input;
  const watch = watchOf(state, tenantId);
  watch.isHere = true;
  const isOff = readTurn(input.value);
  if (isOff !== null) return recordsOf(input, tenantId, watch, watch.turn(isOff, appendedAt));
  const result = readEvaluated(input.value);
  // the rule's own setting comes later: it asks again
  if (watch.isOver(appendedAt)) state.tenants.delete(tenantId);
  if (result === null) return [];
  watch.retentionDays = retentionDays;
  let all = 0;
  for (const one of state.tenants.values()) all += one.bytes;
  const own = watch.bytes;
  return recordsOf(input, tenantId, watch, watch.take(tenantId, result, appendedAt, Math.max(0, mostOf(own, all, HELD) - own)));
}

function recordsOf(
  input: MergerInput,
  tenantId: number,
  { retentionDays, isHere }: MetricWatch,
  { commands, samples, changed }: WatchResult,
): AbsoluteRecord[] {
  const rows = (isHere ? changed : []).flatMap((rule) =>
    rule.read === null
      ? []
      : [
          {
            ...{ tenantId, retentionDays: STATE_DAYS, rule: rule.read.rule.id, setting: rule.version },
            ...{ evaluatedAt: Math.floor(rule.evaluatedAt / 1000), state: rule.state(), version: input.offset },
          },
        ],
  );
  return [
    ...commandRecords(METRIC_RULES, input, [{ tenantId, retentionDays, commands }]),
    ...derivedSamples({ tenantId, retentionDays }, samples),
    ...metricRuleStateRecords(input.partition, rows),
  ];
}
