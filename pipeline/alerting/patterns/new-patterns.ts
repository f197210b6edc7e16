import { idOf, NEW_PATTERN, type Alert } from '../book/alert.ts';
import { timeText } from '../book/shown-alert.ts';
import { MASK_VERSION } from '../../clusterer/masker.ts';
import { serviceOf } from '../../core/labels.ts';
import { Incidents, serviceKey, type Joined, type WrittenIncidents } from '../book/incidents.ts';
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
  firing: Alert[],
  // not in what releases before wrote
  incidents?: WrittenIncidents,
];

/** Which error templates of a tenant are reported as new, and the alerts that fire of them. */
export class NewPatterns {
  #version = MASK_VERSION;
  /** When the first pattern came, of the tenant and of its services: append time, seconds; 0 before that. */
  #since = 0;
  #services = new Map<number, number>();
  /** Of each service the last hour with an alert, and how many it had. */
  #hours = new Map<number, [number, number]>();
  readonly #firing = new SizedMap<number, Alert>(alertBytes);
  #incidents = new Incidents();

  /** What its alerts take where they are written down, about. */
  get bytes(): number {
    return this.#firing.bytes;
  }

  /** When the first of its alerts that fire is over: seconds; Infinity where none fires. */
  get endsAt(): number {
    return [...this.#firing.values()].reduce((least, { updatedAt }) => Math.min(least, updatedAt + FIRES), Infinity);
  }

  /**
   * Takes a pattern that came; `isNew`: of a cluster that was never seen. Returns its alert, where alerts take no more than `most` bytes.
   * `now`: append time, seconds.
   */
  take(pattern: NewPattern, isNew: boolean, whose: Whose, now: number, sensitivity: Sensitivity = 'normal', most = Infinity): Alert | null {
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

  /** Takes which incident an alert of another merger has joined. `now`: append time, seconds. */
  join(joined: Joined, now: number): void {
    this.#incidents.hear(joined, now);
  }

  /** What is to be announced to other mergers of alerts that are published. */
  announcements(alerts: readonly Alert[]): Joined[] {
    return this.#incidents.announcements(alerts);
  }

  /** What is over by now. */
  end(now: number): Alert[] {
    const ended: Alert[] = [];
    for (const alert of this.#firing.values()) {
      if (now < alert.updatedAt + FIRES) continue;
      this.#firing.delete(alert.id);
      ended.push({ ...alert, state: 'resolved', resolvedAt: now, updatedAt: now, note: KNOWN });
    }
    return ended;
  }

  /** The alert after a user has resolved it; null where that changes nothing. */
  resolve(shown: Alert, note: string, now: number): Alert | null {
    const before = this.#firing.get(shown.id) ?? shown;
    this.#firing.delete(shown.id);
    const wasFiring = before.state === 'firing';
    if (!wasFiring && (note === '' || before.note !== '')) return null;
    return { ...before, state: 'resolved', resolvedAt: wasFiring ? now : before.resolvedAt, updatedAt: now, note };
  }

  #fire(pattern: NewPattern, service: string, { tenantId, retentionDays }: Whose, now: number, { mostAlone, most }: Limits): Alert | null {
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
    const alert: Alert = {
      ...{ tenantId, retentionDays, id, detector: NEW_PATTERN, service, severity: 'warning', ...words },
      stream: isAlone ? pattern.stream : streamOf(service),
      ...{ state: 'firing', firedAt: known?.firedAt ?? now, fireCount: (known?.fireCount ?? 0) + 1, updatedAt: now },
      ...{ resolvedAt: null, note: '' },
      incidentId: known === undefined ? this.#incidents.join(tenantId, service, now) : known.incidentId,
    };
    this.#firing.set(id, alert);
    return alert;
  }

  toJSON(): Written {
    return [this.#version, this.#since, [...this.#services], [...this.#hours], [...this.#firing.values()], this.#incidents.toJSON()];
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from(json: unknown): NewPatterns {
    const read = new NewPatterns();
    const [version, since, services, hours, firing, incidents = []] = json as Written;
    [read.#version, read.#since] = [version, since];
    read.#services = new Map(services.map(([service, at]) => [numberOf(service), at]));
    read.#hours = new Map(hours.map(([service, hour]) => [numberOf(service), hour]));
    for (const alert of firing) read.#firing.set(alert.id, alert);
    read.#incidents = Incidents.from(incidents);
    return read;
  }
}

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
  known: Alert | undefined,
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
