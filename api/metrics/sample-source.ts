import { conjunction, int64, numberSet, ofTenant, sql, uint8, type Sql } from '../../pipeline/core/sql.ts';
import type { QueryOptions, Store } from '../../pipeline/store/client.ts';
import { fewSamples } from './few-samples.ts';
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
const NUMBER_COLUMNS = sql`series, toFloat64(toUnixTimestamp64Milli(time)), value`;
/** So many series are named to the statements of their samples by their ids. */
const KNOWN = 250;
/** So many, and of all of them together so many milliseconds, are read in one statement. */
const FEW = 16;
const FEW_MS = 20 * 86_400_000;
/** Which series, as a set, and from when to when: milliseconds. */
type Selected = { readonly ids: Sql; readonly from: number; readonly to: number };
type Definition = Pick<SeriesSamples, 'id' | 'labels' | 'kind' | 'isDelta'>;
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
    const stop = new AbortController();
    const { signal } = this.#options;
    const options = { ...this.#options, signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]) };
    let isWhole = false;
    try {
      const series = this.#series(where, options);
      const [first, isAll] = await firstOf(series, KNOWN);
      // to look for them again costs each statement more than a list of them
      const ids = isAll ? numberSet(first.map(({ id }) => String(id))) : sql`(SELECT series FROM series WHERE ${where})`;
      const selected = { ids, from, to };
      const isFew = isAll && first.length <= FEW && first.length * (to - from) <= FEW_MS;
      const few = isFew ? await this.#few(first, selected, options) : null;
      yield* few ?? this.#many(following(first, series), selected, options);
      isWhole = true;
    } finally {
      if (!isWhole) stop.abort();
    }
  }

  /** Few series in one statement; null where their samples are too many to be held. */
  async #few(all: readonly Definition[], selected: Selected, options: QueryOptions): Promise<SeriesSamples[] | null> {
    if (all.length === 0) return [];
    const conditions = conjunction([sql`type IN (0, 1)`, ...this.#conditions(selected)]);
    const statement = sql`SELECT type, ${NUMBER_COLUMNS}, payload FROM samples WHERE ${conditions} ORDER BY type, ${BY_ARRIVAL}`;
    const found = await fewSamples(this.#store.bytes(statement, { ...options, isNative: true }));
    return (
      found &&
      all.flatMap((definition) => {
        const { numbers = null, histograms = null } = found.get(definition.id) ?? {};
        return numbers === null && histograms === null ? [] : [seriesSamples(definition, numbers, histograms)];
      })
    );
  }

  /** Both statements run at once, and are read together. */
  async *#many(series: AsyncIterable<Definition>, selected: Selected, options: QueryOptions): AsyncGenerator<SeriesSamples> {
    const numbers = new Numbers((ids, byArrival) => {
      const statement = this.#rows(NUMBERS, selected, byArrival ? BY_ARRIVAL : BY_TIME, ids);
      return new SampleBlocks(this.#store.bytes(statement, { ...options, isNative: true }));
    });
    const histograms = new SampleRows(this.#store.bytes(this.#rows(HISTOGRAMS, selected, BY_ARRIVAL), options));
    try {
      for await (const definition of series) {
        const [own, native] = [await numbers.of(definition.id), await histograms.of(definition.id)];
        if (own !== null || native !== null) yield seriesSamples(definition, own, native);
      }
    } finally {
      await Promise.allSettled([numbers.end(), histograms.end()]);
    }
  }

  /** Definitions in the order of ids, each once: the latest row of one. */
  async *#series(where: Sql, options: QueryOptions): AsyncGenerator<Definition> {
    const statement = sql`SELECT toString(series), mapKeys(labels), mapValues(labels), kind, is_delta FROM series WHERE ${where} ORDER BY series, last DESC LIMIT 1 BY series`;
    for await (const rows of this.#store.query(statement, options))
      for (const [id, names, values, kind, isDelta] of rows) {
        const labels = new Map((names as string[]).map((name, index) => [name, (values as string[])[index] ?? '']));
        yield { id: BigInt(String(id)), labels, kind: String(kind), isDelta: Number(isDelta) === 1 };
      }
  }

  #rows(type: number, selected: Selected, order: Sql, more: readonly Sql[] = []): Sql {
    const conditions = conjunction([sql`type = ${uint8(type)}`, ...this.#conditions(selected), ...more]);
    const columns = type === HISTOGRAMS ? sql`${NUMBER_COLUMNS}, payload` : NUMBER_COLUMNS;
    return sql`SELECT ${columns} FROM samples WHERE ${conditions} ORDER BY ${order}`;
  }

  #conditions({ ids, from, to }: Selected): readonly Sql[] {
    return [
      ofTenant(this.#options.tenantId),
      sql`series IN ${ids}`,
      sql`time >= fromUnixTimestamp64Milli(${int64(Math.ceil(clamped(from)))}, 'UTC')`,
      sql`time <= fromUnixTimestamp64Milli(${int64(Math.floor(clamped(to)))}, 'UTC')`,
    ];
  }
}

/** The first items, at most `most`, and whether these are all. */
async function firstOf<Item>(items: AsyncGenerator<Item>, most: number): Promise<readonly [Item[], boolean]> {
  const first: Item[] = [];
  while (first.length <= most) {
    const next = await items.next();
    if (next.done === true) return [first, true];
    first.push(next.value);
  }
  return [first, false];
}

async function* following<Item>(first: readonly Item[], rest: AsyncGenerator<Item>): AsyncGenerator<Item> {
  yield* first;
  yield* rest;
}

/** Within what a DateTime64 holds. */
const clamped = (time: number): number => Math.min(9_223_372_036_000, Math.max(-2_208_988_800_000, time));

const seriesSamples = (definition: Definition, numbers: Samples | null, histograms: Samples | null): SeriesSamples => ({
  ...definition,
  timestamps: numbers?.times ?? NO_SAMPLES,
  values: numbers?.values ?? NO_SAMPLES,
  histograms:
    histograms === null ? NO_HISTOGRAMS : { timestamps: histograms.times, sums: histograms.values, payloads: histograms.payloads },
});
