import { expect } from 'chai';
import type { KafkaMessage } from '../../../../pipeline/bus/connection/kafka.ts';
import { inputOf } from '../../../../pipeline/processors/base/input.ts';
import type { PartialOutput } from '../../../../pipeline/processors/base/partial.ts';
import { encodeRates, readRates, rates } from '../../../../pipeline/processors/rates/rates.ts';
import { logMessage, tickMessage } from '../inputs.ts';
import { NOW } from '../logs.ts';

const MINUTE_MS = 60_000;
const PRESENT = Math.floor(NOW / MINUTE_MS);

type Entry = { readonly app: string; readonly minute?: number; readonly level?: string };

/** A partition, and what it has told. */
class Partition {
  #state = rates.init();
  #offset = 0;
  readonly told: PartialOutput[] = [];

  send(entries: readonly Entry[], at = NOW, tenantId = 1): void {
    const rows = entries.map(({ app, minute = PRESENT, level = 'info' }) => ({ _time: new Date(minute * MINUTE_MS).toISOString(), _msg: 'x', app, level })); // prettier-ignore
    for (let from = 0; from < rows.length; from += 5000)
      this.#take(logMessage(rows.slice(from, from + 5000), { offset: this.#offset++, appendedAt: at, tenantId }));
  }

  tick(at: number): void {
    this.#take(tickMessage(this.#offset++, at));
  }

  restart(): void {
    const restored = rates.restore(rates.snapshot(this.#state));
    if (restored === null) throw new Error('The snapshot cannot be read.');
    this.#state = restored;
  }

  /** Bytes of a snapshot. */
  get bytes(): number {
    return rates.snapshot(this.#state).length;
  }

  /** What was told since the last look: [label set, minute, entries, errors], sorted; and how many partials it took. */
  look(): { readonly rows: readonly (readonly [string, number, number, number])[]; readonly partials: number } {
    const told = this.told.splice(0);
    const rows = told.flatMap(({ value }) => {
      const read = readRates(value);
      if (read === null) throw new Error('A partial cannot be read.');
      return read.ids.flatMap((id, index) =>
        read.minutes.slice(read.ends[index - 1] ?? 0, read.ends[index]).map((minute, row) => {
          const at = (read.ends[index - 1] ?? 0) + row;
          return [read.streams[index] ?? `known ${String(id.length)}`, minute - PRESENT, read.entries[at], read.errors[at]] as [string, number, number, number]; // prettier-ignore
        }),
      );
    });
    return { rows: rows.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] - b[1])), partials: told.length };
  }

  #take(message: KafkaMessage): void {
    this.told.push(...(rates.fold(this.#state, inputOf(0, message)) as PartialOutput[]));
  }
}

const many = (count: number, length = 8): Entry[] =>
  Array.from({ length: count }, (_none, index) => ({ app: String(index).padStart(length, '0') }));

describe('rates', () => {
  it('tells entries and errors by stream and minute each ten seconds, the label set once an hour', () => {
    const partition = new Partition();
    partition.send([{ app: 'a' }, { app: 'b', level: 'ERROR' }, { app: 'a', level: 'fatal' }, { app: 'a', minute: PRESENT - 3 }, { app: 'b', level: 'odd' }]); // prettier-ignore
    expect(partition.look()).to.deep.equal({ rows: [], partials: 0 });
    partition.tick(NOW + 10_000);
    expect(partition.look().rows).to.deep.equal([
      ['{app="a"}', -3, 1, 0],
      ['{app="a"}', 0, 2, 1],
      ['{app="b"}', 0, 2, 1],
    ]);
    partition.send([{ app: 'a' }], NOW + 11_000);
    partition.restart();
    partition.send([{ app: 'a' }], NOW + 12_000);
    partition.tick(NOW + 21_000);
    expect(partition.look().rows).to.deep.equal([['known 8', 0, 2, 0]]);
    partition.send([{ app: 'a' }], NOW + 3_600_000);
    partition.tick(NOW + 3_610_000);
    expect(partition.look().rows).to.deep.equal([['{app="a"}', 0, 1, 0]]);
  });

  it('says of a tenant of whom nothing comes that nothing came, each minute for two hours', () => {
    const partition = new Partition();
    partition.send([{ app: 'a' }]);
    let partials = 0;
    for (let at = NOW + 10_000; at < NOW + 4 * 3_600_000; at += 10_000) {
      partition.tick(at);
      partials += partition.look().partials;
    }
    expect(partials).to.be.within(119, 122);
  });

  it('leaves out what is older than 15 days or newer than an hour', () => {
    const partition = new Partition();
    partition.send([-15 * 1440 - 1, -15 * 1440, 60, 61].map((ago) => ({ app: 'a', minute: PRESENT + ago })));
    partition.tick(NOW + 10_000);
    expect(partition.look().rows.map(([, minute]) => minute)).to.deep.equal([-15 * 1440, 60]);
  });

  it('counts streams beyond ten thousand of a tenant together, and those with a huge label set, and none twice', () => {
    const partition = new Partition();
    partition.send([{ app: 'x'.repeat(2000) }, ...many(10_500)]);
    partition.send(many(10_500));
    partition.send(many(25_000));
    partition.restart();
    partition.tick(NOW + 10_000);
    const { rows } = partition.look();
    expect(rows.length).to.equal(10_001);
    expect(rows.reduce((sum, [, , entries]) => sum + entries, 0)).to.equal(1 + 10_500 + 10_500 + 25_000);
    expect(rows.find(([stream]) => stream === '{}')?.[2]).to.be.above(10_500);
    const other = new Partition();
    other.send([{ app: 'mine' }], NOW, 2);
    other.tick(NOW + 10_000);
    expect(other.look().rows).to.deep.equal([['{app="mine"}', 0, 1, 0]]);
  }).timeout(60_000);

  it('knows label sets as far as there is room for them, and counts the streams beyond it together', () => {
    const partition = new Partition();
    const all = many(5000, 1900);
    for (let tenantId = 1; tenantId <= 8; tenantId++)
      for (let from = 0; from < all.length; from += 250) partition.send(all.slice(from, from + 250), NOW, tenantId);
    partition.send([{ app: 'mine' }], NOW, 9);
    expect(partition.bytes).to.be.below(32e6);
    partition.restart();
    partition.tick(NOW + 10_000);
    const { rows } = partition.look();
    // 4 MiB of a tenant, 24 MiB of all
    expect(rows.length).to.be.within(12_000, 14_000);
    expect(rows.reduce((sum, [, , entries]) => sum + entries, 0)).to.equal(8 * 5000 + 1);
    expect(rows.filter(([stream]) => stream === '{app="mine"}').length).to.equal(1);
  }).timeout(60_000);

  it('tells what is too much for one partial in several, and much at once', () => {
    const partition = new Partition();
    partition.send(many(3000, 200));
    partition.tick(NOW + 10_000);
    const { rows, partials } = partition.look();
    expect(rows.length).to.equal(3000);
    expect(partials).to.be.above(4);
    const full = new Partition();
    // more groups than are held before they are told
    for (let ago = 0; ago < 6; ago++) full.send(many(9000).map((entry) => ({ ...entry, minute: PRESENT - ago })));
    expect(full.look().rows.length).to.equal(50_000);
  }).timeout(60_000);
});

describe('a partial of rates', () => {
  it('is read as it was written', () => {
    const streams = [
      { id: '12345678', stream: '{app="ü"}', minutes: [{ minute: 5, bySeverity: [1, 0, 0, 2, 0, 3, 4] }, { minute: 9, bySeverity: [0, 0, 0, 2 ** 40, 0, 0, 0] }] },
      { id: '', stream: null, minutes: [] },
    ]; // prettier-ignore
    expect(readRates(encodeRates(streams))).to.deep.equal({
      ...{ ids: ['12345678', ''], streams: ['{app="ü"}', null], ends: [2, 2] },
      ...{ minutes: [5, 9], entries: [10, 2 ** 40], errors: [7, 0] },
    });
    expect(readRates(encodeRates([]))?.ids).to.deep.equal([]);
  });

  it('is none where its bytes are others', () => {
    const value = encodeRates([{ id: '12345678', stream: '{app="a"}', minutes: [{ minute: 5, bySeverity: [1, 0, 0, 0, 0, 0, 0] }] }]);
    for (let end = 0; end < value.length; end++) expect(readRates(value.subarray(0, end))).to.equal(null);
    expect(readRates(Buffer.concat([value, Buffer.from([0])]))).to.equal(null);
    expect(readRates(Buffer.from([9, ...value.subarray(1)]))).to.equal(null);
    expect(readRates(Buffer.from([1, 255, 255, 255, 255, 255, 255, 127]))).to.equal(null);
  });
});
