import { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import type { Finding } from '../../detectors/detector.ts';
import { Episodes } from '../../detectors/episode.ts';
import { inMinutes } from '../../detectors/steps.ts';
import { labelsText } from '../../samples/definition.ts';
import { RULE } from '../book/alert.ts';
import type { Evaluated } from './evaluated.ts';
import { minuteOfMs, type ReadMetricRule } from './metric-rule.ts';
import { seriesBytes, WatchedSeries } from './watched-series.ts';

/** Series that a rule watches: those that came first. */
export const MOST_WATCHED = 100;

/** What was found: of a series; or, where that is null, of the rule, which gives more series than are watched. */
export type SeriesFound = { readonly finding: Finding; readonly series: WatchedSeries | null };

/** The series of a rule that watches. */
export class SeriesWatch {
  /** By the string of the labels. */
  readonly #series = new Map<string, WatchedSeries>();
  #bytes = 0;
  #isEmpty = true;
  /** Whether there are more series than are watched. */
  #crowded = new Episodes();

  /** What they take, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether nothing was watched yet. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** Those that fire. */
  get firing(): readonly WatchedSeries[] {
    return [...this.#series.values()].filter(({ firing }) => firing !== null);
  }

  /** Takes the result of an evaluation. `most`: bytes that series may take more. */
  take({ series, time }: Pick<Evaluated, 'series' | 'time'>, read: ReadMetricRule, most: number): SeriesFound[] {
    this.#isEmpty = false;
    const step = read.intervalMs / 60_000;
    const minute = minuteOfMs(time) - step;
    const came = new Map(series.map((one) => [labelsText(one.labels), one]));
    const found: SeriesFound[] = [];
    const add = (finding: Finding | null, of: WatchedSeries | null): void => {
      if (finding !== null) found.push({ finding, series: of });
    };
    for (const [key, own] of this.#series)
      if (!came.has(key) && own.isOver(minute, step)) {
        this.#series.delete(key);
        this.#bytes -= seriesBytes(own.labels);
      } else add(own.take(minute, came.get(key)?.value ?? null, read), own);
    let [left, others] = [most, 0];
    for (const [key, { labels, value }] of came) {
      if (this.#series.has(key)) continue;
      const size = seriesBytes(labels);
      if (this.#series.size >= MOST_WATCHED || size > left) {
        others += 1;
        continue;
      }
      const begun = new WatchedSeries(labels, step, minute);
      this.#series.set(key, begun);
      this.#bytes += size;
      left -= size;
      add(begun.take(minute, value, read), begun);
    }
    add(this.#crowd(others, minute / step, step), null);
    return found;
  }

  toJSON(): unknown {
    const to = new ByteWriter();
    this.#crowded.write(to);
    return [[...this.#series.values()], to.finish().toString('base64')];
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from(json: unknown): SeriesWatch {
    const [series, crowded] = json as [unknown[], string];
    const read = new SeriesWatch();
    read.#isEmpty = false;
    for (const one of series.map((written) => WatchedSeries.from(written))) {
      read.#series.set(labelsText(one.labels), one);
      read.#bytes += seriesBytes(one.labels);
    }
    read.#crowded = Episodes.read(new ByteReader(Buffer.from(crowded, 'base64')));
    return read;
  }

  /** What is to be reported where `others` series are not watched. */
  #crowd(others: number, slot: number, step: number): Finding | null {
    const at = { scale: 1, z: 0, value: others, mean: 0, bound: 0 };
    const finding = others > 0 ? this.#crowded.fire(RULE, 'up', slot, at, null) : this.#crowded.look(slot, true).finding;
    return finding === null ? null : inMinutes(finding, step);
  }
}
