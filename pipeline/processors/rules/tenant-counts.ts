import type { Json } from '../../core/setting.ts';
import type { Measure } from '../../../logsql/base/types.ts';
import { Aggregate, weightOf, type AggregateJson } from './aggregate.ts';
import type { Predicate, RecordRows, ShownTraces } from './record-rows.ts';
import type { CompiledRule } from './rule.ts';
import type { RulesRow } from './rules-partial.ts';

/** Groups of a rule, and the characters of a group's values. */
export const MOST_GROUPS = 100;
const MOST_KEY = 1024;
/** Work for a tenant's rules between two tellings, each of which has an equal part, of four at least: of ten seconds one (RecordRows.work). */
export const BUDGET = 1e9;
const LEAST_PARTS = 4;
/** What is counted of a row in addition to what is read of it, and of one that matches. */
const ROW = 100;
const TAKE = 150;
/** Entries of windows that ended this long ago do not count. Minutes. */
const OLDEST = 10;
const KIB = 1024;
/** What a byte takes by which a sketch has grown, until it was reported and merged. */
const GROWN = 60;

/** A rule at work in a partition: a version of it, and since when (append time, milliseconds); `value` as it was set. */
export type ActiveRule = {
  readonly slot: number;
  readonly version: number;
  readonly since: number;
  readonly value: Json;
  readonly compiled: CompiledRule | null;
};

type Group = { readonly labels: readonly string[]; readonly aggregate: Aggregate; traces?: ShownTraces | undefined };
type Window = { readonly groups: Map<string, Group>; passed: number; crowded: number };

/** What was counted of a rule since its last report. */
class RuleCounts {
  readonly version: number;
  readonly measure: Measure;
  readonly windows = new Map<number, Window>();
  readonly groups = new Set<string>();
  work = 0;

  constructor(version: number, measure: Measure) {
    this.version = version;
    this.measure = measure;
  }

  windowAt(start: number): Window {
    let window = this.windows.get(start);
    if (window === undefined) this.windows.set(start, (window = { groups: new Map<string, Group>(), passed: 0, crowded: 0 }));
    return window;
  }

  /** A group of a window; null where it is one too many. */
  groupAt(window: Window, key: string, labels: readonly string[]): { readonly group: Group; readonly isNew: boolean } | null {
    const known = window.groups.get(key);
    if (known !== undefined) return { group: known, isNew: false };
    if (key.length > MOST_KEY || (!this.groups.has(key) && this.groups.size >= MOST_GROUPS)) return null;
    this.groups.add(key);
    const group: Group = { labels, aggregate: new Aggregate(this.measure) };
    window.groups.set(key, group);
    return { group, isNew: true };
  }

  toJSON(): unknown {
    const windows = [...this.windows].map(([start, { groups, passed, crowded }]) => [
      start,
      passed,
      crowded,
      [...groups.values()].map(({ labels, aggregate, traces }) => [labels, aggregate, ...(traces === undefined ? [] : [traces])]),
    ]);
    return [this.version, this.measure, this.work, [...this.groups], windows];
  }

  static from(json: unknown): RuleCounts {
    const [version, measure, work, groups, windows] = json as [
      number,
      Measure,
      number,
      string[],
      [number, number, number, [string[], AggregateJson, ShownTraces?][]][],
    ];
    const read = new RuleCounts(version, measure);
    read.work = work;
    for (const key of groups) read.groups.add(key);
    for (const [start, passed, crowded, all] of windows) {
      const window = read.windowAt(start);
      [window.passed, window.crowded] = [passed, crowded];
      for (const [labels, aggregate, traces] of all)
        window.groups.set(keyOf(labels), { labels, aggregate: Aggregate.from(measure, aggregate), traces });
    }
    return read;
  }
}

/** A rule over a record: the results of its filters for the rows. */
type Running = {
  readonly counts: RuleCounts;
  readonly compiled: CompiledRule;
  readonly filter: Predicate;
  readonly condition: Predicate;
};

const keyOf = (labels: readonly string[]): string => (labels.length === 1 ? (labels[0] as string) : labels.join('\0'));
const holds = (predicate: Predicate, row: number): boolean => (typeof predicate === 'boolean' ? predicate : predicate(row));

/** What a partition has evaluated of a tenant's rules since its last report. */
export class TenantCounts {
  retentionDays = 0;
  /** When entries came last, and when it was reported last, by append time, milliseconds. */
  seenAt = 0;
  publishedAt = 0;
  /** What is counted, in kibibytes, about. */
  weight = 0;
  readonly #rules = new Map<number, RuleCounts>();
  /** The version of each rule, and the hour since 1970, that were reported last. */
  readonly #publishedRules = new Map<number, readonly [number, number]>();

  get hasNews(): boolean {
    return this.#rules.size > 0;
  }

  /** Evaluates rules over a record that was read; `minute`: when it was appended, since 1970. */
  count(rows: RecordRows, rules: Iterable<ActiveRule>, minute: number): void {
    const running: Running[] = [];
    let parts = 0;
    for (const { slot, version, compiled } of rules) {
      if (compiled === null) continue;
      parts += 1;
      const filter = rows.predicate(compiled.filter);
      if (filter === false) continue;
      const condition = compiled.condition === null || rows.predicate(compiled.condition);
      running.push({ counts: this.#countsOf(slot, version, compiled.measure), compiled, filter, condition });
    }
    if (running.length === 0) return;
    const budget = BUDGET / Math.max(LEAST_PARTS, parts);
    const { minutes, count } = rows;
    for (let row = 0; row < count; row++) {
      const at = Math.min(minutes[row] as number, minute);
      for (const one of running) this.#look(rows, row, one, { at, minute, budget });
    }
  }

  /** Returns and clears all that was counted; with the rules that were not reported in this hour. */
  publish(rules: readonly ActiveRule[], appendedAt: number, hour: number): RulesRow[] {
    const reported: RulesRow[] = [];
    for (const { slot, version, since, value } of rules) {
      const [known, knownHour] = this.#publishedRules.get(slot) ?? [];
      if (known === version && knownHour === hour) continue;
      reported.push({ kind: 'rule', slot, version, since, value });
      this.#publishedRules.set(slot, [version, hour]);
    }
    for (const [slot, { version, windows }] of this.#rules)
      for (const [window, { groups, passed, crowded }] of windows) {
        for (const { labels, aggregate, traces } of groups.values())
          reported.push({
            ...{ kind: 'group', slot, version, window, labels, aggregate: aggregate.toJSON() },
            ...(traces === undefined ? {} : { traces }),
          });
        if (passed + crowded > 0) reported.push({ kind: 'missed', slot, version, window, passed, crowded });
      }
    this.#rules.clear();
    this.weight = 0;
    this.publishedAt = appendedAt;
    return reported;
  }

  toJSON(): unknown {
    const { retentionDays, seenAt, publishedAt, weight } = this;
    return [retentionDays, seenAt, publishedAt, weight, [...this.#publishedRules], [...this.#rules]];
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from(json: unknown): TenantCounts {
    const [retentionDays, seenAt, publishedAt, weight, reported, rules] = json as [number, number, number, number, [number, [number, number]][], [number, unknown][]]; // prettier-ignore
    const read = new TenantCounts();
    Object.assign(read, { retentionDays, seenAt, publishedAt, weight });
    for (const [slot, one] of reported) read.#publishedRules.set(slot, one);
    for (const [slot, counts] of rules) read.#rules.set(slot, RuleCounts.from(counts));
    return read;
  }

  #countsOf(slot: number, version: number, measure: Measure): RuleCounts {
    const known = this.#rules.get(slot);
    if (known?.version === version) return known;
    const counts = new RuleCounts(version, measure);
    this.#rules.set(slot, counts);
    return counts;
  }

  #look(
    rows: RecordRows,
    row: number,
    { counts, compiled, filter, condition }: Running,
    { at, minute, budget }: { readonly at: number; readonly minute: number; readonly budget: number },
  ): void {
    const { minutes, by, fields } = compiled;
    const start = Math.floor(at / minutes) * minutes;
    if (start + minutes + OLDEST <= minute) return;
    if (counts.work >= budget) {
      counts.windowAt(start).passed += 1;
      return;
    }
    const before = rows.work;
    rows.row = row;
    if (holds(filter, row)) {
      rows.work += TAKE;
      const labels = by.map((field) => rows.get(field));
      const window = counts.windowAt(start);
      const found = counts.groupAt(window, keyOf(labels), labels);
      if (found === null) window.crowded += 1;
      else {
        const { group } = found;
        const { aggregate } = group;
        group.traces = rows.show(group.traces);
        if (found.isNew) this.weight += weightOf(compiled.measure);
        aggregate.entries += 1;
        if (holds(condition, row)) {
          rows.row = row;
          const before = aggregate.bytes;
          aggregate.add(fields.map((field) => rows.get(field)));
          const { bytes } = aggregate;
          this.weight += Math.max(0, bytes - Math.max(before, KIB * weightOf(compiled.measure))) / KIB;
          rows.work += GROWN * (bytes - before);
        }
      }
    }
    counts.work += ROW + rows.work - before;
  }
}
