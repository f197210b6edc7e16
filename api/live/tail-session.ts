import type { Principal } from '../tenants/principal.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpError } from '../../pipeline/core/errors.ts';
import type { QueryContext, QueryRuntime } from '../query/runtime.ts';
import { LogPlace, type LogVector } from './place/log-place.ts';
import type { LiveHub } from './live-hub.ts';
import { HeldEntries } from './held-entries.ts';
import type { StoredPlaces } from './place/stored-places.ts';
import { CUT_HEADER, type Backfill, type OpenedLive } from './operations.ts';
import { INTERNAL, TRY_AGAIN, type Outlet } from './outlet.ts';
import { piecesOf } from './pieces.ts';
import { positionText, readPosition, type Phase, type TailPosition } from './place/tail-position.ts';
import type { Missed } from './worker/messages.ts';
import type { UnsentShare } from './unsent-share.ts';
import { readJson } from '../../pipeline/core/read-json.ts';

/** What a client wants to follow. */
export type TailRequest = {
  readonly query: string;
  readonly extra?: readonly [string, string][];
  /** Stored entries from this time on come first, as windows have it. */
  readonly since?: string;
  /** A position that a tail of the same query was sent: it goes on there. */
  readonly resume?: string;
  /** As VictoriaLogs shows entries. */
  readonly asTexts?: boolean;
  /** A fair sample is enough where much matches, and the client is sent its factor. */
  readonly sample?: boolean;
};

/** What tails of a process share. */
export type TailDeps = {
  readonly hub: LiveHub;
  readonly runtime: QueryRuntime;
  readonly stored: StoredPlaces;
  readonly unsent: UnsentShare;
  /** Counts entries that were sent, and that were not. */
  readonly onSent: (count: number) => void;
  readonly onDropped: (why: string, count: number) => void;
};

/** Most stored entries that a tail is given first, the newest. */
const MAX_BACKFILL = 10_000;
/** How often a client is sent its position, and what was dropped. Milliseconds. */
const TICK_MS = 1000;
/** Stored entries wait for the client: how much may wait to be sent (bytes), and how long (milliseconds). */
const BACKFILL_UNSENT = 64 * 1024;
const BACKFILL_WAIT_MS = 30_000;
const LOOK_MS = 20;

/** A client that takes something within this time is not slow. Milliseconds. */
const TAKING_MS = 3000;

type Dropped = { count: number; since: number; until: number; readonly why: string };

/** One query that a client follows, from its first stored entry on. Nothing is missing or comes twice, except what is reported. */
export class TailSession {
  readonly #deps: TailDeps;
  readonly #context: QueryContext;
  readonly #outlet: Outlet;
  readonly #stop = new AbortController();
  #close = (): void => undefined;
  /** Entries that come while stored ones are given; null afterwards. */
  #held: HeldEntries | null = new HeldEntries();
  #position: TailPosition | null = null;
  /** What is known to be looked at. */
  #place: LogPlace = new LogPlace([]);
  /** Where it has begun, until the log is read further than that. */
  #begun: LogPlace | null = null;
  readonly #dropped = new Map<string, Dropped>();
  #timer: NodeJS.Timeout | undefined;
  /** Bytes of entries that were given to the connection, and how many of them it had taken when that was looked at last. */
  #given = 0;
  #taken = 0;
  #takenAt = 0;

  constructor(deps: TailDeps, context: QueryContext, outlet: Outlet) {
    this.#deps = deps;
    this.#context = context;
    this.#outlet = outlet;
  }

  /** Opens the tail; resolves when it is open, and then goes on by itself; `onOpen` is called before anything is sent. Rejects with HttpError. */
  async open(request: TailRequest, onOpen: () => void = () => undefined): Promise<void> {
    const { query, since = null, asTexts = false, sample = false } = request;
    const extra = narrowed(request.extra, this.#context.principal.project);
    const resume = request.resume === undefined ? null : readPosition(request.resume);
    const { body } = await this.#deps.runtime.run(this.#context, 'live/open', { query, extra, since: resume === null ? since : null });
    const { values, start } = readJson((body as string | Buffer).toString()) as OpenedLive;
    const text = { query, values, asTexts, ...(extra === undefined ? {} : { extra }) };
    const { tenantId, plan } = this.#context.principal;
    const { begin, close } = this.#deps.hub.open(
      {
        ...{ ...text, tenantId, retentionDays: plan.retentionDays, isSampled: sample },
        ...(resume === null ? {} : { after: ('place' in resume ? resume.place : resume.phase.until).vector }),
      },
      {
        onEntry: (entry, place) => this.#take(entry, place),
        onMissed: (missed) => this.#missed(missed),
        onSampled: (factor) => {
          this.#outlet.control({ type: 'sample', factor });
        },
        onRead: (place) => (this.#place = this.#reached(place)),
        onFailed: (error) => this.#fail(error),
      },
    );
    this.#close = close;
    if (this.#stop.signal.aborted) close();
    const vector = await begin;
    onOpen();
    this.#place = this.#begun = new LogPlace(vector);
    const phases = phasesOf(resume, start, vector);
    this.#position = phases[0] === undefined ? { place: this.#place } : { phase: phases[0] };
    this.#outlet.control({ type: 'ready', position: positionText(this.#position) });
    this.#timer = setInterval(() => {
      this.#tick();
    }, TICK_MS).unref();
    this.#begin(phases, text).catch((error: unknown) => {
      if (!this.#stop.signal.aborted) this.#fail(error);
    });
  }

  /** Ends it; nothing is sent any more. */
  end(): void {
    this.#stop.abort(new Error('The tail has ended.'));
    clearInterval(this.#timer);
    this.#close();
  }

  async #begin(phases: readonly Phase[], text: Pick<Backfill, 'query' | 'values' | 'asTexts' | 'extra'>): Promise<void> {
    for (const [index, phase] of phases.entries()) await this.#giveStored(phase, index === phases.length - 1, text);
    const held = this.#held;
    // what came meanwhile, the place of which is behind that of the last stored entry
    for (let entry = held?.next(); entry != null; entry = held?.next()) {
      this.#give(entry.text, entry.place);
      await this.#drained();
    }
    this.#held = null;
    if (held !== null && held.lost > 0) this.#missedHere('slow', held.lost);
    this.#position = { place: this.#place };
  }

  async #giveStored(wanted: Phase, isLast: boolean, text: Pick<Backfill, 'query' | 'values' | 'asTexts' | 'extra'>): Promise<void> {
    // all of it is stored first: `skip` counts among the same entries then, and what is stored late is not passed over
    const phase = isLast ? { ...wanted, until: await this.#storedUntil(wanted.until) } : wanted;
    if (!isLast) await this.#deps.stored.wait(phase.until, this.#stop.signal);
    const parameters: Backfill = {
      ...text,
      ...{ start: phase.start, end: null, from: phase.from?.vector ?? null, until: phase.until.vector },
      ...{ limit: MAX_BACKFILL, skip: phase.given },
    };
    const context = { ...this.#context, startedAt: performance.now(), signal: AbortSignal.any([this.#context.signal, this.#stop.signal]) };
    const { headers, stream } = await this.#deps.runtime.run(context, 'live/backfill', parameters, { isFree: true, isExport: true });
    let { given } = phase;
    for await (const entry of piecesOf(stream ?? [])) {
      await this.#drained();
      if (this.#stop.signal.aborted) return;
      given += 1;
      this.#position = { phase: { ...phase, given } };
      this.#send(entry);
    }
    const cut = headers?.[CUT_HEADER] !== undefined;
    this.#outlet.control({ type: 'backfill', count: given, cut });
  }

  /** The place up to which stored entries are given: what comes behind it was held. Resolves when all before it is stored. */
  async #storedUntil(until: LogPlace): Promise<LogPlace> {
    let place = until;
    for (;;) {
      await this.#deps.stored.wait(place, this.#stop.signal);
      // where too many entries were held they were discarded: they are given as stored ones
      const moved = this.#held?.takeMoved();
      if (moved == null) return place;
      place = moved.orLater(until.vector);
    }
  }

  /** Waits until the client has taken most of what it was sent; not for ever. */
  async #drained(): Promise<void> {
    const until = performance.now() + BACKFILL_WAIT_MS;
    while (this.#outlet.unsent > BACKFILL_UNSENT && performance.now() < until && !this.#stop.signal.aborted)
      await sleep(LOOK_MS, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }

  /** A place that the log is read to: that where the tail has begun, as long as others' reading is behind it. */
  #reached(place: LogPlace): LogPlace {
    if (this.#begun === null) return place;
    const reached = place.orLater(this.#begun.vector);
    if (place.isAt(reached)) this.#begun = null;
    return reached;
  }

  #take(text: Buffer, place: LogPlace): void {
    if (this.#held !== null) this.#held.add(text, place);
    else this.#give(text, place);
  }

  #give(text: Buffer, place: LogPlace): void {
    this.#place = this.#reached(place);
    this.#position = { place: this.#place };
    if (this.#isSlow(performance.now())) this.#missedHere('slow', 1);
    else this.#send(text);
  }

  /** Whether more waits for the client than may. */
  #isSlow(now: number): boolean {
    const { unsent } = this.#outlet;
    const taken = this.#given - unsent;
    if (unsent === 0 || taken > this.#taken) [this.#taken, this.#takenAt] = [taken, now];
    return unsent > this.#deps.unsent.mostOfOne(now - this.#takenAt < TAKING_MS, now);
  }

  #send(text: Buffer): void {
    if (this.#stop.signal.aborted) return;
    this.#given += text.length;
    this.#reportDropped();
    const position = this.#position;
    this.#outlet.entry(text, () => (position === null ? '' : positionText(position)));
    this.#deps.onSent(1);
  }

  #missed({ why, count, since, until }: Missed): void {
    this.#missedHere(why, count, since, until);
  }

  #missedHere(why: string, count: number, since = Date.now(), until = since): void {
    const known = this.#dropped.get(why);
    if (known === undefined) this.#dropped.set(why, { why, count, since, until });
    else Object.assign(known, { count: known.count + count, until: Math.max(known.until, until) });
    this.#deps.onDropped(why, count);
  }

  /** Reports what was not sent, as soon as the client takes something. */
  #reportDropped(): void {
    if (this.#dropped.size === 0) return;
    for (const { why, count, since, until } of this.#dropped.values())
      this.#outlet.control({
        type: 'dropped',
        reason: why,
        count,
        since: new Date(since).toISOString(),
        until: new Date(until).toISOString(),
      });
    this.#dropped.clear();
  }

  #tick(): void {
    if (this.#outlet.unsent > BACKFILL_UNSENT) return;
    this.#reportDropped();
    if (this.#held === null) this.#position = { place: this.#place };
    if (this.#position !== null) this.#outlet.control({ type: 'position', position: positionText(this.#position) });
  }

  #fail(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.end();
    const isPublished = error instanceof HttpError;
    const detail = isPublished ? error.message : 'The tail failed.';
    this.#outlet.control({ type: 'error', status: isPublished ? error.status : 500, detail });
    this.#outlet.close({ code: isPublished ? TRY_AGAIN : INTERNAL, reason: detail });
  }
}

/** The extra filters of a request, with that of the project of its key. */
const narrowed = (extra: TailRequest['extra'], project: Principal['project']): TailRequest['extra'] =>
  // what begins with a space is never read as JSON
  project === undefined ? extra : [...(extra ?? []), ['extra_filters', ` ${project.filter}`]];

/** What of the stored entries is given, in order. */
function phasesOf(resume: TailPosition | null, start: string | null, begin: LogVector): Phase[] {
  const until = new LogPlace(begin);
  if (resume === null) return start === null ? [] : [{ start, from: null, until, given: 0 }];
  if ('place' in resume) return [{ start: null, from: clipped(resume.place, begin), until, given: 0 }];
  const seam = clipped(resume.phase.until, begin);
  return [
    { ...resume.phase, until: seam },
    { start: null, from: seam, until, given: 0 },
  ];
}

/** A place that the log has: after log truncation, its end. */
const clipped = (place: LogPlace, begin: LogVector): LogPlace =>
  new LogPlace(
    begin.map(([offset, index], partition) =>
      (place.vector[partition] ?? [0, 0])[0] > offset ? [offset, index] : (place.vector[partition] ?? [0, 0]),
    ),
  );
