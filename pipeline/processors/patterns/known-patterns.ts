import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import { CutOff } from '../../core/snapshot-bytes.ts';
import { GroupTable } from '../base/group-table.ts';

/** Patterns that a partition knows of one tenant, and of all; others are not reported, and are the overflow then. */
const MOST_OF_TENANT = 50_000;
const MOST = 200_000;
/** New patterns of a tenant that a partition reports in an hour; those beyond are reported in a later one. */
const MOST_NEW = 10_000;
const HOURS = 24;

/** The patterns that a partition has reported, by tenant. */
export class KnownPatterns {
  #table = new GroupTable();
  /** By place: the day (since 1970, by append time) on which it was reported last, and the earliest time reported, milliseconds. */
  #publishedDay: number[] = [];
  #first: number[] = [];
  #sizes = new Map<number, number>();
  /** The hour of the last pattern that was reported as a new one, and how many were in it, by tenant. */
  #hour = 0;
  #news = new Map<number, number>();
  readonly #mostOfTenant: number;
  readonly #mostNew: number;

  constructor(mostOfTenant = MOST_OF_TENANT, mostNew = MOST_NEW) {
    this.#mostOfTenant = mostOfTenant;
    this.#mostNew = mostNew;
  }

  get size(): number {
    return this.#table.size;
  }

  /**
   * True where a pattern with an entry in an hour (since 1970, by append time) is to be reported: it is new, or new on this day, or its
   * entry is earlier than all. It counts as reported then.
   */
  report(tenant: number, high: number, low: number, hour: number, first: number): boolean {
    const day = Math.floor(hour / HOURS);
    const place = this.#table.find(tenant, 0, high, low, 0, 0);
    if (place < 0) {
      if (this.size >= MOST || (this.#sizes.get(tenant) ?? 0) >= this.#mostOfTenant || !this.#mayTake(tenant, hour)) return false;
      this.#add(tenant, high, low, day, first);
      return true;
    }
    const isPublished = this.#publishedDay[place] === day && first >= (this.#first[place] as number);
    this.#publishedDay[place] = day;
    this.#first[place] = Math.min(first, this.#first[place] as number);
    return !isPublished;
  }

  /** Whether one more new pattern of a tenant may be reported in this hour; it is counted then. */
  #mayTake(tenant: number, hour: number): boolean {
    if (hour !== this.#hour) {
      this.#hour = hour;
      this.#news.clear();
    }
    const news = this.#news.get(tenant) ?? 0;
    if (news >= this.#mostNew) return false;
    this.#news.set(tenant, news + 1);
    return true;
  }

  /** Forgets those that did not come on this day or the one before; they are reported as new ones when they come back. */
  forget(day: number): void {
    if (!this.#publishedDay.some((published) => published < day - 1)) return;
    const [table, publishedDay, first] = [this.#table, this.#publishedDay, this.#first];
    this.#table = new GroupTable();
    this.#publishedDay = [];
    this.#first = [];
    this.#sizes = new Map();
    for (let place = 0; place < table.size; place++) {
      const published = publishedDay[place] as number;
      if (published >= day - 1) this.#add(table.tenant(place), table.high(place), table.low(place), published, first[place] as number);
    }
  }

  write(to: ByteWriter): void {
    for (const number of [this.#hour, this.#news.size, ...[...this.#news].flat()]) to.count(number);
    to.count(this.size);
    for (let place = 0; place < this.size; place++) {
      to.count(this.#table.tenant(place));
      to.word(this.#table.high(place));
      to.word(this.#table.low(place));
      to.signed(this.#publishedDay[place] as number);
      to.count(this.#first[place] as number);
    }
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader): KnownPatterns {
    const read = new KnownPatterns();
    read.#hour = from.count();
    for (let left = from.count(0xffff_ffff); left > 0; left--) read.#news.set(from.count(0xffff_ffff), from.count());
    for (let left = from.count(MOST); left > 0; left--) {
      const size = read.size;
      read.#add(from.count(0xffff_ffff), from.word(), from.word(), from.signed(), from.count());
      if (read.size === size) throw new CutOff();
    }
    return read;
  }

  #add(tenant: number, high: number, low: number, day: number, first: number): void {
    const place = this.#table.at(tenant, 0, high, low, 0, 0);
    this.#publishedDay[place] = day;
    this.#first[place] = first;
    this.#sizes.set(tenant, (this.#sizes.get(tenant) ?? 0) + 1);
  }
}
