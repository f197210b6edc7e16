import { conjunction, int64, ofTenant, sql, uint8, type Sql } from '../../pipeline/core/sql.ts';
import type { QueryOptions, Store } from '../../pipeline/store/client.ts';
import { seriesWhere, type Matcher } from './matcher.ts';
import { Numbers } from './numbers.ts';
import { SampleBlocks } from './sample-blocks.ts';
import { SampleRows, type Samples } from './sample-rows.ts';

/** A series and its samples in a window, ordered by time, each time once: the value that arrived last. */
export type SeriesSamples = {
  /** XXH64 of the canonical labels. */
  readonly id: bigint;
  readonly labels: ReadonlyMap<string, string>;
  readonly kind: string;
  /** Its samples are what was added since the one before. */
  readonly isDelta: boolean;
  /** Milliseconds. */
  readonly timestamps: Float64Array;
  /** Bit for bit: the NaN 0x7ff0000000000002 marks the end of a series (`Float64Array.buffer` has the bits). */
  readonly values: Float64Array;
  /** Native histograms of the window; their payloads are read by `readHistogram`. */
  readonly histograms: Histograms;
};

/** Native histograms of a series: `sums` as values, and the payload of each. */
export type Histograms = { readonly timestamps: Float64Array; readonly sums: Float64Array; readonly payloads: readonly Buffer[] };

/** Where samples are read from. */
export interface SampleSource {
  /** Series with samples from `from` to `to` (milliseconds, both included), in the order of their ids. Ends its statements when it is left. */
  select(matchers: readonly Matcher[], from: number, to: number): AsyncGenerator<SeriesSamples>;
}

const [NUMBERS, HISTOGRAMS] = [0, 1];
const BY_TIME = sql`series, time`;
const BY_ARRIVAL = sql`series, time, arrived_ms, kafka_part, kafka_off, kafka_idx`;
/** Which series, and from when to when: milliseconds. */
type Selected = { readonly where: Sql; readonly from: number; readonly to: number };
const NO_SAMPLES = new Float64Array(0);
const NO_HISTOGRAMS: Histograms = { timestamps: NO_SAMPLES, sums: NO_SAMPLES, payloads: [] };

/** Samples of a tenant in ClickHouse. `from` is never before the plan's retention: `floor`, milliseconds; null keeps for ever. */
export class StoredSamples implements SampleSource {
  readonly #store: Pick<Store, 'query' | 'bytes'>;
  readonly #options: QueryOptions;
  readonly #floor: number;

  constructor(store: Pick<Store, 'query' | 'bytes'>, options: QueryOptions, floor: number | null) {
    this.#store = store;
    this.#options = options;
    this.#floor = floor ?? -Infinity;
  }

  async *select(matchers: readonly Matcher[], start: number, to: number): AsyncGenerator<SeriesSamples> {
    const from = Math.max(start, this.#floor);
    const where = seriesWhere(this.#options.tenantId, matchers, from);
    // all three statements run at once
    const stop = new AbortController();
    const { signal } = this.#options;
    const options = { ...this.#options, signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]) };
    const window = { where, from, to };
    const numbers = new Numbers((ids, byArrival) => {
      const statement = this.#rows(NUMBERS, window, byArrival ? BY_ARRIVAL : BY_TIME, ids);
      return new SampleBlocks(this.#store.bytes(statement, { ...options, isNative: true }));
    });
    const histograms = new SampleRows(this.#store.bytes(this.#rows(HISTOGRAMS, window, BY_ARRIVAL), options));
    let isWhole = false;
    try {
      for await (const { id, ...about } of this.#series(where)) {
        const [own, native] = [await numbers.of(id), await histograms.of(id)];
        if (own !== null || native !== null)
          yield { id, ...about, timestamps: own?.times ?? NO_SAMPLES, values: own?.values ?? NO_SAMPLES, histograms: histogramsOf(native) };
      }
      isWhole = true;
    } finally {
      if (!isWhole) stop.abort();
      await Promise.allSettled([numbers.end(), histograms.end()]);
    }
  }

  /** Definitions in the order of ids, each once: the latest row of one. */
  async *#series(where: Sql): AsyncGenerator<Pick<SeriesSamples, 'id' | 'labels' | 'kind' | 'isDelta'>> {
    const statement = sql`SELECT toString(series), mapKeys(labels), mapValues(labels), kind, is_delta FROM series WHERE ${where} ORDER BY series, last DESC LIMIT 1 BY series`;
    for await (const rows of this.#store.query(statement, this.#options))
      for (const [id, names, values, kind, isDelta] of rows) {
        const labels = new Map((names as string[]).map((name, index) => [name, (values as string[])[index] ?? '']));
        yield { id: BigInt(String(id)), labels, kind: String(kind), isDelta: Number(isDelta) === 1 };
      }
  }

  #rows(type: number, { where, from, to }: Selected, order: Sql, ids: readonly Sql[] = []): Sql {
    const { tenantId } = this.#options;
    const conditions = conjunction([
      ofTenant(tenantId),
      sql`type = ${uint8(type)}`,
      sql`series IN (SELECT series FROM series WHERE ${where})`,
      ...ids,
      sql`time >= fromUnixTimestamp64Milli(${int64(Math.ceil(clamped(from)))}, 'UTC')`,
      sql`time <= fromUnixTimestamp64Milli(${int64(Math.floor(clamped(to)))}, 'UTC')`,
    ]);
    const columns = type === HISTOGRAMS ? sql`series, toFloat64(toUnixTimestamp64Milli(time)), value, payload` : sql`series, toFloat64(toUnixTimestamp64Milli(time)), value`; // prettier-ignore
    return sql`SELECT ${columns} FROM samples WHERE ${conditions} ORDER BY ${order}`;
  }
}

/** Within what a DateTime64 holds. */
const clamped = (time: number): number => Math.min(9_223_372_036_000, Math.max(-2_208_988_800_000, time));

const histogramsOf = (samples: Samples | null): Histograms =>
  samples === null ? NO_HISTOGRAMS : { timestamps: samples.times, sums: samples.values, payloads: samples.payloads };
