import { conjunction, int64, ofTenant, sql, uint32, uint64s, uint8, type Sql } from '../../pipeline/core/sql.ts';
import type { QueryOptions, Row, Store } from '../../pipeline/store/client.ts';
import { FewGuesses } from './few-guesses.ts';
import { fewSamples, type Own } from './few-samples.ts';
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
/** Of so many series all definitions are held, and their ids are named to the statements of their samples. */
const KNOWN = 250;
/** Where a row of definitions has the day on which it was written. */
const LAST = 4;
/** So many, and of all of them together so many milliseconds, are read in one statement. */
const FEW = 16;
const FEW_MS = 20 * 86_400_000;
/** Times of a shorter window are four bytes each, milliseconds since its start. */
const SHORT_MS = 2 ** 32;
/** All that is asked for is read: what comes next is read and sorted meanwhile, which takes a quarter off the time of many series. */
const AHEAD = { read_in_order_use_buffering: 1 };
/** From when to when: whole milliseconds. */
type Window = { readonly from: number; readonly to: number };
/** Which series, as a set. */
type Selected = Window & { readonly ids: Sql };
type Definition = Pick<SeriesSamples, 'id' | 'labels' | 'kind' | 'isDelta'>;
const OF_THIS_PROCESS = new FewGuesses();
const NO_SAMPLES = new Float64Array(0);
const NO_HISTOGRAMS: Histograms = { timestamps: NO_SAMPLES, sums: NO_SAMPLES, payloads: [] };

/** Samples of a tenant in ClickHouse. `from` is never before the plan's retention: `floor`, milliseconds; null keeps for ever. */
export class StoredSamples implements SampleSource {
  readonly #store: Pick<Store, 'query' | 'rows' | 'bytes'>;
  readonly #options: QueryOptions;
  readonly #floor: number;
  readonly #guesses: FewGuesses;

  /** `guesses`: those of a process. */
  constructor(
    store: Pick<Store, 'query' | 'rows' | 'bytes'>,
    options: QueryOptions,
    floor: number | null,
    guesses: FewGuesses = OF_THIS_PROCESS,
  ) {
    this.#guesses = guesses;
    this.#store = store;
    this.#options = options;
    this.#floor = floor ?? -Infinity;
  }

  async *select(matchers: readonly Matcher[], start: number, to: number): AsyncGenerator<SeriesSamples> {
    const from = Math.max(start, this.#floor);
    const where = seriesWhere(this.#options.tenantId, matchers, from);
    const selection = JSON.stringify([this.#options.tenantId, matchers]);
    const stop = new AbortController();
    const { signal } = this.#options;
    const options = { ...this.#options, signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]) };
    let isWhole = false;
    try {
      const window = { from: Math.ceil(clamped(from)), to: Math.floor(clamped(to)) };
      const guess = this.#guesses.of(selection);
      const ahead = guess === null || !isFew(guess, window) ? null : this.#few(guess, window, options);
      ahead?.catch(() => undefined);
      const known = await this.#known(where, options);
      const ids = known?.map(({ id }) => id) ?? null;
      const isRight = ids !== null && ahead !== null && isSame(guess, ids);
      if (!isRight) await Promise.allSettled([ahead]);
      const few = ids === null || !isFew(ids, window) ? null : await (isRight ? ahead : this.#few(ids, window, options));
      this.#guesses.keep(selection, few === null ? null : ids);
      if (few !== null) yield* seriesOf(known ?? [], few);
      else {
        // to look for them again costs each statement more than a list of them
        const set = ids === null ? sql`(SELECT series FROM series WHERE ${where})` : sql`${uint64s(ids)}`;
        yield* this.#many(known ?? this.#series(where, options), { ids: set, ...window }, options);
      }
      isWhole = true;
    } finally {
      if (!isWhole) stop.abort();
    }
  }

  /** The samples of few series in one statement; null where they are too many to be held. */
  async #few(ids: readonly bigint[], window: Window, options: QueryOptions): Promise<ReadonlyMap<bigint, Own> | null> {
    if (ids.length === 0) return new Map();
    const conditions = conjunction([sql`type IN (0, 1)`, ...this.#conditions({ ids: sql`${uint64s(ids)}`, ...window })]);
    const statement = sql`SELECT type, ${NUMBER_COLUMNS}, payload FROM samples WHERE ${conditions} ORDER BY type, ${BY_ARRIVAL}`;
    return fewSamples(this.#store.bytes(statement, { ...options, isNative: true }));
  }

  /** Both statements run at once, and are read together. */
  async *#many(
    series: AsyncIterable<Definition> | Iterable<Definition>,
    selected: Selected,
    options: QueryOptions,
  ): AsyncGenerator<SeriesSamples> {
    const numbers = new Numbers((ids, byArrival) => {
      const statement = this.#rows(NUMBERS, selected, byArrival ? BY_ARRIVAL : BY_TIME, ids);
      const settings = { ...options.settings, ...AHEAD };
      return new SampleBlocks(this.#store.bytes(statement, { ...options, settings, isNative: true }), selected.from);
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

  /** All definitions as `#series` gives them; null where there are many. It costs less to sort them here, and to take the latest row of each. */
  async #known(where: Sql, options: QueryOptions): Promise<Definition[] | null> {
    const statement = sql`SELECT series, labels, kind, is_delta, last FROM series WHERE ${where} LIMIT ${uint32(KNOWN + 1)}`;
    const rows = await this.#store.rows(statement, options);
    if (rows.length > KNOWN) return null;
    const latest = new Map<bigint, { readonly definition: Definition; readonly last: string }>();
    for (const row of rows) {
      const [definition, last] = [definitionOf(row), String(row[LAST])];
      if (last > (latest.get(definition.id)?.last ?? '')) latest.set(definition.id, { definition, last });
    }
    return [...latest.values()].map(({ definition }) => definition).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Definitions in the order of ids, each once: the latest row of one. */
  async *#series(where: Sql, options: QueryOptions): AsyncGenerator<Definition> {
    const statement = sql`SELECT series, labels, kind, is_delta FROM series WHERE ${where} ORDER BY series, last DESC LIMIT 1 BY series`;
    for await (const rows of this.#store.query(statement, options)) yield* rows.map(definitionOf);
  }

  #rows(type: number, selected: Selected, order: Sql, more: readonly Sql[] = []): Sql {
    const conditions = conjunction([sql`type = ${uint8(type)}`, ...this.#conditions(selected), ...more]);
    const columns = type === HISTOGRAMS ? sql`${NUMBER_COLUMNS}, payload` : blockColumns(selected);
    return sql`SELECT ${columns} FROM samples WHERE ${conditions} ORDER BY ${order}`;
  }

  #conditions({ ids, from, to }: Selected): readonly Sql[] {
    return [
      ofTenant(this.#options.tenantId),
      sql`series IN ${ids}`,
      sql`time >= fromUnixTimestamp64Milli(${int64(from)}, 'UTC')`,
      sql`time <= fromUnixTimestamp64Milli(${int64(to)}, 'UTC')`,
    ];
  }
}

const definitionOf = ([id, labels, kind, isDelta]: Row): Definition => ({
  id: BigInt(String(id)),
  labels: new Map(Object.entries(labels as Readonly<Record<string, string>>)),
  kind: String(kind),
  isDelta: Number(isDelta) === 1,
});

/** Those that have samples. */
const seriesOf = (definitions: readonly Definition[], samples: ReadonlyMap<bigint, Own>): SeriesSamples[] =>
  definitions.flatMap((definition) => {
    const { numbers = null, histograms = null } = samples.get(definition.id) ?? {};
    return numbers === null && histograms === null ? [] : [seriesSamples(definition, numbers, histograms)];
  });

const isFew = (ids: readonly bigint[], { from, to }: Window): boolean => ids.length <= FEW && ids.length * (to - from) <= FEW_MS;

const isSame = (one: readonly bigint[] | null, other: readonly bigint[]): boolean =>
  one?.length === other.length && one.every((id, at) => id === other[at]);

/** What `SampleBlocks` reads. */
const blockColumns = ({ from, to }: Window): Sql =>
  to - from < SHORT_MS ? sql`series, toUInt32(toUnixTimestamp64Milli(time) - ${int64(from)}), value` : NUMBER_COLUMNS;

/** Within what a DateTime64 holds. */
const clamped = (time: number): number => Math.min(9_223_372_036_000, Math.max(-2_208_988_800_000, time));

const seriesSamples = (definition: Definition, numbers: Samples | null, histograms: Samples | null): SeriesSamples => ({
  ...definition,
  timestamps: numbers?.times ?? NO_SAMPLES,
  values: numbers?.values ?? NO_SAMPLES,
  histograms:
    histograms === null ? NO_HISTOGRAMS : { timestamps: histograms.times, sums: histograms.values, payloads: histograms.payloads },
});
