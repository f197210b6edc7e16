import { ClickHouseError } from '@clickhouse/client';
import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { SetWatch, type SetPlace, type WatchedSet } from '../../../pipeline/store/set-watch.ts';
import { until } from '../../e2e/instance.ts';

const FILES = readdirSync(path.join(import.meta.dirname, '../../../pipeline/store/schema')).map((name) => Number(name.slice(0, 3)));
const refused = (): Promise<never> => Promise.reject(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }));

/** A ClickHouse that a set is in. */
class FakeStore {
  isUp = true;
  files: readonly number[] = FILES;
  /** When its tables were made, seconds. */
  made = 1_000_000;
  /** Tables that show rows without a tenant. */
  open: readonly string[] = [];
  denied: readonly string[] = [];
  /** It answers nothing that the reader asks. */
  isSilent = false;
  pings = 0;

  ping(): Promise<boolean> {
    this.pings += 1;
    return Promise.resolve(this.isUp);
  }

  ownerRows(): Promise<unknown[][]> {
    return this.isUp ? Promise.resolve(this.files.map((number) => [number, this.made])) : refused();
  }

  rows({ strings }: { readonly strings: readonly string[] }): Promise<unknown[][]> {
    if (!this.isUp || this.isSilent) return refused();
    const table = /FROM (\w+)/.exec(strings.join(''))?.[1] ?? '';
    if (this.denied.includes(table)) return Promise.reject(new ClickHouseError({ message: 'no', code: '497', type: 'ACCESS_DENIED' }));
    return Promise.resolve(this.open.includes(table) ? [[1]] : []);
  }
}

describe('the watch over sets', () => {
  let [a, b] = [new FakeStore(), new FakeStore()];
  let places: Record<string, SetPlace>;
  /** What is wrong with the servers of a set. */
  let strange: Record<string, string>;
  let watch: SetWatch;
  const open = async (more: Partial<WatchedSet> = {}, policiesEveryMs = 1): Promise<void> => {
    const setOf = (name: string, store: FakeStore): WatchedSet => ({
      name,
      store,
      hasReader: true,
      isWhole: false,
      serversFault: () => Promise.resolve(strange[name] ?? null),
    });
    watch = new SetWatch({
      sets: [setOf('a', a), { ...setOf('b', b), ...more }],
      places: () => Promise.resolve(new Map(Object.entries(places))),
      log: pino({ level: 'silent' }),
      ...{ everyMs: 1, placesEveryMs: 1, policiesEveryMs },
    });
    await watch.start();
  };
  const ready = (): string => watch.ready.join(' ');
  const becomes = (order: string): Promise<string> => until(order, () => Promise.resolve(ready()), (now) => now === order); // prettier-ignore
  beforeEach(() => {
    [a, b] = [new FakeStore(), new FakeStore()];
    places = { a: { behindMs: 0, missed: null }, b: { behindMs: 0, missed: null } };
    strange = {};
  });
  afterEach(() => watch.stop());

  it('has no set serve before it was looked at, and every set when the start is through', async () => {
    const opening = open();
    expect(ready()).to.equal('');
    await opening;
    expect(ready()).to.equal('a b');
    expect(watch.warning).to.equal(null);
  });

  it('takes out a set that does not answer twice, and back one that is well again', async () => {
    await open();
    a.isUp = false;
    await becomes('b');
    expect(watch.warning).to.equal('The set a does not serve: it is unavailable.');
    a.isUp = true;
    await becomes('b a');
    expect(watch.warning).to.equal(null);
  });

  it('looks at once at a set that a request found unavailable, and tells who waits for it', async () => {
    await open();
    let lost = '';
    watch.whenLost('a', () => (lost += 'a'));
    watch.whenLost('b', () => (lost += 'b'))();
    watch.suspect('a');
    watch.suspect('none');
    await until('the look', () => Promise.resolve(a.pings), (pings) => pings > 2); // prettier-ignore
    expect([ready(), lost], 'it answers').to.deep.equal(['a b', '']);
    a.isUp = b.isUp = false;
    watch.suspect('a');
    await becomes('');
    expect(lost).to.equal('a');
  });

  it('takes out a set whose row policy is dropped', async () => {
    await open();
    b.open = ['spans', 'logs'];
    await becomes('a');
    expect(watch.warning).to.equal('The set b does not serve: it has no row policy on logs, spans, and would show rows of all tenants.');
    b.open = [];
    await becomes('a b');
  });

  it('takes out a set that is in other servers than its rows, whatever tables these have', async () => {
    strange['b'] = 'is in another server';
    b.files = [];
    await open();
    expect([ready(), watch.warning]).to.deep.equal(['a', 'The set b does not serve: it is in another server.']);
    b.files = FILES;
    strange = {};
    await becomes('a b');
    strange['a'] = 'is in another server';
    await becomes('b');
  });

  it('looks at row policies when a set has been unavailable, whenever that is', async () => {
    await open({}, 1_000_000);
    b.open = ['logs'];
    b.isUp = false;
    await becomes('a');
    b.isUp = true;
    await until('the reason', () => Promise.resolve(watch.warning), (warning) => warning?.includes('row policy') === true); // prettier-ignore
    expect(ready()).to.equal('a');
  });

  it('has a set serve on that is busy, but not for ever', async () => {
    await open({}, 20);
    b.isSilent = true;
    const before = b.pings;
    await until('looks', () => Promise.resolve(b.pings), (pings) => pings > before + 2); // prettier-ignore
    await becomes('a');
    expect(watch.warning).to.match(/^The set b does not serve: it did not show its row policies on logs, /);
    b.isSilent = false;
    await becomes('a b');
  });

  it('has a set serve whose reader lacks a table that it may not read', async () => {
    b.denied = ['spans'];
    await open();
    expect(ready()).to.equal('a b');
  });

  describe('of a set with shards', () => {
    let [one, other] = [new FakeStore(), new FakeStore()];
    let fault: string | null = null;
    beforeEach(() => {
      [one, other, fault] = [new FakeStore(), new FakeStore(), null];
    });
    const openShards = (): Promise<void> => open({ shards: { all: [one, other], fault: () => Promise.resolve(fault) } });

    it('takes it out where one does not answer', async () => {
      await openShards();
      expect(ready()).to.equal('a b');
      other.isUp = false;
      await becomes('a');
      expect(watch.warning).to.equal('The set b does not serve: it is unavailable.');
      other.isUp = true;
      await becomes('a b');
    });

    it('takes it out where one lacks a row policy, which it names, or where all together show rows', async () => {
      await openShards();
      other.open = ['logs'];
      await becomes('a');
      expect(watch.warning).to.contain('it has no row policy on logs in shard 2, and would show rows of all tenants');
      other.open = [];
      await becomes('a b');
      b.open = ['spans'];
      await becomes('a');
      expect(watch.warning).to.contain('it has no row policy on spans, and');
      b.open = [];
      await becomes('a b');
    });

    it('takes it out where one lacks tables, or they are no whole set', async () => {
      other.files = FILES.slice(1);
      await openShards();
      expect(watch.warning).to.contain('The set b does not serve: it lacks tables of this version');
      other.files = FILES;
      fault = 'is read through another cluster';
      await until('the reason', () => Promise.resolve(watch.warning), (warning) => warning?.includes('another cluster') === true); // prettier-ignore
      fault = null;
      await becomes('a b');
    });
  });

  it('has no set serve without a reader where another one has one', async () => {
    await open({ hasReader: false });
    expect(ready()).to.equal('a');
    expect(watch.warning).to.equal('The set b does not serve: it has no reader of its own, as another set has.');
  });

  it('has no set serve that lacks tables of this version', async () => {
    b.files = FILES.slice(0, -1);
    await open();
    expect(ready()).to.equal('a');
    expect(watch.warning).to.contain('it lacks tables of this version');
    b.files = FILES;
    await becomes('a b');
  });

  it('prefers a set that has all to one that was made later, or has missed records, unless an operator says otherwise', async () => {
    a.made += 3 * 86_400;
    places['b'] = { behindMs: 60_000, missed: null };
    await open();
    expect(ready()).to.equal('b a');
    expect(watch.warning).to.match(/^The set a serves only where no other does: it was made on 1970-01-15 and lacks what the log/);
    places['b'] = { behindMs: 0, missed: 'logs.v1' };
    await until('the hole', () => Promise.resolve(watch.warning), (warning) => warning?.includes('missed records of logs.v1') === true); // prettier-ignore
  });

  it('takes the word of an operator that a set made later has all', async () => {
    b.made += 3 * 86_400;
    await open({ isWhole: true });
    expect([ready(), watch.warning]).to.deep.equal(['a b', null]);
  });

  it('takes sets made within two days for equal', async () => {
    a.made += 2 * 86_400;
    await open();
    expect([ready(), watch.warning]).to.deep.equal(['a b', null]);
  });

  it('reads one after the other until a set answers', async () => {
    await open();
    const used: string[] = [];
    const answer = await watch.first((name) => {
      used.push(name);
      return name === 'a' ? refused() : Promise.resolve(name);
    });
    expect([answer, used]).to.deep.equal(['b', ['a', 'b']]);
    const wrong = await watch.first(() => Promise.reject(new Error('wrong'))).catch((error: unknown) => (error as Error).message);
    expect(wrong, 'no other set is asked what is wrong').to.equal('wrong');
    a.isUp = b.isUp = false;
    await becomes('');
    expect(await watch.first(() => Promise.resolve(1)).catch((error: unknown) => error))
      .to.be.instanceOf(HttpError)
      .that.includes({ status: 503 });
  });
});
