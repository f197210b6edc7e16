import { parseNumber } from '../../../logsql/values/numbers.ts';
import type { Side } from '../../detectors/detector.ts';
import { valueDetectors } from '../../detectors/point-series.ts';

/**
 * When a rule fires: its value beyond a number, or a detector that watches it, the service's own or one of others, on one side or on both; or never,
 * where it only records.
 */
export type Condition =
  | { readonly kind: 'threshold'; readonly operator: Operator; readonly bound: number; readonly written: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'detector'; readonly detector: string; readonly isCustom: boolean; readonly side: Side | null };

const OPERATORS = {
  '>': (value: number, bound: number): boolean => value > bound,
  '>=': (value: number, bound: number): boolean => value >= bound,
  '<': (value: number, bound: number): boolean => value < bound,
  '<=': (value: number, bound: number): boolean => value <= bound,
  '==': (value: number, bound: number): boolean => value === bound,
};
export type Operator = keyof typeof OPERATORS;

const THRESHOLD = /^value\s*(>=|<=|==|>|<)\s*(\S{1,40})$/;
const DETECTOR = /^([a-z][a-z0-9_]{0,62})(?:\s+(up|down))?$/;

/** Whether a value is beyond the bound of a threshold. */
export const isBeyond = (value: number, operator: Operator, bound: number): boolean => OPERATORS[operator](value, bound);

/**
 * Reads `value > 5`, `value <= 500ms`, `anomaly`, `three_times up`; else returns what is wrong, as a sentence. Any name may be that of a
 * detector of others: which ones exist is not part of the log.
 */
export function parseCondition(text: string): Condition | string {
  const [, operator, written = ''] = THRESHOLD.exec(text) ?? [];
  if (operator !== undefined) {
    const bound = parseNumber(written);
    if (bound === null || !Number.isFinite(bound))
      return `The condition compares with a number such as 5, 1.5KB or 500ms (got ${JSON.stringify(written)}).`;
    return { kind: 'threshold', operator: operator as Operator, bound, written };
  }
  const [, detector, side] = DETECTOR.exec(text) ?? [];
  if (detector === undefined || detector === 'value')
    return `The condition is "value > 5" (>, >=, <, <= or ==) or the name of a detector such as ${valueDetectors.names.join(', ')}, maybe with up or down (got ${JSON.stringify(text.slice(0, 60))}).`;
  const isCustom = valueDetectors.find(detector) === undefined;
  return { kind: 'detector', detector, isCustom, side: side === undefined ? null : (side as Side) };
}

/** The detector of others that a condition names; null for none. */
export const customDetectorOf = (when: Condition): string | null => (when.kind === 'detector' && when.isCustom ? when.detector : null);

/** What is wrong with a condition where these are the detectors of others, as a sentence; null for nothing. */
export function conditionFault(when: Condition, others: readonly string[]): string | null {
  const name = customDetectorOf(when);
  if (name === null || others.includes(name)) return null;
  return `No detector ${JSON.stringify(name)} takes values; those that do: ${[...valueDetectors.names, ...others].join(', ')}.`;
}
