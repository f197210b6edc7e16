import type { Fold, Tick } from '../base/processor.ts';
import type { Position } from '../base/position.ts';
import type { Setting } from '../../core/setting.ts';
import { jsonPartials } from '../base/json.ts';
import type { PartialOutput } from '../base/partial.ts';
import type { RecordRows } from './record-rows.ts';
import { compileRule, RULE_EXAMPLES, ruleFault, signalOf, type RuleSignal } from './rule.ts';
import type { RulesRow } from './rules-partial.ts';
import { TenantCounts, type ActiveRule } from './tenant-counts.ts';
import { readJson } from '../../core/read-json.ts';

/** The processor that has the settings of all rules, and their names: one for each rule that a tenant may have. */
export const RULES = 'rules';
export const MOST_RULES = 50;
export const ruleKey = (slot: number): string => `rule_${String(slot)}`;
/** Those settings, each with values that are right. */
export const ruleSettings = (): Readonly<Record<string, typeof RULE_EXAMPLES>> =>
  Object.fromEntries(Array.from({ length: MOST_RULES }, (_none, index) => [ruleKey(index + 1), RULE_EXAMPLES]));
/** Settings of it, of all tenants: some 250 tenants with twenty rules each. */
export const MOST_SETTINGS = 5000;
const VERSION = 1;

/** How often counts are reported, and how much later where nothing came. Milliseconds, by append time. */
const PUBLISH_MS = 10_000;
const QUIET_MS = 60_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** A tenant without entries for this long is no longer a source. */
const FORGET_MS = 24 * HOUR_MS;
/** What is counted of a tenant, and of all, before it is reported at once: kibibytes, about. */
const MOST_OF_TENANT = 4000;
const MOST_OF_ALL = 20_000;
/** The retention of a tenant that had no entries yet. Days. */
const UNKNOWN_RETENTION = 30;

/** Which version of a rule a partition has, and since when: append time, milliseconds. */
type Known = { readonly version: number; readonly since: number };

/** What a partition has evaluated and not reported. */
export type RulesState = {
  readonly tenants: Map<number, TenantCounts>;
  /** By tenant and slot. */
  readonly known: Map<number, Map<number, Known>>;
  publishAt: number;
  /** What is set, by tenant and slot: in the settings, not in the snapshot. */
  readonly set: Map<number, Map<number, Omit<ActiveRule, 'since'>>>;
};

/** A record of a signal, as far as rules look at it. */
type RuleBatch = Position & { readonly kind: 'batch'; readonly tenantId: number; readonly retentionDays: number };
type RuleInput = RuleBatch | Tick;

/** Over what rules are evaluated: which of them, and how a record is read; null where it has no rows. */
type RuleSource<Batch extends RuleBatch> = { readonly signal: RuleSignal; read(batch: Batch): RecordRows | null };

/** A fold that evaluates the rules over one signal, and what it does with settings. */
type RulesFold<Batch extends RuleBatch> = Pick<Fold<RulesState, Batch | Tick, PartialOutput>, 'init' | 'fold' | 'snapshot' | 'restore'> & {
  configure(state: RulesState, setting: Setting): void;
};

/** The fold of rules over a signal (docs/rules.md). All partitions of all signals report each rule; those of its own count. */
export const rulesFold = <Batch extends RuleBatch>({ signal, read }: RuleSource<Batch>): RulesFold<Batch> => ({
  init: newState,

  configure(state, { tenantId, key, value, version }) {
    const slot = slotOf(key);
    if (slot === 0 || tenantId === 0) return;
    const compiled = value === null ? null : compileRule(value);
    // another release may have taken what is none here
    const isRule = typeof compiled === 'object' && compiled !== null;
    const isOwn = isRule && signalOf(compiled.rule) === signal;
    placed(state.set, tenantId).set(slot, { slot, version, value: isRule ? value : null, compiled: isOwn ? compiled : null });
  },

  fold(state, input) {
    const outputs = input.appendedAt >= state.publishAt ? publishAll(state, input) : [];
    if (input.kind === 'tick') return input.setting?.processor === RULES ? [...outputs, ...taken(state, input, input.setting)] : outputs;
    if (!state.set.has(input.tenantId)) return outputs;
    const active = activeOf(state, input.tenantId);
    const rows = active.every(({ compiled }) => compiled === null) ? null : read(input);
    if (rows === null) return outputs;
    const tenant = count(state, input, rows, active);
    const isFull = tenant.weight >= MOST_OF_TENANT || weightOfAll(state) >= MOST_OF_ALL;
    return isFull ? [...outputs, ...publish(state, input.tenantId, tenant, input)] : outputs;
  },

  snapshot({ tenants, known, publishAt }) {
    const versions = [...known].map(([tenantId, slots]) => [tenantId, [...slots]]);
    return Buffer.from(JSON.stringify([VERSION, publishAt, versions, [...tenants]]));
  },

  restore(bytes) {
    try {
      const [version, publishAt, known, tenants] = readJson(bytes.toString()) as [number, number, [number, [number, Known][]][], [number, unknown][]]; // prettier-ignore
      if (version !== VERSION) return null;
      const state = newState();
      state.publishAt = publishAt;
      for (const [tenantId, slots] of known) state.known.set(tenantId, new Map(slots));
      for (const [tenantId, counts] of tenants) state.tenants.set(tenantId, TenantCounts.from(counts));
      return state;
    } catch {
      return null;
    }
  },
});

/** What is wrong with a rule as a setting, where these are the detectors of others, as a sentence; null for nothing. */
export const ruleSettingFault = ({ tenantId, value }: Pick<Setting, 'tenantId' | 'value'>, others: readonly string[] = []): string | null =>
  tenantId === 0 ? 'A rule is of one tenant.' : ruleFault(value, others);

function newState(): RulesState {
  return { tenants: new Map(), known: new Map(), publishAt: 0, set: new Map() };
}

/** The slot of a setting's key; 0 for none. */
function slotOf(key: string): number {
  const [, digits] = /^rule_([1-9]\d?)$/.exec(key) ?? [];
  return digits === undefined || Number(digits) > MOST_RULES ? 0 : Number(digits);
}

function placed<Value>(map: Map<number, Map<number, Value>>, tenantId: number): Map<number, Value> {
  let found = map.get(tenantId);
  if (found === undefined) map.set(tenantId, (found = new Map<number, Value>()));
  return found;
}

/** The rules of a tenant as the partition has them, deleted ones too, in the order of their slots. */
function activeOf(state: RulesState, tenantId: number): ActiveRule[] {
  const set = state.set.get(tenantId);
  const found: ActiveRule[] = [];
  for (const [slot, { version, since }] of state.known.get(tenantId) ?? []) {
    const rule = set?.get(slot);
    if (rule?.version === version) found.push({ ...rule, since });
  }
  return found.sort((a, b) => a.slot - b.slot);
}

/** A setting that was taken into the state applies from here on, and is reported at once. */
function taken(state: RulesState, { appendedAt }: Tick, { tenantId, key, version }: Setting): PartialOutput[] {
  const slot = slotOf(key);
  const rule = state.set.get(tenantId)?.get(slot);
  const known = placed(state.known, tenantId);
  if (rule?.version !== version || known.get(slot)?.version === version) return [];
  known.set(slot, { version, since: appendedAt });
  const retentionDays = state.tenants.get(tenantId)?.retentionDays ?? UNKNOWN_RETENTION;
  const row: RulesRow = { kind: 'rule', slot, version, since: appendedAt, value: rule.value };
  return jsonPartials({ tenantId, retentionDays }, [row]);
}

function count(
  state: RulesState,
  { tenantId, retentionDays, appendedAt }: RuleBatch,
  rows: RecordRows,
  active: ActiveRule[],
): TenantCounts {
  let tenant = state.tenants.get(tenantId);
  if (tenant === undefined) state.tenants.set(tenantId, (tenant = new TenantCounts()));
  tenant.retentionDays = retentionDays;
  tenant.seenAt = appendedAt;
  tenant.count(rows, active, Math.floor(appendedAt / MINUTE_MS));
  return tenant;
}

function publish(state: RulesState, tenantId: number, tenant: TenantCounts, { appendedAt }: RuleInput, isExpired = false): PartialOutput[] {
  const { retentionDays } = tenant;
  const found = tenant.publish(activeOf(state, tenantId), appendedAt, Math.floor(appendedAt / HOUR_MS));
  return jsonPartials({ tenantId, retentionDays }, [...found, { kind: 'end', through: appendedAt, isGone: isExpired } satisfies RulesRow]);
}

/** What was evaluated of every tenant before this input. */
function publishAll(state: RulesState, input: RuleInput): PartialOutput[] {
  const { appendedAt } = input;
  const outputs: PartialOutput[] = [];
  for (const [tenantId, tenant] of state.tenants) {
    const isExpired = appendedAt >= tenant.seenAt + FORGET_MS;
    if (isExpired || tenant.hasNews || appendedAt >= tenant.publishedAt + QUIET_MS)
      outputs.push(...publish(state, tenantId, tenant, input, isExpired));
    if (isExpired) state.tenants.delete(tenantId);
  }
  state.publishAt = Math.floor(appendedAt / PUBLISH_MS) * PUBLISH_MS + PUBLISH_MS;
  return outputs;
}

const weightOfAll = ({ tenants }: RulesState): number => [...tenants.values()].reduce((sum, { weight }) => sum + weight, 0);
