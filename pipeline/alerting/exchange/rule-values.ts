import { createHash } from 'node:crypto';
import type { Side } from '../../detectors/detector.ts';
import { readJson } from '../../core/read-json.ts';

/** The merger that watches the values of rules, and sends those for detectors of others. */
export const RULE_ALERTS = 'rule-alerts';

/** A group of a rule in a window: which one, its value (null: none), and the entries that match. */
export type GroupValue = readonly [group: string, value: number | null, entries: number];

/** Which rule it is of a tenant: its slot, and the version since which it is watched in the same way. */
export type RuleOrigin = { readonly slot: number; readonly began: number };

/** The values of all groups of a rule in a window that is over, for a detector of one's own (docs/adr/0033-rules-and-custom-detectors.md). */
export type RuleValues = RuleOrigin & {
  readonly detector: string;
  /** What the rule is about alone; null: both sides. */
  readonly side: Side | null;
  /** Minutes of a window, and its first one, since 1970. */
  readonly step: number;
  readonly window: number;
  readonly groups: readonly GroupValue[];
};

/** What a group is called: the same for the same labels. */
export const groupOf = (labels: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(labels)).digest('hex').slice(0, 32);

const SERIES = /^rule (\d{1,3})\.(\d{1,15}) ([0-9a-f]{32})$/;

/** The id of a group's series among all those of a tenant. Ids of streams have eight characters. */
export const seriesIdOf = ({ slot, began }: RuleOrigin, group: string): string => `rule ${String(slot)}.${String(began)} ${group}`;

/** Which rule and group a series is of; null for none of a rule. */
export function readSeriesId(id: string): (RuleOrigin & { readonly group: string }) | null {
  const [, slot, began, group] = SERIES.exec(id) ?? [];
  return group === undefined ? null : { slot: Number(slot), began: Number(began), group };
}

/** Values as the value of a record. */
export const valuesText = ({ slot, began, detector, side, step, window, groups }: RuleValues): Buffer =>
  Buffer.from(JSON.stringify({ slot, began, detector, side, step, window, groups }));

const SIDES: readonly unknown[] = [null, 'up', 'down'];

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const isGroup = (value: unknown): value is GroupValue => {
  if (!Array.isArray(value)) return false;
  const [group, number, entries] = value as readonly unknown[];
  return typeof group === 'string' && /^[0-9a-f]{32}$/.test(group) && (number === null || Number.isFinite(number)) && isCount(entries);
};

/** Reads a value; null where it does not hold a rule's values. */
export function readValues(value: Buffer): RuleValues | null {
  try {
    const read = readJson(value.toString()) as RuleValues;
    const { slot, began, detector, side, step, window, groups } = read;
    const isWhole = [slot, began, step, window].every(isCount) && step > 0 && typeof detector === 'string';
    return isWhole && SIDES.includes(side) && Array.isArray(groups) && groups.every(isGroup) ? read : null;
  } catch {
    return null;
  }
}
