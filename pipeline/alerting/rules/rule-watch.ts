import type { AlertCommand } from '../book/command.ts';
import { Reports } from '../book/reports.ts';
import { partialRows } from '../../processors/base/json.ts';
import type { StreamFinding } from '../exchange/finding.ts';
import type { PartialInput } from '../../processors/base/partial.ts';
import { RULE_SIGNALS, type RuleSignal } from '../../processors/rules/rule.ts';
import { SPAN_RULES } from '../../processors/rules/span-rules.ts';
import { readSeriesId, type RuleValues } from '../exchange/rule-values.ts';
import { placeOf, ruleWords, type RuleSubject } from './rule-words.ts';
import type { RulesRow } from '../../processors/rules/rules-partial.ts';
import type { DerivedSample } from '../../samples/derived-samples.ts';
import { WatchedRule, type MayTake, type RuleFound } from './watched-rule.ts';

/** A tenant of which nothing comes: what is behind by so long is over. Milliseconds, by append time of the partials' own topic. */
const ALONE_MS = 120_000;
const CHANGED = 'auto: the rule was changed';
const DELETED = 'auto: the rule was deleted';
const NO_ENTRIES = 'auto: no entries for a day';

/** What is to be reported, values for detectors of others, and what is recorded as series. */
export type RulesResult = {
  readonly commands: readonly AlertCommand[];
  readonly values: readonly RuleValues[];
  readonly recorded: readonly DerivedSample[];
};

/** How rules are looked at: up to when all is evaluated, the time (append times, milliseconds), and whether more groups and alerts fit. */
type Look = { readonly through: number; readonly now: number; readonly appendedAt: number; readonly mayTake: MayTake };

/** The rules of a tenant, watched over all partitions of the log. */
export class RuleWatch {
  retentionDays = 0;
  /** Up to when each partition of each signal's topic is evaluated, append time in milliseconds. */
  readonly #sources: Readonly<Record<RuleSignal, Map<number, number>>> = { logs: new Map(), spans: new Map() };
  readonly #rules = new Map<number, WatchedRule>();
  #reports = new Reports<RuleSubject>(ruleWords);

  /** True where it has rules over what no partition has of the tenant: for these time passes with the partials of others. */
  get isAlone(): boolean {
    for (const { signal, compiled } of this.#rules.values()) if (compiled !== null && this.#sources[signal].size === 0) return true;
    return false;
  }

  /** What its groups and alerts take, about: kibibytes. */
  get weight(): number {
    let weight = Math.floor(this.#reports.bytes / 1024);
    for (const rule of this.#rules.values()) weight += rule.weight;
    return weight;
  }

  /** Takes what a partition has reported; gives what was found. `budget`: kibibytes for more groups and alerts. */
  take(input: PartialInput, budget: number): RulesResult {
    const { tenantId, source, appendedAt } = input;
    const signal: RuleSignal = input.processor === SPAN_RULES ? 'spans' : 'logs';
    const sources = this.#sources[signal];
    this.retentionDays = input.retentionDays;
    const now = Math.floor(source.appendedAt / 1000);
    const ended: AlertCommand[] = [];
    let isEnd = false;
    const mayTake = this.#within(budget);
    for (const row of partialRows(input) as readonly RulesRow[]) {
      if (row.kind === 'rule') ended.push(...this.#set(row, signal, now));
      else if (row.kind === 'end') {
        isEnd = true;
        if (row.isGone) sources.delete(source.partition);
        else sources.set(source.partition, Math.max(row.through, sources.get(source.partition) ?? 0));
      } else this.#add(row, mayTake);
    }
    if (!isEnd || sources.size === 0) return { commands: ended, values: [], recorded: [] };
    const { commands, ...others } = this.#look(tenantId, [signal], {
      through: Math.min(...sources.values()),
      now: source.appendedAt,
      appendedAt,
      mayTake,
    });
    return { commands: [...ended, ...commands], ...others };
  }

  /** Time has passed, of a tenant that is alone: append time, milliseconds. */
  pass(tenantId: number, appendedAt: number, budget: number): RulesResult {
    const alone = RULE_SIGNALS.filter((signal) => this.#sources[signal].size === 0);
    return this.#look(tenantId, alone, { through: appendedAt - ALONE_MS, now: appendedAt, appendedAt, mayTake: this.#within(budget) });
  }

  /** Takes what a detector of others has found and returns what is to be reported; null where that changes nothing. `appendedAt`: milliseconds. */
  hear(tenantId: number, { id, finding, about }: StreamFinding, appendedAt: number, budget: number): AlertCommand | null {
    const series = readSeriesId(id);
    const found = series && this.#rules.get(series.slot)?.hear(series, finding, appendedAt);
    return found ? this.#report(tenantId, found, Math.floor(appendedAt / 1000), this.#within(budget), about) : null;
  }

  /** What a release before kept here, for the book of alerts: once. */
  carried(): readonly AlertCommand[] {
    return this.#reports.carried();
  }

  toJSON(): unknown {
    const { logs, spans } = this.#sources;
    return [this.retentionDays, [...logs], [...this.#rules], this.#reports, ...(spans.size === 0 ? [] : [[...spans]])];
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from(json: unknown): RuleWatch {
    const [retentionDays, logs, rules, reports, spans = []] = json as [number, [number, number][], [number, unknown][], unknown, [number, number][]?]; // prettier-ignore
    const read = new RuleWatch();
    read.retentionDays = retentionDays;
    for (const [partition, through] of logs) read.#sources.logs.set(partition, through);
    for (const [partition, through] of spans) read.#sources.spans.set(partition, through);
    for (const [slot, rule] of rules) read.#rules.set(slot, WatchedRule.from(rule));
    read.#reports = Reports.from(reports, ruleWords);
    return read;
  }

  /** A rule as a partition of a signal has it, which may not be its own; gives the ends of what fires of the one before. */
  #set({ slot, version, since, value }: RulesRow & { readonly kind: 'rule' }, signal: RuleSignal, now: number): AlertCommand[] {
    const known = this.#rules.get(slot);
    if (known !== undefined && known.version > version) return [];
    if (known?.version === version) {
      if (known.signal === signal) known.since(since);
      return [];
    }
    const rule = new WatchedRule(version, value);
    if (rule.signal === signal) rule.since(since);
    this.#rules.set(slot, rule);
    const before = known?.compiled?.rule.id;
    if (known === undefined || before === undefined || rule.follow(known)) return [];
    return this.#reports.end((one) => one.about === before, now, rule.compiled?.rule.id === before ? CHANGED : DELETED);
  }

  /** Whether it has grown by less than `budget` kibibytes since. */
  #within(budget: number): MayTake {
    const most = this.weight + budget;
    return () => this.weight < most;
  }

  #add(row: Exclude<RulesRow, { readonly kind: 'rule' | 'end' }>, mayTake: MayTake): void {
    const rule = this.#rules.get(row.slot);
    if (rule?.version !== row.version) return;
    if (row.kind === 'group') rule.add(row, mayTake);
    else rule.miss(row.window, row.passed, row.crowded);
  }

  #report(tenantId: number, { finding, about }: RuleFound, now: number, mayTake: MayTake, description?: string): AlertCommand | null {
    const place = placeOf(about.compiled, about.labels);
    // a rule's own alerts are few
    const isNews = about.notice === null && about.labels.length > 0 ? mayTake : (): boolean => true;
    const subject: RuleSubject = { ...about, ...place, tenantId, retentionDays: this.retentionDays, isNews };
    return this.#reports.take(finding, description === undefined ? subject : { ...subject, about: description }, now);
  }

  #look(tenantId: number, signals: readonly RuleSignal[], { through, now: ms, ...looking }: Look): RulesResult {
    const now = Math.floor(ms / 1000);
    const commands: AlertCommand[] = [];
    const reported: RuleValues[] = [];
    const samples: DerivedSample[] = [];
    for (const [slot, rule] of this.#rules) {
      if (!signals.includes(rule.signal)) continue;
      const { found, values, recorded } = rule.look(through, looking);
      samples.push(...recorded);
      reported.push(...values.map((one) => ({ slot, ...one })));
      for (const one of found) {
        const command = this.#report(tenantId, one, now, looking.mayTake);
        if (command !== null) commands.push(command);
      }
      for (const labels of rule.forget()) {
        const id = rule.compiled?.rule.id;
        const { stream } = rule.compiled === null ? { stream: '' } : placeOf(rule.compiled, labels);
        commands.push(...this.#reports.end((one) => one.stream === stream && one.about === id, now, NO_ENTRIES));
      }
    }
    return { commands, values: reported, recorded: samples };
  }
}
