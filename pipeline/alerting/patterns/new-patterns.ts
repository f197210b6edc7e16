import { idOf, NEW_PATTERN, type Alert } from '../book/alert.ts';
import type { AlertCommand, Back, Fires } from '../book/command.ts';
import { timeText } from '../book/shown-alert.ts';
import { MASK_VERSION } from '../../clusterer/masker.ts';
import { serviceOf } from '../../core/labels.ts';
import { serviceKey } from '../book/alert-book.ts';
import { alertBytes, SizedMap } from '../book/sized-map.ts';
import type { Sensitivity } from '../../detectors/detector.ts';
import { readJson } from '../../core/read-json.ts';

const HOUR = 3600;
/** For so long after its first pattern a tenant, or a service, has no new ones: all of it is new then. Seconds. */
const LEARNED = 24 * HOUR;
/** An entry that is older when it comes makes no pattern new: a backfill. Seconds. */
const MOST_OLD = HOUR;
/** Alerts of a service in an hour that are published one by one; the others are one. */
const MOST_ALONE: Readonly<Record<Exclude<Sensitivity, 'off'>, number>> = { low: 2, normal: 5, high: 10 };
/** How long an alert fires. Seconds. */
const FIRES = HOUR;
/** Severities that are errors: error and fatal. */
const FIRST_ERROR = 5;
/** Services that are remembered; what comes of others makes no pattern new. */
const MOST_SERVICES = 1000;
/** Characters of a string in an alert; templates that an alert of several names, and characters of each. */
const MOST_TEXT = 500;
const MOST_NAMED = 20;
const MOST_NAMED_TEXT = 100;
/** Alerts that fire of a tenant. */
const MOST_FIRING = 500;
const KNOWN = 'auto: the pattern is known by now';
const AROUND = 900;

/** A template that was never seen before. */
export type NewPattern = {
  readonly fingerprint: string;
  readonly template: string;
  readonly example: string;
  readonly severity: number;
  /** The label set of the example's stream. */
  readonly stream: string;
  /** The earliest time of an entry, milliseconds since 1970. */
  readonly first: number;
};
/** How many alerts of a service are published one by one, and how many bytes all alerts may take. */
type Limits = { readonly mostAlone: number; readonly most: number };
type Whose = { readonly tenantId: number; readonly retentionDays: number };

type Written = readonly [
  version: number,
  since: number,
  // by their numbers; releases before wrote names
  services: [string | number, number][],
  hours: [string | number, [number, number]][],
  firing: (Firing | Alert)[],
  // true; releases before wrote incidents there, or nothing, and whole alerts as what fires
  isReported?: unknown,
];

/** An alert that fires: what is needed of it where it fires again. */
type Firing = Pick<Alert, 'id' | 'firedAt' | 'updatedAt' | 'fireCount'> & {
  /** The evidence of an alert of several patterns. */
  readonly evidence: string;
  /** What it takes in the book of alerts, about. */
  readonly bytes: number;
};

/** Which error templates of a tenant are reported as new, and the alerts that fire of them. */
export class NewPatterns {
  #version = MASK_VERSION;
  /** When the first pattern came, of the tenant and of its services: append time, seconds; 0 before that. */
  #since = 0;
  #services = new Map<number, number>();
  /** Of each service the last hour with an alert, and how many it had. */
  #hours = new Map<number, [number, number]>();
  readonly #firing = new SizedMap<number, Firing>(({ bytes }) => bytes);
  /** Alerts that a release before kept here. */
  #carried: AlertCommand[] = [];

  /** What its alerts take in the book, about. */
  get bytes(): number {
    return this.#firing.bytes;
  }

  /** When the first of its alerts that fire is over: seconds; Infinity where none fires. */
  get endsAt(): number {
    return [...this.#firing.values()].reduce((least, { updatedAt }) => Math.min(least, updatedAt + FIRES), Infinity);
  }

  /**
   * Takes a pattern that came; `isNew`: of a cluster that was never seen. Returns its command, where alerts take no more than `most` bytes.
   * `now`: append time, seconds.
   */
  take(pattern: NewPattern, isNew: boolean, whose: Whose, now: number, sensitivity: Sensitivity = 'normal', most = Infinity): Fires | null {
    if (this.#version !== MASK_VERSION || this.#since === 0) {
      this.#version = MASK_VERSION;
      this.#since = now;
      this.#services.clear();
    }
    const service = serviceOf(pattern.stream);
    const key = serviceKey(service);
    const since = this.#services.get(key) ?? now;
    if (!this.#services.has(key) && this.#services.size < MOST_SERVICES) this.#services.set(key, now);
    const isLearned = now >= Math.max(this.#since, since) + LEARNED;
    if (!isNew || sensitivity === 'off' || !isLearned || pattern.severity < FIRST_ERROR || pattern.first < (now - MOST_OLD) * 1000)
      return null;
    return this.#fire(pattern, service, whose, now, { mostAlone: MOST_ALONE[sensitivity], most });
  }

  /** What a release before kept here, for the book of alerts: once. */
  carried(): readonly AlertCommand[] {
    const carried = this.#carried;
    this.#carried = [];
    return carried;
  }

  /** What is over by now. */
  end(now: number): Back[] {
    const ended: Back[] = [];
    for (const { id, updatedAt } of this.#firing.values()) {
      if (now < updatedAt + FIRES) continue;
      this.#firing.delete(id);
      ended.push({ kind: 'back', id, at: now, note: KNOWN });
    }
    return ended;
  }

  #fire(pattern: NewPattern, service: string, { tenantId }: Whose, now: number, { mostAlone, most }: Limits): Fires | null {
    const hour = Math.floor(now / HOUR);
    const key = serviceKey(service);
    const [last, before] = this.#hours.get(key) ?? [hour, 0];
    const count = last === hour ? before + 1 : 1;
    this.#hours.delete(key);
    this.#hours.set(key, [hour, count]);
    if (this.#hours.size > MOST_SERVICES) this.#hours.delete(this.#hours.keys().next().value ?? 0);
    const isAlone = count <= mostAlone;
    const id = isAlone ? idOf(tenantId, NEW_PATTERN, pattern.fingerprint, now) : idOf(tenantId, NEW_PATTERN, service, hour);
    const known = this.#firing.get(id);
    if (known === undefined && (this.#firing.size >= MOST_FIRING || this.bytes >= most)) return null;
    const words = isAlone ? aloneWords(pattern, service) : groupWords(pattern, service, { count: count - mostAlone, mostAlone }, known);
    const fireCount = (known?.fireCount ?? 0) + 1;
    const command: Fires = {
      ...{ kind: known === undefined ? 'fired' : 'updated', id, at: now, detector: NEW_PATTERN, service, severity: 'warning', ...words },
      ...{ stream: isAlone ? pattern.stream : streamOf(service), fireCount },
    };
    const evidence = isAlone ? '' : command.evidence;
    this.#firing.set(id, { id, firedAt: known?.firedAt ?? now, updatedAt: now, fireCount, evidence, bytes: alertBytes(command) });
    return command;
  }

  toJSON(): Written {
    return [this.#version, this.#since, [...this.#services], [...this.#hours], [...this.#firing.values()], true];
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from(json: unknown): NewPatterns {
    const read = new NewPatterns();
    const [version, since, services, hours, firing, isReported] = json as Written;
    [read.#version, read.#since] = [version, since];
    read.#services = new Map(services.map(([service, at]) => [numberOf(service), at]));
    read.#hours = new Map(hours.map(([service, hour]) => [numberOf(service), hour]));
    for (const one of firing) {
      read.#firing.set(one.id, 'bytes' in one ? one : { ...firingOf(one), bytes: alertBytes(one) });
      if (isReported !== true && !('bytes' in one))
        read.#carried.push({ kind: 'carried', alert: one, isByHand: false, openedAt: one.firedAt });
    }
    return read;
  }
}

const firingOf = ({ id, firedAt, updatedAt, fireCount, evidence }: Alert): Omit<Firing, 'bytes'> => ({
  id,
  firedAt,
  updatedAt,
  fireCount,
  evidence,
});
const numberOf = (service: string | number): number => (typeof service === 'number' ? service : serviceKey(service));
const streamOf = (service: string): string => (service === '' ? '{}' : `{service=${JSON.stringify(service)}}`);
const short = (text: string, most = MOST_TEXT): string => (text.length > most ? `${text.slice(0, most)}…` : text);

type Words = Pick<Alert, 'title' | 'description' | 'evidence'>;

function aloneWords({ fingerprint, template, example, stream, first }: NewPattern, service: string): Words {
  const at = Math.floor(first / 1000);
  const selector = stream === '{}' ? '' : `${stream} `;
  return {
    title: `New error of ${service === '' ? stream : service}: ${short(template)}`,
    description: `No entry with the template "${short(template)}" was seen before. The first one is: ${short(example)}`,
    evidence: JSON.stringify({
      ...{ fingerprint, normalized_message: template, first_seen: timeText(at), sample_messages: [short(example)] },
      window: { start: timeText(at), end: timeText(at + 60) },
      links: {
        query: `${selector}_fingerprint:${fingerprint}`,
        all: selector || '*',
        start: timeText(at - AROUND),
        end: timeText(at + AROUND),
      },
    }),
  };
}

/** Of those of a service that are too many to be published one by one. */
function groupWords(
  { fingerprint, template, first }: NewPattern,
  service: string,
  { count, mostAlone }: { readonly count: number; readonly mostAlone: number },
  known: Firing | undefined,
): Words {
  const before = known === undefined ? [] : (readJson(known.evidence) as { patterns: unknown[] }).patterns;
  const patterns = [...before, { fingerprint, normalized_message: short(template, MOST_NAMED_TEXT) }].slice(0, MOST_NAMED);
  const at = known?.firedAt ?? Math.floor(first / 1000);
  const who = service === '' ? 'entries without a service' : service;
  const query = streamOf(service) === '{}' ? 'level:error' : `${streamOf(service)} level:error`;
  return {
    title: `${String(count)} more new errors of ${who} in this hour`,
    description: `More than ${String(mostAlone)} error templates of ${who} were seen in this hour for the first time. These are beyond the first ${String(mostAlone)}.`,
    evidence: JSON.stringify({
      patterns,
      window: { start: timeText(at), end: timeText(at + 60) },
      links: { query, all: streamOf(service) === '{}' ? '*' : streamOf(service), start: timeText(at - AROUND), end: timeText(at + HOUR) },
    }),
  };
}
