import { CutOff, type ByteReader, type ByteWriter } from '../../core/snapshot-bytes.ts';
import { IS_CLOSED, OF_EDGE, OF_OPERATION, OTHER, type SpanCount } from '../../counters/span-counts.ts';
import { mostOf, type Bounds } from '../base/bounds.ts';
import { GroupTable } from '../base/group-table.ts';
import type { Closed, Segment } from '../base/segments.ts';
import { MINUTE_SECONDS } from '../base/spans.ts';
import { binOf, Cells, classOf, detailOf, isErrorOf, kindOf, MOST_DETAIL, scopeOf, spanKindOf, Words } from './cells.ts';

const [KIB, MIB] = [1024, 1024 * 1024];
/** Bytes that a segment holds of services, operations, minutes and bins. What is beyond counts as `OTHER`. */
export const HELD: Bounds = { most: 6 * MIB, ofTenant: 4 * MIB, few: 32 * KIB, last: 8 * MIB };
/** What a cell takes, and a word beside its bytes. */
const CELL_BYTES = 64;
const MOST = 0xffff_ffff;

/** Where a row lies: the members that all rows of a segment share. */
export type SpanSegmentKey = Pick<SpanCount, 'partition' | 'span' | 'segment' | 'until' | 'run'>;

/** A row while it is added up. */
type Row = { -readonly [Member in keyof SpanCount]: SpanCount[Member] };

/** What a segment of a partition has counted so far. */
export class SpanSegment implements Segment {
  readonly from: number;
  readonly since: number;
  readonly #cells = new Cells();
  /** Services and operations, a character for each byte. */
  readonly #words = new Words();
  /** What each tenant holds, and all of them, in bytes, about. */
  readonly #held = new Map<number, number>();
  #all = 0;

  constructor(from: number, since: number) {
    this.from = from;
    this.since = since;
  }

  /** How much it holds. Bytes, about. */
  get held(): number {
    return this.#all;
  }

  /** Adds cells by minute, by spans of `minutes` minutes. */
  add({ table, last, services, others }: Cells, minutes: number): void {
    const { table: known } = this.#cells;
    // each word is looked up once, not for each of its cells; one that is new becomes known with its first cell
    const [ofService, ofOther] = [services.texts.map((text) => this.#words.find(text)), others.texts.map((text) => this.#words.find(text))];
    for (let cell = 0; cell < table.size; cell++) {
      const [tenant, kind, detail] = [table.tenant(cell), table.kind(cell), table.level(cell)];
      const [high, low] = [table.high(cell), table.low(cell)];
      const time = Math.floor(table.time(cell) / minutes);
      const [serviceWord, otherWord] = [ofService[high] as number, ofOther[low] as number];
      let own = serviceWord < 0 || otherWord < 0 ? -1 : known.find(tenant, kind, serviceWord, otherWord, time, detail);
      if (own < 0) {
        const [service, other] = [services.texts[high] as string, others.texts[low] as string];
        own = this.#place({ tenant, kind, service, other, time, detail }, minutes);
        if (serviceWord < 0) ofService[high] = this.#words.find(service);
        if (otherWord < 0) ofOther[low] = this.#words.find(other);
      }
      this.#cells.add(own, table.entries(cell), table.bytes(cell), last[cell] as number);
    }
  }

  /** Its rows, and behind them that all of each tenant are there. */
  rows(key: SpanSegmentKey, minutes: number, { closedAt, lastAt }: Pick<Closed<unknown>, 'closedAt' | 'lastAt'>): SpanCount[] {
    const { table, last } = this.#cells;
    const words = this.#words.texts.map((text) => Buffer.from(text, 'latin1').toString());
    const groups = new GroupTable();
    const tenants = new GroupTable();
    const rows: Row[] = [];
    const bins: Map<number, number>[] = [];
    for (let cell = 0; cell < table.size; cell++) {
      const [tenant, kind, detail] = [table.tenant(cell), table.kind(cell), table.level(cell)];
      const group = groups.at(tenant, kind, table.high(cell), table.low(cell), table.time(cell), spanKindOf(detail));
      let row = rows[group];
      if (row === undefined) {
        const [scope, retentionDays, time] = [scopeOf(kind), classOf(kind), table.time(cell) * minutes * MINUTE_SECONDS];
        const [service, other] = [words[table.high(cell)] as string, words[table.low(cell)] as string];
        const [operation, caller] = [scope === OF_OPERATION ? other : '', scope === OF_EDGE ? other : ''];
        rows[group] = row = {
          ...EMPTY,
          ...key,
          tenantId: tenant,
          retentionDays,
          scope,
          time,
          service,
          operation,
          caller,
          kind: spanKindOf(detail),
        };
        bins[group] = new Map();
        tenants.at(tenant, retentionDays, 0, 0, 0, 0);
      }
      const spans = table.entries(cell);
      row.spans += spans;
      if (isErrorOf(detail)) row.errors += spans;
      row.duration += table.bytes(cell);
      row.last = Math.max(row.last, last[cell] as number);
      const own = bins[group] as Map<number, number>;
      own.set(binOf(detail), (own.get(binOf(detail)) ?? 0) + spans);
    }
    rows.forEach((row, group) => {
      row.durations = [...(bins[group] as Map<number, number>)].sort(([one], [other]) => one - other);
    });
    const closing = Array.from({ length: tenants.size }, (_none, at): SpanCount => {
      const closed = { tenantId: tenants.tenant(at), retentionDays: tenants.kind(at), scope: IS_CLOSED };
      return { ...EMPTY, ...key, ...closed, time: Math.floor(closedAt / 1000), last: Math.floor(lastAt / 1000) };
    });
    return [...rows, ...closing];
  }

  write(to: ByteWriter): void {
    const { table, last } = this.#cells;
    for (const number of [this.from, this.since, this.#words.texts.length]) to.count(number);
    for (const text of this.#words.texts) to.text(text);
    to.count(this.#held.size);
    for (const [tenant, held] of this.#held) for (const number of [tenant, held]) to.count(number);
    to.count(table.size);
    for (let cell = 0; cell < table.size; cell++) {
      for (const number of [table.tenant(cell), table.kind(cell), table.high(cell), table.low(cell)]) to.count(number);
      to.signed(table.time(cell));
      for (const number of [table.level(cell), table.entries(cell)]) to.count(number);
      to.float(table.bytes(cell));
      to.float(last[cell] as number);
    }
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader): SpanSegment {
    const segment = new SpanSegment(from.count(), from.count());
    const words = from.count(MOST);
    for (let word = 0; word < words; word++) {
      if (segment.#words.at(from.text()) !== word) throw new CutOff();
    }
    for (let left = from.count(MOST); left > 0; left--) {
      const [tenant, held] = [from.count(MOST), from.count()];
      segment.#held.set(tenant, held);
      segment.#all += held;
    }
    const cells = from.count(MOST);
    for (let cell = 0; cell < cells; cell++) {
      const [tenant, kind] = [from.count(MOST), from.count(kindOf(0xffff, IS_CLOSED))];
      const [service, other] = [from.count(words - 1), from.count(words - 1)];
      const own = segment.#cells.table.at(tenant, kind, service, other, from.signed(), from.count(MOST_DETAIL));
      if (own !== cell) throw new CutOff();
      segment.#cells.add(own, from.count(), from.float(), from.float());
    }
    return segment;
  }

  /** The number of a cell; that of what is too much where it would be a new one, and its tenant holds too much already. */
  #place(one: Cell, minutes: number): number {
    const { tenant, kind, time, detail } = one;
    const [service, other] = [this.#words.find(one.service), this.#words.find(one.other)];
    const known = service < 0 || other < 0 ? -1 : this.#cells.table.find(tenant, kind, service, other, time, detail);
    if (known >= 0) return known;
    const size = CELL_BYTES + (service < 0 ? CELL_BYTES + one.service.length : 0) + (other < 0 ? CELL_BYTES + one.other.length : 0);
    const held = this.#held.get(tenant) ?? 0;
    if (held + size > mostOf(held, this.#all, HELD)) return this.#overflow(one, minutes);
    this.#held.set(tenant, held + size);
    this.#all += size;
    return this.#at(one);
  }

  /** All of a tenant, class and scope that is too much is one operation or edge of one span of time: some thousand cells at most. */
  #overflow({ tenant, kind, detail }: Cell, minutes: number): number {
    const time = Math.floor(this.since / 1000 / MINUTE_SECONDS / minutes);
    return this.#at({ tenant, kind, service: OTHER, other: OTHER, time, detail: detailOf(0, binOf(detail), isErrorOf(detail)) });
  }

  #at({ tenant, kind, service, other, time, detail }: Cell): number {
    return this.#cells.table.at(tenant, kind, this.#words.at(service), this.#words.at(other), time, detail);
  }
}

type Cell = {
  readonly tenant: number;
  readonly kind: number;
  readonly service: string;
  readonly other: string;
  readonly time: number;
  readonly detail: number;
};

const EMPTY = {
  ...{ service: '', operation: '', caller: '', kind: 0 },
  ...{ spans: 0, errors: 0, duration: 0, last: -2_208_988_800, durations: [] },
};
