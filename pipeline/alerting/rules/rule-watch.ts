import type { AlertCommand } from '../book/command.ts';
import { Reports } from '../book/reports.ts';
import { partialRows } from '../../processors/base/json.ts';
import type { StreamFinding } from '../exchange/finding.ts';
import type { PartialInput } from '../../processors/base/partial.ts';
import { readSeriesId, type RuleValues } from '../exchange/rule-values.ts';
import { placeOf, ruleWords, type RuleSubject } from './rule-words.ts';
import type { RulesRow } from '../../processors/rules/rules-partial.ts';
import { WatchedRule, type MayTake, type RuleFound } from './watched-rule.ts';

/** A tenant of which nothing comes: what is behind by so long is over. Milliseconds, by append time of the partials' own topic. */
const ALONE_MS = 120_000;
const CHANGED = 'auto: the rule was changed';
const DELETED = 'auto: the rule was deleted';
const NO_ENTRIES = 'auto: no entries for a day';

/** What is to be reported, and values for detectors of others. */
export type RulesResult = { readonly commands: readonly AlertCommand[]; readonly values: readonly RuleValues[] };

/** How rules are looked at: up to when all is evaluated, the time (append times, milliseconds), and whether more groups and alerts fit. */
type Look = { readonly through: number; readonly now: number; readonly appendedAt: number; readonly mayTake: MayTake };

/** The rules of a tenant, watched over all partitions of the log. */
export class RuleWatch {
  retentionDays = 0;
  /** Up to when each partition of the log is evaluated, append time in milliseconds. */
  readonly #sources = new Map<number, number>();
  readonly #rules = new Map<number, WatchedRule>();
  #reports = new Reports<RuleSubject>(ruleWords);

  /** True where no partition has entries of the tenant: then time passes with the partials of others. */
  get isAlone(): boolean {
    return this.#sources.size === 0;
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
    this.retentionDays = input.retentionDays;
    const now = Math.floor(source.appendedAt / 1000);
    const ended: AlertCommand[] = [];
    let isEnd = false;
    const mayTake = this.#within(budget);
    for (const row of partialRows(input) as readonly RulesRow[]) {
      if (row.kind === 'rule') ended.push(...this.#set(row, now));
      else if (row.kind === 'end') {
        isEnd = true;
        if (row.isGone) this.#sources.delete(source.partition);
        else this.#sources.set(source.partition, Math.max(row.through, this.#sources.get(source.partition) ?? 0));
      } else this.#add(row, mayTake);
    }
    if (!isEnd || this.isAlone) return { commands: ended, values: [] };
    const { commands, values } = this.#look(tenantId, {
      through: Math.min(...this.#sources.values()),
      now: source.appendedAt,
      appendedAt,
      mayTake,
    });
    return { commands: [...ended, ...commands], values };
  }

  /** Time has passed, of a tenant that is alone: append time, milliseconds. */
  pass(tenantId: number, appendedAt: number, budget: number): RulesResult {
    return this.#look(tenantId, { through: appendedAt - ALONE_MS, now: appendedAt, appendedAt, mayTake: this.#within(budget) });
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
    return [this.retentionDays, [...this.#sources], [...this.#rules], this.#reports];
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from(json: unknown): RuleWatch {
    const [retentionDays, sources, rules, reports] = json as [number, [number, number][], [number, unknown][], unknown];
    const read = new RuleWatch();
    read.retentionDays = retentionDays;
    for (const [partition, through] of sources) read.#sources.set(partition, through);
    for (const [slot, rule] of rules) read.#rules.set(slot, WatchedRule.from(rule));
    read.#reports = Reports.from(reports, ruleWords);
    return read;
  }

  /** A rule as a partition has it; gives the ends of what fires of the one before. */
  #set({ slot, version, since, value }: RulesRow & { readonly kind: 'rule' }, now: number): AlertCommand[] {
    const known = this.#rules.get(slot);
    if (known !== undefined && known.version > version) return [];
    if (known?.version === version) {
      known.since(since);
      return [];
    }
    const rule = new WatchedRule(version, value);
    rule.since(since);
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
    if (row.kind === 'group') rule.add(row.window, row.labels, row.aggregate, mayTake);
    else rule.miss(row.window, row.passed, row.crowded);
  }

  #report(tenantId: number, { finding, about }: RuleFound, now: number, mayTake: MayTake, description?: string): AlertCommand | null {
    const place = placeOf(about.compiled, about.labels);
    // a rule's own alerts are few
    const isNews = about.notice === null && about.labels.length > 0 ? mayTake : (): boolean => true;
    const subject: RuleSubject = { ...about, ...place, tenantId, retentionDays: this.retentionDays, isNews };
    return this.#reports.take(finding, description === undefined ? subject : { ...subject, about: description }, now);
  }

  #look(tenantId: number, { through, now: ms, ...looking }: Look): RulesResult {
    const now = Math.floor(ms / 1000);
    const commands: AlertCommand[] = [];
    const reported: RuleValues[] = [];
    for (const [slot, rule] of this.#rules) {
      const { found, values } = rule.look(through, looking);
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
    return { commands, values: reported };
  }
}
