import type { Json } from '../../core/setting.ts';
import type { AggregateJson } from './aggregate.ts';
import type { ShownTraces } from './record-rows.ts';

/** What `rules` reports of a tenant, in this order of a partition; `slot` is the place of a rule, whose `version` only grows. */
export type RulesRow =
  /** A rule, null once removed, and since when the partition evaluates it: append time, milliseconds. Sent when it changes, and hourly. */
  | { readonly kind: 'rule'; readonly slot: number; readonly version: number; readonly since: number; readonly value: Json }
  /** What came of a group in a window, which begins with a minute since 1970: an increment. */
  | {
      readonly kind: 'group';
      readonly slot: number;
      readonly version: number;
      readonly window: number;
      readonly labels: readonly string[];
      readonly aggregate: AggregateJson;
      /** Of spans. */
      readonly traces?: ShownTraces;
    }
  /** Entries of a window that were not evaluated, since the rule is over its budget, and those of groups that are one too many. */
  | {
      readonly kind: 'missed';
      readonly slot: number;
      readonly version: number;
      readonly window: number;
      readonly passed: number;
      readonly crowded: number;
    }
  /** The end of a report: up to when the partition is evaluated, append time in milliseconds; `isGone`: no report follows. */
  | { readonly kind: 'end'; readonly through: number; readonly isGone: boolean };
