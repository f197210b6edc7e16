import type { AlertCommand } from '../book/command.ts';
import { serviceOf } from '../../core/labels.ts';
import { catchUpOf, unlimited, type CatchUp, type Finding, type Sensitivity } from '../../detectors/detector.ts';
import type { StreamFinding } from '../exchange/finding.ts';
import type { PartialInput } from '../../processors/base/partial.ts';
import type { Rates } from '../../processors/rates/rates.ts';
import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import type { SensitivityOf } from '../settings/sensitivity.ts';
import { Reports } from '../book/reports.ts';
import { countKey, countWords, OF_SERVICE, type CountSubject } from './alert-words.ts';
import { PatternWatch } from './pattern-watch.ts';
import {
  countedThrough,
  handedOver,
  isPart,
  partsOf,
  type Sum,
  WatchedStreams,
  type Watched,
  type WatchedSeries,
} from './watched-streams.ts';
import { readJson } from '../../core/read-json.ts';

/** A stream that had no entry for so long is forgotten, by append time. Milliseconds. */
const FORGET_MS = 24 * 3_600_000;
/** A tenant that was not reported for this long, while its partitions were counted, had no entry for a day. Milliseconds. */
const EXPIRED_MS = FORGET_MS + 3_600_000;
/** How often series are evaluated. Milliseconds. */
const TICK_MS = 10_000;
const MINUTE_MS = 60_000;
/** Minutes of counts that an alert shows. */
const SHOWN = 60;
/** Streams that are looked at, each time that series are evaluated, for what young ones have taken over. */
const MOST_LOOKED_AT = 200_000;

/** What of a tenant is watched and what was reported of it, or how much of these it may have: bytes of a snapshot, at most, about. */
export type Held = {
  /** Streams and services. */
  readonly watched: number;
  /** Error patterns. */
  readonly patterns: number;
  readonly alerts: number;
};
const EVERYTHING: Held = { watched: Infinity, patterns: Infinity, alerts: Infinity };

const NORMAL: SensitivityOf = () => 'normal';

/** What is watched of a tenant. */
export class TenantWatch {
  retentionDays = 0;
  #streams = new WatchedStreams();
  /** How much it may have while it takes something. */
  #most = EVERYTHING;
  /** How many minutes may be closed while its series are evaluated. */
  #catchUp: CatchUp = unlimited();
  /** What was found of windows of services while its series are evaluated, and how many streams may still be looked at for it. */
  readonly #handedOver = new Map<string, boolean>();
  #mayLookAt = MOST_LOOKED_AT;
  /** Up to when each partition of the log is counted, and when its series were evaluated last: append times, milliseconds. */
  readonly #sources = new Map<number, { through: number; evaluatedAt: number }>();
  #patterns = new PatternWatch();
  #reports = new Reports(countWords);
  #sensitivityOf = NORMAL;

  /** Streams and services that are watched. */
  get size(): number {
    return this.#streams.size;
  }

  /** Error patterns that are watched. */
  get patterns(): number {
    return this.#patterns.size;
  }

  get held(): Held {
    return { watched: this.#streams.bytes, patterns: this.#patterns.bytes, alerts: this.#reports.bytes };
  }

  /** Sets how easily detectors fire from now on; null: normally. */
  configure(sensitivityOf: SensitivityOf | null): void {
    this.#sensitivityOf = sensitivityOf ?? NORMAL;
    for (const watched of this.#streams.all()) [watched.sensitivities, watched.evaluatedAt] = [undefined, -1];
  }

  /** Adds what a partition has counted, as far as the tenant has no more than `most`; gives what was found. */
  take(input: PartialInput, rates: Rates, most: Held): AlertCommand[] {
    const { source, retentionDays } = input;
    this.retentionDays = retentionDays;
    this.#most = most;
    this.#add(rates, source.partition, source.appendedAt);
    const known = this.#sources.get(source.partition) ?? { through: 0, evaluatedAt: 0 };
    known.through = Math.max(known.through, source.appendedAt);
    this.#sources.set(source.partition, known);
    if (known.through < known.evaluatedAt + TICK_MS) return [];
    known.evaluatedAt = known.through;
    return [...this.#evaluate(input.tenantId, source.partition, known.through), ...this.#evaluatePatterns(input.tenantId)];
  }

  /** Takes what a partition has reported of patterns, as far as the tenant has no more than `most` of them. */
  takePatterns(input: PartialInput, most: Held): void {
    this.#patterns.take(input, most.patterns);
  }

  /** Takes what a detector of one's own has found and returns what is to be reported; null where that changes nothing. `now`: milliseconds. */
  hear(tenantId: number, { id, finding, about }: StreamFinding, now: number, most: Held): AlertCommand | null {
    this.#most = most;
    const watched = this.#streams.find(id);
    if (watched === undefined || watched.stream === '') return null;
    const { stream, series } = watched;
    if (finding.state === 'firing' && this.#sensitivityOf(finding.detector, stream) === 'off') return null;
    const recent = series.recent(finding.detector, finding.window.end, SHOWN);
    const subject = {
      tenantId,
      retentionDays: this.retentionDays,
      stream,
      service: serviceOf(stream),
      recent,
      about,
      isNews: this.#mayTake,
    };
    return this.#reports.hear(finding, subject, Math.floor(now / 1000));
  }

  /** What a release before kept here, for the book of alerts: once. */
  carried(): readonly AlertCommand[] {
    return this.#reports.carried();
  }

  /** A slice of the snapshot for each series. */
  *write(to: ByteWriter): Generator<undefined, void> {
    to.count(this.retentionDays);
    to.count(this.#sources.size);
    for (const [partition, { through, evaluatedAt }] of this.#sources)
      for (const number of [partition, through, evaluatedAt]) to.count(number);
    yield* this.#streams.write(to);
    yield* this.#patterns.write(to);
    to.text(Buffer.from(JSON.stringify(this.#reports)).toString('latin1'));
  }

  /** What `write` wrote, or an older release, which had no services, or no patterns; null or CutOff thrown where it is anything else. */
  static read(from: ByteReader, { hasServices = true, hasPatterns = true } = {}): TenantWatch | null {
    const read = new TenantWatch();
    read.retentionDays = from.count(65_535);
    for (let left = from.count(65_535); left > 0; left--)
      read.#sources.set(from.count(65_535), { through: from.count(), evaluatedAt: from.count() });
    const streams = WatchedStreams.read(from, hasServices);
    if (streams === null) return null;
    read.#streams = streams;
    if (hasPatterns) read.#patterns = PatternWatch.read(from);
    read.#reports = Reports.from(readJson(utf8(from.text())), countWords);
    return read;
  }

  /**
   * Resolves and returns what fires where the partitions of the log, each counted up to an append time, have had no entry of the tenant for
   * a day: it may be forgotten then. Null where they have. `now`: seconds.
   */
  leave(throughOf: (partition: number) => number, now: number): AlertCommand[] | null {
    if (this.#sources.size === 0) return this.#reports.isOver(now) && this.patterns === 0 ? [] : null;
    for (const [partition, { through }] of this.#sources) if (throughOf(partition) < through + EXPIRED_MS) return null;
    return this.#reports.end(() => true, now);
  }

  /** Whether another alert fits. */
  readonly #mayTake = (): boolean => this.#reports.bytes < this.#most.alerts;

  #add({ ids, streams, ends, minutes, entries, errors }: Rates, source: number, appendedAt: number): void {
    let row = 0;
    const catchUp = catchUpOf(minutes.length);
    ids.forEach((id, index) => {
      const end = ends[index] as number;
      const watched = this.#streams.watch(id, source, this.#most.watched);
      if (watched === null) {
        row = end;
        return;
      }
      const stream = streams[index] ?? null;
      if (stream !== null && stream !== watched.stream) this.#streams.name(id, watched, stream, this.#most.watched);
      watched.source = source;
      watched.seenAt = Math.max(watched.seenAt, appendedAt);
      const sum = watched.service === '' ? null : this.#streams.services.sum(watched.service);
      sum?.sources.set(source, Math.max(sum.sources.get(source) ?? 0, appendedAt));
      for (; row < end; row++) {
        const [minute, counts] = [minutes[row] as number, { entries: entries[row] as number, errors: errors[row] as number }];
        watched.series.add(minute, counts, appendedAt, catchUp);
        sum?.series.add(minute, counts, appendedAt, catchUp);
      }
      for (const one of [watched, sum]) if (one?.series.isDue === true) one.evaluatedAt = -1;
    });
  }

  #sensitivitiesOf(watched: WatchedSeries): ((detector: string) => Sensitivity) | undefined {
    if (this.#sensitivityOf === NORMAL) return undefined;
    const { stream } = watched;
    const known = (watched.sensitivities ??= new Map<string, Sensitivity>());
    return (detector) => {
      let found = known.get(detector);
      if (found === undefined) known.set(detector, (found = this.#sensitivityOf(detector, stream)));
      return found;
    };
  }

  /** What the series of a partition's streams have found, and of the services that have some there, up to when it is counted. */
  #evaluate(tenantId: number, partition: number, through: number): AlertCommand[] {
    const found: AlertCommand[] = [];
    const take = (command: AlertCommand | null): unknown => command !== null && found.push(command);
    const now = Math.floor(through / 1000);
    const minute = Math.floor(through / MINUTE_MS);
    this.#catchUp = catchUpOf(this.size);
    this.#handedOver.clear();
    this.#mayLookAt = MOST_LOOKED_AT;
    for (const [id, watched] of this.#streams) {
      const { stream, service, source, seenAt } = watched;
      const isExpired = seenAt < through - FORGET_MS;
      if (source !== partition || (watched.evaluatedAt === minute && !isExpired)) continue;
      for (const finding of this.#tick(watched, through)) take(this.#publishOfStream(tenantId, watched, finding, now));
      if (!isExpired) continue;
      const isLast = this.#streams.forget(id, watched);
      this.#reports.end((one) => one.stream === stream && one.about !== OF_SERVICE, now).forEach(take);
      if (isLast) this.#reports.end((one) => one.stream === service && one.about === OF_SERVICE, now).forEach(take);
    }
    for (const sum of this.#streams.services) if (sum.sources.has(partition)) this.#evaluateService(tenantId, sum).forEach(take);
    return found;
  }

  /** The alert after a finding of a stream, unless its service reports it. */
  #publishOfStream(tenantId: number, watched: Watched, finding: Finding, now: number): AlertCommand | null {
    const { stream, service, series } = watched;
    if (stream === '') return null;
    const sum = this.#streams.services.sum(service);
    if (sum === null) return this.#publish(tenantId, watched, finding, now, {});
    if (!this.#isReported(tenantId, watched, finding, false) && this.#isHandedOver(finding, sum)) {
      // it is not published before it has recovered
      series.mute(finding.detector, finding.side);
      return null;
    }
    const isNews = (): boolean => !this.#isReported(tenantId, sum, finding, true) || !isPart(finding, sum);
    return this.#publish(tenantId, watched, finding, now, { isNews });
  }

  /** What a service has found, up to when all of its partitions are counted. */
  #evaluateService(tenantId: number, sum: Sum): AlertCommand[] {
    const through = countedThrough(sum, (partition) => this.#sources.get(partition)?.through ?? 0);
    if (through < sum.through + TICK_MS) return [];
    sum.through = through;
    if (sum.evaluatedAt === Math.floor(through / MINUTE_MS)) return [];
    return this.#tick(sum, through).flatMap((finding) => {
      const streams = this.#streams.membersOf(sum);
      const { parts, isTheirs } = partsOf(finding, streams);
      const more = { isNews: () => !isTheirs, together: { count: streams.length, parts } };
      return this.#publish(tenantId, sum, finding, Math.floor(through / 1000), more) ?? [];
    });
  }

  /** What the error patterns have found, up to when all partitions with entries of the tenant are counted. */
  #evaluatePatterns(tenantId: number): AlertCommand[] {
    if (this.patterns === 0) return [];
    const sources = new Map([...this.#sources].map(([partition, { through }]) => [partition, through]));
    const through = countedThrough({ sources }, (partition) => sources.get(partition) ?? 0);
    return this.#patterns.evaluate(through, {
      ...{
        tenantId,
        retentionDays: this.retentionDays,
        reports: this.#reports,
        sensitivityOf: this.#sensitivityOf,
        mayTake: this.#mayTake,
      },
      ...{ streamOf: (id) => this.#streams.find(id), sumOf: (labels) => this.#streams.services.sum(labels) },
    });
  }

  /** The same of all findings about the same window; where too many windows have been looked at, it is not looked at. */
  #isHandedOver(finding: Finding, sum: Sum): boolean {
    const { detector, side, window } = finding;
    if (side !== 'down') return false;
    const key = [detector, window.start, window.end, sum.stream].join(' ');
    let isHandedOver = this.#handedOver.get(key);
    if (isHandedOver === undefined) {
      const streams = this.#streams.membersOf(sum);
      isHandedOver = this.#mayLookAt >= streams.length && handedOver(finding, streams);
      this.#mayLookAt -= streams.length;
      this.#handedOver.set(key, isHandedOver);
    }
    return isHandedOver;
  }

  #tick(watched: WatchedSeries, through: number): readonly Finding[] {
    const found = watched.series.tick(through, this.#sensitivitiesOf(watched), this.#catchUp);
    // where no more minutes may be closed, it is evaluated again the next time
    watched.evaluatedAt = watched.series.isDue || this.#catchUp.left <= 0 ? -1 : Math.floor(through / MINUTE_MS);
    return found;
  }

  /** Whether an alert was reported of what fires there, which this finding is about. */
  #isReported(tenantId: number, { stream, series }: WatchedSeries, { detector }: Finding, isOfService: boolean): boolean {
    const firing = series.firing(detector);
    return firing !== null && this.#reports.has(tenantId, countKey(firing, stream, isOfService));
  }

  /** The command after a finding. `isNews`: of one that was never published; `together`: of a service its streams. */
  #publish(
    tenantId: number,
    { stream, series }: WatchedSeries,
    finding: Finding,
    now: number,
    more: Pick<CountSubject, 'isNews' | 'together'>,
  ): AlertCommand | null {
    const recent = series.recent(finding.detector, finding.window.end, SHOWN);
    const isNews = (): boolean => this.#mayTake() && more.isNews?.() !== false;
    const subject = { tenantId, retentionDays: this.retentionDays, stream, service: serviceOf(stream), recent, ...more, isNews };
    return this.#reports.take(finding, subject, now);
  }
}

const utf8 = (latin1: string): string => Buffer.from(latin1, 'latin1').toString();
