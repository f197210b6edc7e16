import type { Alert } from '../../alerts/alert.ts';
import { objectOf } from '../../alerts/shown-alert.ts';
import { AlertBook } from '../alerting/alert-book.ts';
import { partialRows } from '../base/json.ts';
import type { StreamFinding } from '../merge/finding.ts';
import type { Joined } from '../merge/incidents.ts';
import type { PartialInput } from '../base/partial.ts';
import { readSeriesId, type RuleValues } from '../merge/rule-values.ts';
import { placeOf, ruleWords, type RuleSubject } from './rule-words.ts';
import type { RulesRow } from './rules-partial.ts';
import { WatchedRule, type MayTake, type RuleFound } from './watched-rule.ts';

/** A tenant of which nothing comes: what is behind by so long is over. Milliseconds, by append time of the partials' own topic. */
const ALONE_MS = 120_000;
const CHANGED = 'auto: the rule was changed';
const DELETED = 'auto: the rule was deleted';
const NO_ENTRIES = 'auto: no entries for a day';

/** Alerts to publish, and values for detectors of others. */
export type RulesResult = { readonly alerts: readonly Alert[]; readonly values: readonly RuleValues[] };

/** How rules are looked at: up to when all is evaluated, the time (append times, milliseconds), and whether more groups and alerts fit. */
type Look = { readonly through: number; readonly now: number; readonly appendedAt: number; readonly mayTake: MayTake };

/** The rules of a tenant, watched over all partitions of the log. */
export class RuleWatch {
  retentionDays = 0;
  /** Up to when each partition of the log is evaluated, append time in milliseconds. */
  readonly #sources = new Map<number, number>();
  readonly #rules = new Map<number, WatchedRule>();
  #book = new AlertBook<RuleSubject>(ruleWords);

  /** True where no partition has entries of the tenant: then time passes with the partials of others. */
  get isAlone(): boolean {
    return this.#sources.size === 0;
  }

  /** What its groups and alerts take, about: kibibytes. */
  get weight(): number {
    let weight = Math.floor(this.#book.bytes / 1024);
    for (const rule of this.#rules.values()) weight += rule.weight;
    return weight;
  }

  /** Takes what a partition has reported; gives what was found. `budget`: kibibytes for more groups and alerts. */
  take(input: PartialInput, budget: number): RulesResult {
    const { tenantId, source, appendedAt } = input;
    this.retentionDays = input.retentionDays;
    const now = Math.floor(source.appendedAt / 1000);
    const ended: Alert[] = [];
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
    if (!isEnd || this.isAlone) return { alerts: ended, values: [] };
    const { alerts, values } = this.#look(tenantId, {
      through: Math.min(...this.#sources.values()),
      now: source.appendedAt,
      appendedAt,
      mayTake,
    });
    return { alerts: [...ended, ...alerts], values };
  }

  /** Time has passed, of a tenant that is alone: append time, milliseconds. */
  pass(tenantId: number, appendedAt: number, budget: number): RulesResult {
    return this.#look(tenantId, { through: appendedAt - ALONE_MS, now: appendedAt, appendedAt, mayTake: this.#within(budget) });
  }

  /** Takes what a detector of others has found and returns its alert; null where that changes nothing. `appendedAt`: milliseconds. */
  hear(tenantId: number, { id, finding, about }: StreamFinding, appendedAt: number, budget: number): Alert | null {
    const series = readSeriesId(id);
    const found = series && this.#rules.get(series.slot)?.hear(series, finding, appendedAt);
    return found ? this.#publish(tenantId, found, Math.floor(appendedAt / 1000), this.#within(budget), about) : null;
  }

  /** Takes which incident an alert of any merger has joined. `appendedAt`: milliseconds. */
  join(joined: Joined, appendedAt: number): void {
    this.#book.join(joined, Math.floor(appendedAt / 1000));
  }

  /** What is to be announced to other mergers of alerts that are published. */
  announcements(alerts: readonly Alert[]): Joined[] {
    return this.#book.announcements(alerts);
  }

  /** Resolves an alert by hand and returns it; null where that changes nothing. */
  resolve(shown: Alert, note: string, appendedAt: number): Alert | null {
    const resolved = this.#book.resolve(shown, note, Math.floor(appendedAt / 1000));
    if (resolved === null) return null;
    if (resolved.wasFiring) {
      const { id, labels, notice } = aboutOf(resolved.alert);
      for (const rule of this.#rules.values()) if (rule.compiled?.rule.id === id) rule.mute(labels(rule.compiled.by), notice);
    }
    return resolved.alert;
  }

  toJSON(): unknown {
    return [this.retentionDays, [...this.#sources], [...this.#rules], this.#book];
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from(json: unknown): RuleWatch {
    const [retentionDays, sources, rules, book] = json as [number, [number, number][], [number, unknown][], unknown];
    const read = new RuleWatch();
    read.retentionDays = retentionDays;
    for (const [partition, through] of sources) read.#sources.set(partition, through);
    for (const [slot, rule] of rules) read.#rules.set(slot, WatchedRule.from(rule));
    read.#book = AlertBook.from(book, ruleWords);
    return read;
  }

  /** A rule as a partition has it; gives the alerts that end with the one before. */
  #set({ slot, version, since, value }: RulesRow & { readonly kind: 'rule' }, now: number): Alert[] {
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
    return this.#book.end((alert) => aboutOf(alert).id === before, now, rule.compiled?.rule.id === before ? CHANGED : DELETED);
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

  #publish(tenantId: number, { finding, about }: RuleFound, now: number, mayTake: MayTake, description?: string): Alert | null {
    const place = placeOf(about.compiled, about.labels);
    // a rule's own alerts are few
    const isNews = about.notice === null && about.labels.length > 0 ? mayTake : (): boolean => true;
    const subject: RuleSubject = { ...about, ...place, tenantId, retentionDays: this.retentionDays, recent: [], isNews };
    return this.#book.take(finding, description === undefined ? subject : { ...subject, about: description }, now);
  }

  #look(tenantId: number, { through, now: ms, ...looking }: Look): RulesResult {
    const now = Math.floor(ms / 1000);
    // of an alert the last word counts
    const alerts = new Map<number, Alert>();
    const reported: RuleValues[] = [];
    for (const [slot, rule] of this.#rules) {
      const { found, values } = rule.look(through, looking);
      reported.push(...values.map((one) => ({ slot, ...one })));
      for (const one of found) {
        const alert = this.#publish(tenantId, one, now, looking.mayTake);
        if (alert !== null) alerts.set(alert.id, alert);
      }
      for (const labels of rule.forget()) {
        const id = rule.compiled?.rule.id;
        const { stream } = rule.compiled === null ? { stream: '' } : placeOf(rule.compiled, labels);
        for (const alert of this.#book.end((one) => one.stream === stream && aboutOf(one).id === id, now, NO_ENTRIES))
          alerts.set(alert.id, alert);
      }
    }
    return { alerts: [...alerts.values()], values: reported };
  }
}

/** Which rule an alert is of, and which group, by its evidence. */
function aboutOf({ evidence }: Alert): {
  readonly id: string;
  readonly notice: RuleSubject['notice'];
  labels(by: readonly string[]): string[];
} {
  const {
    rule,
    group = {},
    notice = null,
  } = objectOf(evidence) as {
    readonly rule?: { readonly id?: string };
    readonly group?: Readonly<Record<string, string>>;
    readonly notice?: RuleSubject['notice'];
  };
  return { id: rule?.id ?? '', notice, labels: (by) => (notice === null ? by.map((field) => group[field] ?? '') : []) };
}
