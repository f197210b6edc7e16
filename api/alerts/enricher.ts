import type { Logger } from 'pino';
import type { AlertListener } from '../../pipeline/alerting/announcements/alert-feed.ts';
import { PART_ALERT, whyRow, type AlertRow } from '../../pipeline/alerting/book/alert.ts';
import type { Service } from '../../pipeline/core/service.ts';
import type { QueryEngine } from '../query/engine.ts';
import { messagesOf, mostText, sessionsOf, type Messages } from './messages.ts';
import { changesOf, whyText, type FieldShares } from './why.ts';
import { readJson } from '../../pipeline/core/read-json.ts';

export type EnricherOptions = {
  readonly engine: QueryEngine;
  /** Puts rows on this partition of `alerts.v1`; resolves when Kafka has them. */
  readonly write: (partition: number, rows: readonly AlertRow[]) => Promise<void>;
  readonly log: Logger;
  /** Is given the outcome of each alert that fires. */
  readonly onOutcome?: (outcome: Outcome) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** How long one waits that is tried again, milliseconds. */
  readonly againMs?: number;
};

/**
 * `late`: it fired too long ago. `busy`: too many of its tenant wait already. `again`: its queries failed, it is tried once more. `failed`: they
 * did each time. What was busy or failed is looked at in the alert's next window.
 */
export type Outcome = 'done' | 'late' | 'busy' | 'again' | 'failed';

/** In which windows of an alert it is looked again why it has come, when there are more entries than at first. One without an answer is due in each until the last of them. */
const LATER_WINDOWS: readonly number[] = [6, 30];
/** Alerts of a tenant that wait, those that are remembered as unexplained, and those of all that are looked at. A tenant has one of these. */
const MOST_WAITING = 50;
const MOST_UNEXPLAINED = 50;
const AT_ONCE = 2;
/** Older alerts are not enriched. Milliseconds. */
const LATE_MS = 900_000;
/** Timeout of a query, milliseconds. A query starts while fewer than TENANT_AT_ONCE queries of its tenant run. */
const TIMEOUT_MS = 8000;
const TENANT_AT_ONCE = 4;
/** How often an enrichment is tried, since load passes, and how long after a failure, milliseconds. */
const MOST_TRIES = 3;
const AGAIN_MS = 20_000;
/** What is usual: this long, until shortly before the first window of the alert; shorter where more entries are expected in it. Minutes, entries. */
const BASELINE_MINUTES = 60;
const LEAST_BASELINE_MINUTES = 5;
const GAP_MINUTES = 3;
const MOST_BASELINE = 300_000;
/** Fewer usual errors are too few to compare with: errors are compared with all entries then. */
const LEAST_ERRORS = 30;
/** Values of each field that are compared. */
const VALUES = 100;
/** Messages that are looked at, the newest. */
const MESSAGES = 500;
const VALUE_LENGTH = 128;

/** Fields that explain nothing: where an entry lies, and when it came. */
const NEVER = ['_stream', '_stream_id', '_time'];

type Window = { readonly start: number; readonly end: number };
/** What is looked for: the entries that an alert is about, and where. Milliseconds since 1970. */
type Wanted = { readonly row: AlertRow; readonly query: string; readonly all: string; readonly window: Window; readonly baseline: Window };
type Waiting = { readonly row: AlertRow; readonly partition: number; readonly tries: number; readonly done: (error?: Error) => void };

/**
 * Finds out why an alert has fired, outside the fold that found it: the fields that differ most between its window and the baseline, and
 * messages of the window. It writes a row of its own that adds to the alert's evidence, and writes the same row when it runs again.
 */
export class Enricher implements AlertListener, Service {
  readonly name = 'alert enricher';
  readonly #options: EnricherOptions;
  readonly #now: () => number;
  readonly #stop = new AbortController();
  /** By tenant, the least recently served tenant first. */
  readonly #waiting = new Map<number, Waiting[]>();
  readonly #busy = new Set<number>();
  /** By tenant, the ids of alerts that fire without an answer: what kept it away, as load does, passes. */
  readonly #unexplained = new Map<number, Set<number>>();
  /** Of those that are tried again later. */
  readonly #timers = new Set<NodeJS.Timeout>();
  #requests = 0;

  constructor(options: EnricherOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  /** Alerts that were not enriched are delivered again, to the next owner of the partition. */
  stop(): Promise<void> {
    this.#stop.abort();
    this.#waiting.clear();
    this.#unexplained.clear();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    return Promise.resolve();
  }

  async take(rows: readonly AlertRow[], partition: number): Promise<void> {
    const alerts = rows.filter((row) => row.part === PART_ALERT && isOfEntries(row));
    const due = alerts.flatMap((row) => {
      const isUnexplained = this.#forget(row);
      if (row.state !== 'firing' || !(isUnexplained || isDue(row))) return [];
      // what failed before is tried once a window: it must not hold up what its partition has for others
      return [this.#add(row, partition, isUnexplained ? MOST_TRIES - 1 : 0)];
    });
    await Promise.all(due);
  }

  /** Whether the alert was unexplained. */
  #forget({ tenantId, id }: AlertRow): boolean {
    const ids = this.#unexplained.get(tenantId);
    const isForgotten = ids?.delete(id) ?? false;
    if (ids?.size === 0) this.#unexplained.delete(tenantId);
    return isForgotten;
  }

  #remember({ tenantId, id, fireCount }: AlertRow): void {
    // one that fails in each window, as a heavy one does, is given up
    if (fireCount >= Math.max(...LATER_WINDOWS)) return;
    const ids = this.#unexplained.get(tenantId) ?? new Set();
    if (ids.size < MOST_UNEXPLAINED) this.#unexplained.set(tenantId, ids.add(id));
  }

  #add(row: AlertRow, partition: number, tries: number): Promise<void> {
    const { onOutcome = (): void => undefined } = this.#options;
    const queue = this.#queueOf(row);
    if (row.updatedAt * 1000 < this.#now() - LATE_MS || queue.length >= MOST_WAITING) {
      const isBusy = queue.length >= MOST_WAITING;
      if (isBusy) this.#remember(row);
      onOutcome(isBusy ? 'busy' : 'late');
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      this.#wait({ row, partition, tries, done: (error) => (error === undefined ? resolve() : reject(error)) });
    });
  }

  #queueOf(row: AlertRow): Waiting[] {
    return this.#waiting.get(row.tenantId) ?? [];
  }

  #wait(one: Waiting): void {
    this.#waiting.set(one.row.tenantId, [...this.#queueOf(one.row), one]);
    this.#next();
  }

  /** Others of its tenant are looked at meanwhile. */
  #waitAgain(one: Waiting): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#wait({ ...one, tries: one.tries + 1 });
    }, this.#options.againMs ?? AGAIN_MS);
    this.#timers.add(timer);
  }

  /** Begins with the tenants that have waited longest. */
  #next(): void {
    for (const [tenantId, queue] of this.#waiting) {
      if (this.#busy.size >= AT_ONCE || this.#stop.signal.aborted) return;
      if (this.#busy.has(tenantId)) continue;
      const first = queue.shift();
      // behind the others
      this.#waiting.delete(tenantId);
      if (first === undefined) continue;
      if (queue.length > 0) this.#waiting.set(tenantId, queue);
      this.#busy.add(tenantId);
      void this.#look(first).finally(() => {
        this.#busy.delete(tenantId);
        this.#next();
      });
    }
  }

  async #look(one: Waiting): Promise<void> {
    const { row, partition, tries, done } = one;
    const { write, log, onOutcome = (): void => undefined } = this.#options;
    let found: AlertRow | null = null;
    try {
      found = await this.#find(wantedOf(row));
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const isOver = tries + 1 >= MOST_TRIES;
      onOutcome(isOver ? 'failed' : 'again');
      log.warn({ err: error, tenant: row.tenantId, alert: row.id, isTriedAgain: !isOver }, 'Enriching an alert failed.');
      if (!isOver) {
        this.#waitAgain(one);
        return;
      }
      this.#remember(row);
    }
    try {
      if (found !== null) await write(partition, [found]);
      if (found !== null) onOutcome('done');
      done();
    } catch (error) {
      done(error as Error);
    }
  }

  async #find(wanted: Wanted): Promise<AlertRow> {
    const { row, query, all, window, baseline } = wanted;
    // silence is explained by what came before it
    const until = row.detector === 'silence' ? { start: baseline.start, end: window.end } : window;
    const { samples, templates, sessions } = await this.#messages(row, query, until);
    const now = await this.#shares(row, query, window);
    let usual = await this.#shares(row, query, baseline);
    const passedOver = new Set(NEVER);
    if (query !== all && usual.entries < LEAST_ERRORS) {
      usual = await this.#shares(row, all, baseline);
      passedOver.add('level');
    }
    const why = changesOf(now, usual, passedOver).map((change) => ({ ...change, value: change.value.slice(0, VALUE_LENGTH) }));
    const most = mostText(isMore(row) ? templates : []);
    const description = [most.sentence, whyText(why)].filter((sentence) => sentence !== '').join(' ');
    const seen = sessions.length === 0 ? {} : { sessions };
    return whyRow(row, { sample_messages: samples, ...seen, templates, why }, most.title, description);
  }

  async #shares(row: AlertRow, query: string, window: Window): Promise<FieldShares> {
    const answer = (await this.#run(row, 'facets', { query, ...timesOf(window), limit: VALUES })) as {
      readonly facets: Readonly<Record<string, readonly { readonly value: unknown; readonly hits: number }[]>>;
    };
    const fields = new Map(
      Object.entries(answer.facets).map(([name, values]) => [
        name,
        new Map(values.map(({ value, hits }) => [typeof value === 'string' ? value : JSON.stringify(value), hits])),
      ]),
    );
    const streams = [...(fields.get('_stream')?.values() ?? [])];
    return { fields, entries: streams.reduce((sum, hits) => sum + hits, 0) };
  }

  async #messages(row: AlertRow, query: string, window: Window): Promise<Messages & { readonly sessions: readonly string[] }> {
    const answer = (await this.#run(row, 'search', {
      query: `${query} | fields _msg, session_id, session.id`,
      ...timesOf(window),
      limit: MESSAGES,
      before: null,
    })) as {
      readonly logs: readonly Readonly<Record<string, string | undefined>>[];
    };
    const messages = messagesOf(answer.logs.map(({ _msg: message = '' }) => message));
    return { ...messages, sessions: sessionsOf(answer.logs.map((entry) => entry['session_id'] ?? entry['session.id'])) };
  }

  async #run(row: AlertRow, operation: string, parameters: unknown): Promise<unknown> {
    const { tenantId, retentionDays, id } = row;
    const { body } = await this.#options.engine.run({
      ...{ operation, parameters, tenantId, retentionDays, atOnce: TENANT_AT_ONCE },
      ...{ requestId: `alert-${String(id)}-${String(this.#requests++)}`, startedAt: performance.now(), timeoutMs: TIMEOUT_MS },
      signal: this.#stop.signal,
    });
    return JSON.parse(body as string);
  }
}

/** It is published for the first time, or is in one of the later windows. */
const isDue = ({ firedAt, updatedAt, fireCount }: AlertRow): boolean => firedAt === updatedAt || LATER_WINDOWS.includes(fireCount);

/** The last written unit of an end is inside: a millisecond. */
const timesOf = ({ start, end }: Window): { readonly start: string; readonly end: string } => ({
  start: new Date(start).toISOString(),
  end: new Date(end - 1).toISOString(),
});

const MINUTE = 60_000;

/**
 * Whether there are more entries than usual, so that their most frequent message explains them: of a value that rose, as a quantile of
 * durations, it does not, and an alert about a template names it already.
 */
function isMore({ evidence }: AlertRow): boolean {
  const {
    direction,
    entries,
    current_value: value,
    fingerprint,
  } = readJson(evidence) as Readonly<Record<'direction' | 'entries' | 'current_value' | 'fingerprint', unknown>>;
  return direction === 'up' && fingerprint === undefined && (entries === undefined || entries === value);
}

/** Whether an alert is about entries: one about spans names traces itself, one about metrics their query. */
const isOfEntries = ({ evidence }: AlertRow): boolean => !/"links":\{"(?:traces|metrics)":/.test(evidence);

/** Where to look, from an alert's evidence. Throws where the evidence lacks it. */
function wantedOf(row: AlertRow): Wanted {
  const {
    window,
    links,
    baseline_mean: mean = 0,
    entries,
    scale_minutes: scale = 1,
  } = readJson(row.evidence) as {
    readonly window: { readonly start: string; readonly end: string };
    readonly links: { readonly query: string; readonly all?: string };
    readonly baseline_mean?: number;
    /** Of the window, where the value is not entries a minute. */
    readonly entries?: number;
    readonly scale_minutes?: number;
  };
  const [start, end] = [Date.parse(window.start), Date.parse(window.end)];
  const usual = entries === undefined ? mean : entries / scale;
  const minutes = Math.max(LEAST_BASELINE_MINUTES, Math.min(BASELINE_MINUTES, Math.floor(MOST_BASELINE / Math.max(1, usual))));
  // in a later window what has begun meanwhile is not usual
  const opened = row.firedAt * 1000 - scale * MINUTE;
  const until = Math.min(start, opened) - GAP_MINUTES * MINUTE;
  return {
    ...{ row, query: links.query, all: links.all ?? (row.stream === '{}' ? '*' : row.stream) },
    ...{ window: { start, end }, baseline: { start: until - minutes * MINUTE, end: until } },
  };
}
