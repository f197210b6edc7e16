import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import { CustomEpisodes } from '../../detectors/custom-series.ts';
import { MAX_STATE } from '../../detectors/custom.ts';
import type { Finding } from '../../detectors/detector.ts';
import { inMinutes } from '../../detectors/steps.ts';
import type { OfRule } from './batch.ts';
import type { RequestedSeries, LookedSeries } from './detector-messages.ts';
import type { FinalMinute } from './final-minutes.ts';

/** What the episodes of a series take in addition to its state, bytes, about. */
const EPISODES_BYTES = 300;
const OPEN_BYTES = 500;
const MAX_SERIES = 20_000;
/** Beyond this multiple of the budget, a series whose state has grown starts from the beginning. */
const MOST_OVERRUN = 1.25;
/** A week. Minutes. */
const MOST_STEP = 10_080;

/**
 * What is kept of a series: the detector's state as JSON, and when its alerts fire. `minute`: the last one that was looked at, the first
 * one of a step of `step` minutes.
 */
type Watched = { text: string | null; minute: number; readonly step: number; readonly episodes: CustomEpisodes };

/** Which detector it is. */
export type DetectorVersion = { readonly name: string; readonly version: string };

/** A finding, and the stream that it is about. */
export type Found = { readonly tenantId: number; readonly id: string; readonly finding: Finding };

/** The content of one request: the minutes of the series, in their order. */
export type Question = {
  readonly requested: readonly RequestedSeries[];
  readonly series: readonly (readonly [id: string, minutes: readonly FinalMinute[]])[];
};

/** What one detector remembers of the streams of a partition. */
export class DetectorWatch {
  readonly detector: DetectorVersion;
  /** The number of the batch that it takes next; -1 while it is off. */
  cursor = 0;
  /** True while a call is open. */
  isPending = false;
  /** It has failed: it is not called before it is switched on. */
  hasFailed = false;
  /** Series that were passed over or start from the beginning, since the states of others take the whole budget. */
  passedOver = 0;
  /** The budget in bytes, as of the last call. */
  #most = Infinity;
  /** By tenant and stream. */
  readonly #series = new Map<number, Map<string, Watched>>();
  #bytes = 0;
  #count = 0;

  constructor(detector: DetectorVersion) {
    this.detector = detector;
  }

  /** What the states of all series take, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The request for a batch; unknown streams only as far as they fit, in bytes. */
  question(tenantId: number, minutes: readonly FinalMinute[], most: number): Question {
    const byId = new Map<string, FinalMinute[]>();
    for (const minute of minutes) {
      const own = byId.get(minute.id);
      if (own === undefined) byId.set(minute.id, [minute]);
      else own.push(minute);
    }
    this.#most = most;
    const known = this.#series.get(tenantId);
    const series = [...byId].filter(([id]) => known?.has(id) === true || (this.#bytes + MAX_STATE < most && this.#count < MAX_SERIES));
    this.passedOver += byId.size - series.length;
    const requested = series.map(([id, own]) => ({
      state: known?.get(id)?.text ?? null,
      points: own.map(({ minute, entries, errors, value = entries }) => [minute, value, entries, errors] as const),
    }));
    return { requested, series };
  }

  /** Takes an answer; gives its findings. `isThere`: whether a series was not forgotten since. `rule`: of which the values are. */
  answer(
    tenantId: number,
    { series }: Question,
    looked: readonly LookedSeries[],
    isThere: (id: string) => boolean,
    rule: Pick<OfRule, 'side' | 'step'> | null = null,
  ): Found[] {
    const found: Found[] = [];
    const { side, step } = rule ?? { side: null, step: 1 };
    series.forEach(([id, minutes], index) => {
      const { state, seen } = looked[index] as LookedSeries;
      if (!isThere(id)) return;
      const watched = this.#watchedOf(tenantId, id, step);
      this.#bytes -= sizeOf(watched);
      const bySeen = new Map(seen);
      minutes.forEach(({ minute, isLate }, at) => {
        const seen = bySeen.get(at) ?? null;
        const isPublished = !isLate && (side === null || seen?.side === side);
        const finding = watched.episodes.take(this.detector.name, Math.floor(minute / step), isPublished ? seen : null);
        if (finding !== null) found.push({ tenantId, id, finding: inMinutes(finding, step) });
      });
      watched.text = state;
      watched.minute = minutes.at(-1)?.minute ?? watched.minute;
      this.#bytes += sizeOf(watched);
      if (this.#bytes <= this.#most * MOST_OVERRUN) return;
      const finding = watched.episodes.end(Math.floor(watched.minute / step) + 1);
      if (finding !== null) found.push({ tenantId, id, finding: inMinutes(finding, step) });
      this.forget(tenantId, id);
      this.passedOver += 1;
    });
    return found;
  }

  forget(tenantId: number, id: string): void {
    const watched = this.#series.get(tenantId)?.get(id);
    if (watched === undefined) return;
    this.#bytes -= sizeOf(watched);
    this.#count -= 1;
    this.#series.get(tenantId)?.delete(id);
  }

  /** Forgets everything; gives the ends of what fires. */
  end(): Found[] {
    const found: Found[] = [];
    for (const [tenantId, series] of this.#series)
      for (const [id, { episodes, minute, step }] of series) {
        const finding = episodes.end(Math.floor(minute / step) + 1);
        if (finding !== null) found.push({ tenantId, id, finding: inMinutes(finding, step) });
      }
    this.#series.clear();
    [this.#bytes, this.#count] = [0, 0];
    return found;
  }

  write(to: ByteWriter): void {
    const { name, version } = this.detector;
    to.text(name);
    to.text(Buffer.from(version).toString('latin1'));
    to.count(Math.max(0, this.cursor));
    to.count(this.#series.size);
    for (const [tenantId, series] of this.#series) {
      to.count(tenantId);
      to.count(series.size);
      for (const [id, { text, minute, step, episodes }] of series) {
        to.text(id);
        to.text(Buffer.from(text ?? '').toString('latin1'));
        to.count(minute);
        to.count(step);
        episodes.write(to);
      }
    }
  }

  /** What `write` wrote, or an older release, which had no rules; throws where it is anything else. */
  static read(from: ByteReader, hasRules = true): DetectorWatch {
    const read = new DetectorWatch({ name: from.text(), version: Buffer.from(from.text(), 'latin1').toString() });
    read.cursor = from.count();
    for (let tenants = from.count(0xffff_ffff); tenants > 0; tenants--) {
      const tenantId = from.count(0xffff_ffff);
      for (let left = from.count(MAX_SERIES); left > 0; left--) {
        const [id, text, minute] = [from.text(), Buffer.from(from.text(), 'latin1').toString(), from.count()];
        const step = hasRules ? Math.max(1, from.count(MOST_STEP)) : 1;
        const watched = { text: text === '' ? null : text, minute, step, episodes: CustomEpisodes.read(from) };
        read.#watchedOf(tenantId, id, step);
        read.#series.get(tenantId)?.set(id, watched);
        read.#bytes += sizeOf(watched) - EPISODES_BYTES;
      }
    }
    return read;
  }

  #watchedOf(tenantId: number, id: string, step: number): Watched {
    let series = this.#series.get(tenantId);
    if (series === undefined) this.#series.set(tenantId, (series = new Map<string, Watched>()));
    let watched = series.get(id);
    if (watched === undefined) {
      series.set(id, (watched = { text: null, minute: 0, step, episodes: new CustomEpisodes() }));
      this.#bytes += sizeOf(watched);
      this.#count += 1;
    }
    return watched;
  }
}

const sizeOf = ({ text, episodes }: Watched): number =>
  (text === null ? 0 : Buffer.byteLength(text)) + EPISODES_BYTES + (episodes.isOpen ? OPEN_BYTES : 0);
