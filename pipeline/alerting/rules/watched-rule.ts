import { RULE } from '../book/alert.ts';
import type { Json } from '../../core/setting.ts';
import type { Finding } from '../../detectors/detector.ts';
import type { RuleOrigin, RuleValues } from '../exchange/rule-values.ts';
import { Aggregate, onlyGrows, takesMore, valueOfNothing, weightOf, type AggregateJson } from '../../processors/rules/aggregate.ts';
import { customDetectorOf } from '../../processors/rules/condition.ts';
import { GroupTraces } from './group-traces.ts';
import { RuleGroup, thresholdFinding, type Seen } from './rule-group.ts';
import { compileRule, signalOf, type CompiledRule, type RuleSignal } from '../../processors/rules/rule.ts';
import type { RulesRow } from '../../processors/rules/rules-partial.ts';
import type { RuleSubject } from './rule-words.ts';
import { MOST_GROUPS } from '../../processors/rules/tenant-counts.ts';
import { NAME } from '../../samples/definition.ts';
import { seriesLabels, type DerivedSample } from '../../samples/derived-samples.ts';
import { Threshold } from './threshold.ts';

const MINUTE_MS = 60_000;
/** A window is over so long after its end, by append time: late entries are waited for. */
const LATE_MS = 60_000;
/** Of windows that have passed unseen, as after an outage, the last ones are looked at. */
const MOST_WINDOWS = 60;
/** A group without entries for so long is forgotten. Minutes, and windows at least. */
const FORGET = 1440;
const FORGET_WINDOWS = 24;
/** What a group takes in addition to its aggregates, with a detector, and with the traces that show its windows: kibibytes. */
const GROUP_KIB = 1;
const TRACES_KIB = 2;
const DETECTOR_KIB = 6;
const KIB = 1024;

type Part = { readonly labels: readonly string[]; readonly aggregate: Aggregate; traces: GroupTraces | null };
/** `bytes`: of the labels of its parts; `sketches`: of their sketches. */
type Window = { readonly parts: Map<string, Part>; bytes: number; sketches: number; passed: number; crowded: number };

/** What was found, and what of: of the subject what the rule knows. */
export type RuleFound = {
  readonly finding: Finding;
  readonly about: Pick<RuleSubject, 'compiled' | 'labels' | 'notice' | 'entries' | 'series' | 'traces'>;
};

/** The result of a rule's windows that are over: what was found, their values for a detector of others, and those that are recorded. */
export type RuleResult = {
  readonly found: readonly RuleFound[];
  readonly values: readonly Omit<RuleValues, 'slot'>[];
  /** What is recorded as series. */
  readonly recorded: readonly DerivedSample[];
};

/** What came of a group in a window. */
type Came = Pick<RulesRow & { readonly kind: 'group' }, 'window' | 'labels' | 'aggregate' | 'traces'>;

/** Whether the tenant may have more groups and alerts. */
export type MayTake = () => boolean;

/** `appendedAt`: as time is on `partials.v1`, milliseconds. */
type Looking = { readonly mayTake: MayTake; readonly appendedAt: number };

const keyOf = (labels: readonly string[]): string => labels.join('\0');
/** As they are written down, in which some characters take six bytes. */
const bytesOf = (labels: readonly string[]): number => Buffer.byteLength(JSON.stringify(labels));
const newWindow = (): Window => ({ parts: new Map<string, Part>(), bytes: 0, sketches: 0, passed: 0, crowded: 0 });
const always: MayTake = () => true;

/** A rule of a tenant over all partitions: its windows that are not over, and its groups. */
export class WatchedRule {
  readonly version: number;
  readonly value: Json;
  /** Null: there is none any more. */
  readonly compiled: CompiledRule | null;
  readonly #windows = new Map<number, Window>();
  #groups = new Map<string, RuleGroup>();
  /** Of the labels of its groups. */
  #bytes = 0;
  #notices = { budget: new Threshold(), groups: new Threshold() };
  /** The version since which its values are the same, and are watched in the same way. */
  #began: number;
  /** The first window, by its start, that is not over; those that begin before all partitions have the rule are none. */
  #next = 0;

  constructor(version: number, value: Json) {
    const compiled = compileRule(value);
    [this.version, this.value, this.#began] = [version, value, version];
    this.compiled = typeof compiled === 'string' ? null : compiled;
  }

  /** Over what it is evaluated. */
  get signal(): RuleSignal {
    return this.compiled === null ? 'logs' : signalOf(this.compiled.rule);
  }

  /** What its groups and windows take, about: kibibytes. */
  get weight(): number {
    if (this.compiled === null) return 0;
    let [bytes, sketches] = [this.#bytes, 0];
    for (const window of this.#windows.values()) {
      bytes += window.bytes;
      sketches += window.sketches;
    }
    // the size of groups includes usual values already
    const beyond = Math.max(0, sketches - this.#groups.size * KIB * windowsKib(this.compiled));
    return this.#groups.size * kibOf(this.compiled) + Math.floor((bytes + beyond) / KIB);
  }

  /** A partition evaluates it since then: append time, milliseconds. */
  since(at: number): void {
    const minutes = this.compiled?.minutes ?? 1;
    this.#skipTo(Math.ceil(at / (minutes * MINUTE_MS)) * minutes);
  }

  /** Goes on with what another version knew, where the values are the same and are watched in the same way. */
  follow(other: WatchedRule): boolean {
    const [one, before] = [this.compiled?.rule, other.compiled?.rule];
    if (one === undefined || before === undefined) return false;
    const isSame = (['id', 'signal', 'query', 'every', 'if', 'sensitivity'] as const).every((member) => one[member] === before[member]);
    if (isSame) [this.#groups, this.#bytes, this.#notices, this.#began] = [other.#groups, other.#bytes, other.#notices, other.#began];
    return isSame;
  }

  /** Adds what a partition has evaluated of a group in a window. */
  add({ window: start, labels, aggregate: json, traces }: Came, mayTake: MayTake = always): void {
    const window = this.#windowAt(start);
    if (window === null || this.compiled === null) return;
    const key = keyOf(labels);
    const part = window.parts.get(key);
    const mayGrow = this.compiled.by.length === 0 || (part !== undefined && !takesMore(this.compiled.measure)) || mayTake();
    if (part !== undefined && mayGrow) {
      window.sketches -= part.aggregate.bytes;
      part.aggregate.merge(json);
      window.sketches += part.aggregate.bytes;
    } else if (part !== undefined) {
      // without its value the window has no finding
      window.passed += json[0];
    } else if (window.parts.size < 2 * MOST_GROUPS && mayGrow) {
      const aggregate = Aggregate.from(this.compiled.measure, json);
      window.parts.set(key, { labels, aggregate, traces: null });
      window.bytes += bytesOf(labels);
      window.sketches += aggregate.bytes;
    } else window.crowded += json[0];
    const shown = traces === undefined ? undefined : window.parts.get(key);
    if (shown !== undefined && traces !== undefined) (shown.traces ??= new GroupTraces()).add(traces);
  }

  /** Entries of a window were not evaluated, or belong to no group. */
  miss(start: number, passed: number, crowded: number): void {
    const window = this.#windowAt(start);
    if (window === null) return;
    window.passed += passed;
    window.crowded += crowded;
  }

  /** The result of the windows, as everything is evaluated up to an append time (milliseconds). */
  look(through: number, looking: Looking): RuleResult {
    const { compiled } = this;
    const [found, values, recorded]: [RuleFound[], Omit<RuleValues, 'slot'>[], DerivedSample[]] = [[], [], []];
    if (compiled === null || this.#next === 0) return { found, values, recorded };
    const { minutes } = compiled;
    const last = Math.floor((through - LATE_MS) / MINUTE_MS / minutes) * minutes - minutes;
    this.#skipTo(last - (MOST_WINDOWS - 1) * minutes);
    for (; this.#next <= last; this.#next += minutes) {
      const closed = this.#close(compiled, this.#next, looking);
      found.push(...closed.found);
      values.push(...closed.values);
      recorded.push(...closed.recorded);
    }
    return { found: [...found, ...this.#rises(compiled, looking.mayTake)], values, recorded };
  }

  /** What a detector of others has found of a group; null where that is of no group of the rule, or known. `appendedAt`: milliseconds. */
  hear(
    { began, group: name }: Pick<RuleOrigin, 'began'> & { readonly group: string },
    finding: Finding,
    appendedAt: number,
  ): RuleFound | null {
    const { compiled } = this;
    if (compiled === null || began !== this.#began || finding.detector !== customDetectorOf(compiled.when)) return null;
    const group = [...this.#groups.values()].find((one) => one.name === name);
    const received = group?.hear(compiled, finding, appendedAt) ?? null;
    if (group === undefined || received === null) return null;
    return foundOf(compiled, group, { ...finding, detector: RULE }, received.entries, received.series);
  }

  /** Forgets groups that have had no entry for a day, and gives their labels. */
  forget(): readonly (readonly string[])[] {
    const { compiled } = this;
    if (compiled === null || compiled.by.length === 0) return [];
    const before = this.#next - Math.max(FORGET, FORGET_WINDOWS * compiled.minutes);
    const forgotten = [...this.#groups].filter(([, group]) => group.seenAt < before);
    for (const [key, { labels }] of forgotten) {
      this.#groups.delete(key);
      this.#bytes -= bytesOf(labels);
    }
    return forgotten.map(([, { labels }]) => labels);
  }

  toJSON(): unknown {
    const windows = [...this.#windows].map(([start, { parts, passed, crowded }]) => [start, passed, crowded, [...parts.values()].map(({ labels, aggregate, traces }) => [labels, aggregate, ...(traces === null ? [] : [traces])])]); // prettier-ignore
    return [
      this.version,
      this.value,
      this.#next,
      windows,
      [...this.#groups.values()],
      [this.#notices.budget, this.#notices.groups],
      this.#began,
    ];
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from(json: unknown): WatchedRule {
    const [version, value, next, windows, groups, notices, began = version] = json as [number, Json, number, [number, number, number, [string[], AggregateJson, unknown?][]][], unknown[], [unknown, unknown], number?]; // prettier-ignore
    const read = new WatchedRule(version, value);
    read.#began = began;
    read.#next = next;
    read.#notices = { budget: Threshold.from(notices[0]), groups: Threshold.from(notices[1]) };
    for (const [start, passed, crowded, parts] of windows) {
      read.miss(start, passed, crowded);
      for (const [labels, aggregate, traces] of parts) {
        read.add({ window: start, labels, aggregate });
        const part = read.#windows.get(start)?.parts.get(keyOf(labels));
        if (part !== undefined) part.traces = GroupTraces.from(traces);
      }
    }
    for (const one of groups)
      if (read.compiled !== null) {
        const group = RuleGroup.from(read.compiled, one);
        read.#groups.set(keyOf(group.labels), group);
        read.#bytes += bytesOf(group.labels);
      }
    return read;
  }

  /** Null where it is over. */
  #windowAt(start: number): Window | null {
    if (start < this.#next) return null;
    let window = this.#windows.get(start);
    if (window === undefined) this.#windows.set(start, (window = newWindow()));
    return window;
  }

  #skipTo(start: number): void {
    if (start <= this.#next) return;
    this.#next = start;
    for (const known of this.#windows.keys()) if (known < start) this.#windows.delete(known);
  }

  #close(compiled: CompiledRule, start: number, { mayTake, appendedAt }: Looking): RuleResult {
    const window = this.#windows.get(start) ?? newWindow();
    this.#windows.delete(start);
    if (compiled.by.length === 0) this.#groupAt(compiled, [], start, always);
    for (const { labels, aggregate } of window.parts.values())
      if (this.#groupAt(compiled, labels, start, mayTake) === null) window.crowded += aggregate.entries;
    const found = this.#noticed(compiled, start, window);
    for (const [key, group] of this.#groups) {
      group.traces = window.parts.get(key)?.traces ?? null;
      if (window.passed > 0) group.pass(start);
      else {
        const seen = seenOf(compiled, start, window.parts.get(key)?.aggregate);
        const finding = group.close(compiled, seen, appendedAt);
        if (finding !== null) found.push(foundOf(compiled, group, finding, seen.entries, group.recent));
      }
    }
    if (window.passed > 0) return { found, values: [], recorded: [] };
    return { found, values: this.#valuesOf(compiled, start), recorded: this.#recordedOf(compiled, start) };
  }

  /** The values of the window that is over, for a detector of others. */
  #valuesOf({ when, minutes }: CompiledRule, window: number): Omit<RuleValues, 'slot'>[] {
    const detector = customDetectorOf(when);
    if (detector === null || when.kind !== 'detector' || this.#groups.size === 0) return [];
    const groups = [...this.#groups.values()].map((group) => group.lastValue()).filter((row) => row !== null);
    return [{ began: this.#began, detector, side: when.side, step: minutes, window, groups }];
  }

  /** The values of the window that is over as samples at its end; a group without a value has none. */
  #recordedOf({ rule, by, minutes }: CompiledRule, start: number): DerivedSample[] {
    const { record } = rule;
    if (record === undefined) return [];
    const time = (start + minutes) * MINUTE_MS;
    return [...this.#groups.values()].flatMap(({ labels, recent }) => {
      const value = recent.at(-1) ?? null;
      const named = by.map((field, index) => [labelOf(field), labels[index] ?? ''] as const);
      return value === null ? [] : [{ labels: seriesLabels([...named, [NAME, record]]), time, value }];
    });
  }

  /** The findings of windows that are not over. */
  #rises(compiled: CompiledRule, mayTake: MayTake): RuleFound[] {
    const { when, rule, measure } = compiled;
    if (when.kind !== 'threshold' || !when.operator.startsWith('>') || rule.for > 1 || !onlyGrows(measure)) return [];
    const found: RuleFound[] = [];
    for (const [start, { parts, passed }] of this.#windows)
      for (const { labels, aggregate, traces } of passed > 0 ? [] : parts.values()) {
        const group = this.#groupAt(compiled, labels, start, compiled.by.length === 0 ? always : mayTake);
        const seen = seenOf(compiled, start, aggregate);
        const finding = group?.rise(compiled, seen) ?? null;
        if (group === null || finding === null) continue;
        group.traces = traces;
        found.push(foundOf(compiled, group, finding, seen.entries, [...group.recent, seen.value]));
      }
    return found;
  }

  #noticed(compiled: CompiledRule, start: number, { passed, crowded }: Window): RuleFound[] {
    const { minutes } = compiled;
    return ([['budget', passed], ['groups', crowded]] as const).flatMap(([notice, value]) => {
      const published = this.#notices[notice].close(start + minutes - 1, value > 0, { minutes, windows: 1 });
      if (published === null) return [];
      const finding = thresholdFinding(published, { start, value, entries: value }, minutes, 0, 'up');
      return [{ finding, about: { compiled, labels: [], notice, entries: value, series: [value], traces: null } }];
    }); // prettier-ignore
  }

  /** A group that is known, or begins here; null where it is one too many. */
  #groupAt(compiled: CompiledRule, labels: readonly string[], start: number, mayTake: MayTake): RuleGroup | null {
    const key = keyOf(labels);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    if (this.#groups.size >= MOST_GROUPS || !mayTake()) return null;
    const group = new RuleGroup(compiled, labels, start);
    this.#groups.set(key, group);
    this.#bytes += bytesOf(labels);
    return group;
  }
}

/** A field as the name of a label. */
const labelOf = (field: string): string => field.replaceAll(/[^a-zA-Z0-9_]/g, '_').replace(/^(?=\d|$)/, '_');

/** What a group takes of two windows. */
const windowsKib = ({ measure }: CompiledRule): number => 2 * weightOf(measure);
const kibOf = (compiled: CompiledRule): number =>
  GROUP_KIB + windowsKib(compiled) + detectorKib(compiled) + (signalOf(compiled.rule) === 'spans' ? TRACES_KIB : 0);
const detectorKib = ({ when }: CompiledRule): number => (when.kind !== 'detector' ? 0 : when.isCustom ? GROUP_KIB : DETECTOR_KIB);

const seenOf = ({ measure, minutes }: CompiledRule, start: number, aggregate: Aggregate | undefined): Seen => ({
  start,
  value: aggregate === undefined ? valueOfNothing(measure) : aggregate.value(minutes),
  entries: aggregate?.entries ?? 0,
});

const foundOf = (
  compiled: CompiledRule,
  { labels, traces }: RuleGroup,
  finding: Finding,
  entries: number,
  series: readonly (number | null)[],
): RuleFound => ({ finding, about: { compiled, labels, notice: null, entries, series, traces } });
