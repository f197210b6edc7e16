import type { AlertCommand } from '../book/command.ts';
import { serviceLabels, serviceOf } from '../../core/labels.ts';
import { type Finding, catchUpOf } from '../../detectors/detector.ts';
import { detectors } from '../../detectors/index.ts';
import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import type { PartialInput } from '../../processors/base/partial.ts';
import { readErrors } from '../../processors/patterns/error-counts.ts';
import { readSeen } from '../../processors/patterns/patterns-partial.ts';
import type { Reports } from '../book/reports.ts';
import type { CountSubject, Part } from './alert-words.ts';
import { ErrorPatterns, type ErrorPattern } from './error-patterns.ts';
import type { SensitivityOf } from '../settings/sensitivity.ts';
import type { WatchedSeries } from './watched-streams.ts';

const MINUTE_MS = 60_000;
/** Minutes of counts that an alert shows. */
const SHOWN = 60;
/** Streams that the evidence of an alert names. */
const NAMED = 5;
/** Alerts of patterns of one service that fire at a time: where more rise, something has happened that these show. */
const MOST_FIRING = 5;
/** The detectors that report a rise of errors, or of all entries. */
const OF_STREAMS = detectors.members.filter(({ rise }) => rise !== undefined).map(({ name }) => name);

/** What is watched of the tenant in addition to its patterns. */
export type Around = {
  readonly tenantId: number;
  readonly retentionDays: number;
  readonly reports: Reports<CountSubject>;
  /** A stream by its id, and the sum of a service's streams by their common labels. */
  readonly streamOf: (id: string) => WatchedSeries | undefined;
  readonly sumOf: (labels: string) => WatchedSeries | null;
  readonly sensitivityOf: SensitivityOf;
  /** Whether another alert fits. */
  readonly mayTake: () => boolean;
};

/** A stream from which errors of a pattern came lately, and how many. */
type From = { readonly watched: WatchedSeries; readonly entries: number };

/** The error patterns of a tenant, watched (docs/detection.md, "Patterns that rise"). */
export class PatternWatch {
  #patterns = new ErrorPatterns();
  /** The minute in which they were evaluated last. */
  #evaluatedAt = 0;

  /** Patterns that are watched. */
  get size(): number {
    return this.#patterns.size;
  }

  /** What they take in a snapshot, at most, about. */
  get bytes(): number {
    return this.#patterns.bytes;
  }

  /** Takes what a partition has reported of patterns, as far as they have no more than `most` bytes. */
  take({ value, source: { appendedAt } }: PartialInput, most: number): void {
    const seen = readSeen(value);
    if (seen === null) this.#patterns.add(readErrors(value) ?? [], appendedAt, most);
    else this.#patterns.learn(seen, appendedAt, most);
  }

  /** What was found up to an append time, milliseconds, up to which all partitions of the log are counted. */
  evaluate(through: number, around: Around): AlertCommand[] {
    const minute = Math.floor(through / MINUTE_MS);
    if (minute <= this.#evaluatedAt) return [];
    this.#evaluatedAt = minute;
    const now = Math.floor(through / 1000);
    const forgotten = new Set(this.#patterns.forget(through).map(({ told }) => told?.id));
    const found = forgotten.size === 0 ? [] : around.reports.end(({ id }) => forgotten.has(id), now);
    const catchUp = catchUpOf(this.size);
    for (const pattern of this.#patterns) {
      const from = fromOf(pattern, around);
      const stream = from[0]?.watched.stream ?? '{}';
      for (const finding of pattern.series.tick(through, (detector) => around.sensitivityOf(detector, stream), catchUp)) {
        const command = this.#report(pattern, finding, from, around, now);
        if (command !== null) found.push(command);
      }
    }
    return found;
  }

  /** A slice of the snapshot for each series. */
  *write(to: ByteWriter): Generator<undefined, void> {
    to.count(this.#evaluatedAt);
    yield* this.#patterns.write(to);
  }

  /** What `write` wrote; throws where it is anything else. */
  static read(from: ByteReader): PatternWatch {
    const read = new PatternWatch();
    read.#evaluatedAt = from.count();
    read.#patterns = ErrorPatterns.read(from);
    return read;
  }

  /** The command after a finding. One that another alert covers, or that is suppressed, may fire after it was back within its baseline. */
  #report(pattern: ErrorPattern, finding: Finding, from: readonly From[], around: Around, now: number): AlertCommand | null {
    const { series, fingerprint, template, example } = pattern;
    const { detector, firedAt, state } = finding;
    if (pattern.told?.firedAt !== firedAt) {
      if (state !== 'firing') return null;
      const stream = streamOf(from);
      const service = stream === null ? '' : serviceOf(stream);
      if (stream === null || isReportedOtherwise(from, around) || this.#firing(service) >= MOST_FIRING || !around.mayTake()) {
        series.mute(detector);
        return null;
      }
      pattern.told = { id: 0, firedAt, stream, service };
    }
    const { tenantId, retentionDays, reports } = around;
    const { stream, service } = pattern.told;
    const subject = { tenantId, retentionDays, stream, service, recent: series.recent(finding.window.end, SHOWN) };
    const command = reports.take(finding, { ...subject, pattern: { fingerprint, template, example, parts: partsOf(from) } }, now);
    if (command !== null) pattern.told = { ...pattern.told, id: command.id };
    return command;
  }

  /** How many alerts of a service's patterns fire. */
  #firing(service: string): number {
    return [...this.#patterns].filter(
      ({ told, series: { open } }) => open !== null && !open.isMuted && told?.firedAt === open.firedAt && told.service === service,
    ).length;
  }
}

/** From where the errors of a pattern came lately, as far as these streams are known; most of them first. */
const fromOf = ({ streams }: ErrorPattern, { streamOf: find }: Around): From[] =>
  streams.all.flatMap(([id, entries]) => {
    const watched = find(id);
    return watched === undefined || watched.stream === '' ? [] : [{ watched, entries }];
  });

/** The label set that these streams share: that of the one, or of their service, else that of all; null of none. */
function streamOf(from: readonly From[]): string | null {
  const [first] = from;
  if (first === undefined) return null;
  if (from.length === 1) return first.watched.stream;
  const shared = serviceLabels(first.watched.stream);
  return shared !== '' && from.every(({ watched }) => serviceLabels(watched.stream) === shared) ? shared : '{}';
}

/** Whether the errors of one of these streams, or all of its entries, have become more, or those of its service. */
const isReportedOtherwise = (from: readonly From[], { sumOf }: Around): boolean =>
  from.some(({ watched }) =>
    [watched, sumOf(serviceLabels(watched.stream))].some((one) => OF_STREAMS.some((name) => one?.series.firing(name)?.side === 'up')),
  );

/** Which streams have most of what came lately; none where it is one stream. */
function partsOf(from: readonly From[]): Part[] {
  const whole = from.reduce((sum, { entries }) => sum + entries, 0);
  if (from.length < 2) return [];
  return from.slice(0, NAMED).map(({ watched, entries }) => ({ stream: watched.stream, share: entries / Math.max(1, whole) }));
}
