import { expect } from 'chai';
import { OVERFLOW_FINGERPRINT } from '../../../../pipeline/clusterer/clusterer.ts';
import { fingerprintOf } from '../../../../pipeline/clusterer/shapes.ts';
import { ByteReader, ByteWriter } from '../../../../pipeline/core/snapshot-bytes.ts';
import { readColumns } from '../../../../pipeline/logs/columns/column-reader.ts';
import type { MergerInput } from '../../../../pipeline/processors/merge/merger.ts';
import { clusters } from '../../../../pipeline/processors/patterns/clusters.ts';
import { KnownPatterns } from '../../../../pipeline/processors/patterns/known-patterns.ts';
import { encodeSeen, readSeen, type SeenPattern } from '../../../../pipeline/processors/patterns/patterns-partial.ts';
import { TenantClusters, type PublishedPattern } from '../../../../pipeline/processors/patterns/tenant-clusters.ts';
import { FoldedPatterns } from '../../../fakes/folded-patterns.ts';

/** 2026-11-24 00:00 UTC. */
const START = 1_795_478_400_000;
const DAY_MS = 86_400_000;
const DAY = START / DAY_MS;
const HOUR = 24 * DAY;
const PLENTY = 1024 * 1024;
const entry = (at: number, _msg: string): object => ({ _time: new Date(at).toISOString(), _msg, app: 'a' });

/** A message whose template is itself. */
function seen(message: string, first = START): SeenPattern {
  const fingerprint = fingerprintOf(message);
  const [high, low] = [0, 8].map((at) => parseInt(fingerprint.slice(at, at + 8), 16)) as [number, number];
  return { high, low, severity: 3, first, message, stream: '' };
}
const told = (rows: readonly PublishedPattern[]): [string, string][] => rows.map(({ template, root }) => [template, root]);

/** The pattern of a record's first entry. */
function readPattern(value: Buffer): string {
  const view = readColumns(value, 1);
  if (typeof view === 'string') throw new Error(view);
  return view.bytes.readBigUInt64LE(view.pattern).toString(16).padStart(16, '0');
}

describe('the patterns that are told', () => {
  it('have their text, an example, their earliest time and the offset at which they were told', () => {
    const world = new FoldedPatterns(1);
    world.log(0, [entry(START + 500, 'took 5 ms'), entry(START + 100, 'took 6 ms'), entry(START, 'started')], { appendedAt: START, tenantId: 3, retentionDays: 14 }); // prettier-ignore
    const [first, second] = world.rows;
    expect(first).to.deep.equal({
      ...{
        tenantId: 3,
        retentionDays: 14,
        publishedAt: START / 1000,
        fingerprint: fingerprintOf('took <N>'),
        root: fingerprintOf('took <N>'),
      },
      ...{ template: 'took <N>', example: 'took 5 ms', severity: 0, first: START + 100, version: 0 },
    });
    expect(second?.template).to.equal('started');
  });

  it('are those of long messages too, with a header and without, cut within characters', () => {
    const world = new FoldedPatterns(1);
    const long = `${'é 12 '.repeat(900)}${'x '.repeat(4000)}`;
    const header = '2026-11-24 10:00:00,123 INFO  [main] com.shop.Cart - ';
    for (const message of [long, `${header}${long}`, `y${long}`, `${header}y${long}`])
      world.log(0, [entry(START, message)], { appendedAt: START });
    const counted = new Set(world.messages(0).map(({ value }) => readPattern(value as Buffer)));
    expect(new Set(world.rows.map(({ fingerprint }) => fingerprint.slice(0, 16)))).to.deep.equal(counted);
    expect(counted.size).to.equal(2);
    for (const { example } of world.rows) expect(Buffer.byteLength(example)).to.be.within(4090, 4096);
  });

  it('are told when they are new, once on each day on which they come, and with an earlier entry', () => {
    const world = new FoldedPatterns(1);
    const came = (at: number, time = at): number => {
      const before = world.rows.length;
      world.log(0, [entry(time, 'started')], { appendedAt: at });
      return world.rows.length - before;
    };
    expect(came(START)).to.equal(1);
    expect(came(START + 1000)).to.equal(0);
    expect(came(START + 2000, START - 5000)).to.equal(1);
    expect(world.rows.at(-1)?.first).to.equal(START - 5000);
    expect(came(START + DAY_MS)).to.equal(1);
    expect(came(START + DAY_MS + 1000)).to.equal(0);
    expect(world.rows.at(-1)).to.include({ first: START - 5000, publishedAt: (START + DAY_MS) / 1000 });
  });

  it('have the root of their cluster, and are told again where that is another', () => {
    const world = new FoldedPatterns(2);
    ['red', 'blue', 'green', 'white', 'black'].forEach((colour, index) => {
      world.log(index % 2, [entry(START + index, `the lamp shows ${colour} light now`)], { appendedAt: START + index });
    });
    const last = new Map(world.rows.map(({ fingerprint, root }) => [fingerprint, root]));
    expect(last.size).to.equal(5);
    expect(new Set(last.values())).to.deep.equal(new Set([fingerprintOf('the lamp shows red light now')]));
  });

  it('keep the text of a root that does not come any more, as long as another of its cluster does', () => {
    const own = new TenantClusters();
    ['red', 'blue', 'green', 'white', 'black'].forEach((colour, index) => {
      own.take([seen(`the lamp shows ${colour} light now`, START + index)], DAY, PLENTY);
    });
    const rows = own.take([seen('the lamp shows blue light now')], DAY + 1, PLENTY);
    const root = fingerprintOf('the lamp shows red light now');
    expect(told(rows)).to.deep.equal([
      ['the lamp shows blue light now', root],
      ['the lamp shows red light now', root],
    ]);
    expect(own.take([seen('the lamp shows black light now')], DAY + 1, PLENTY)).to.have.length(1);
  });

  it('are not those of other rules, and the overflow where a tenant has too many', () => {
    const own = new TenantClusters();
    expect(own.take([{ ...seen('started'), low: 1 }], DAY, PLENTY)).to.deep.equal([]);
    expect(told(own.take([seen('started')], DAY, 10))).to.deep.equal([['started', OVERFLOW_FINGERPRINT]]);
    expect(own.size).to.equal(0);
    expect(told(own.take([seen('started')], DAY, PLENTY))).to.deep.equal([['started', fingerprintOf('started')]]);
  });

  it('are forgotten where they do not come, and then are new ones', () => {
    const own = new TenantClusters();
    own.take([seen('started', 5), seen('ended', 5)], DAY, PLENTY);
    own.take([seen('ended', 7)], DAY + 10, PLENTY);
    own.retentionDays = 14;
    own.forget(DAY + 16);
    expect(own.size).to.equal(1);
    const rows = own.take([seen('started', 9), seen('ended', 9)], DAY + 16, PLENTY);
    expect(rows.map(({ first }) => first)).to.deep.equal([9, 5]);
  });

  it('are forgotten with their tenant where nothing comes of it any more', () => {
    const hosted = clusters;
    const state = hosted.init();
    const partial = (tenantId: number, at: number, offset: number): MergerInput => ({
      ...{ kind: 'partial', partition: 0, offset, appendedAt: at, tenantId, retentionDays: 14, processor: 'patterns' },
      ...{ value: encodeSeen([seen('started', at)])[0] as Buffer, source: { partition: 0, offset, number: 0, appendedAt: at } },
    });
    hosted.fold(state, partial(1, START, 0));
    hosted.fold(state, partial(2, START + 10 * DAY_MS, 1));
    expect([...state.tenants.keys()]).to.deep.equal([1, 2]);
    hosted.fold(state, partial(2, START + 16 * DAY_MS, 2));
    expect([...state.tenants.keys()]).to.deep.equal([2]);
    expect(state.bytes).to.equal(state.tenants.get(2)?.clusters.bytes);
  });

  it('are as they were after a snapshot', () => {
    const own = new TenantClusters();
    for (const colour of ['red', 'blue', 'green', 'white']) own.take([seen(`the lamp shows ${colour} light now`)], DAY, PLENTY);
    const to = new ByteWriter();
    own.write(to);
    const copy = TenantClusters.read(new ByteReader(to.finish()));
    expect(copy.bytes).to.equal(own.bytes);
    const next = [seen('the lamp shows black light now')];
    expect(copy.take(next, DAY, PLENTY)).to.deep.equal(own.take(next, DAY, PLENTY));
  });
});

describe('a partial of patterns', () => {
  it('says what was seen, in pieces of some size, and nothing of other bytes', () => {
    const patterns = Array.from({ length: 300 }, (_none, index) => seen(`${'x'.repeat(4000)} ${String(index)}`.replace(/\d/g, 'y')));
    const values = encodeSeen(patterns);
    expect(values.length).to.be.above(1);
    expect(values.flatMap((value) => readSeen(value) ?? [])).to.deep.equal(patterns);
    expect(values.every(({ length }) => length < 512 * 1024)).to.equal(true);
    for (const bytes of [Buffer.alloc(0), Buffer.from([9]), (values[0] as Buffer).subarray(0, 100)]) expect(readSeen(bytes)).to.equal(null);
  });
});

describe('the patterns that a partition knows', () => {
  it('are no more of a tenant than it may have, and those of the last days', () => {
    const known = new KnownPatterns(2);
    expect([1, 2, 3].map((low) => known.report(1, 0, low, HOUR, 0))).to.deep.equal([true, true, false]);
    expect(known.report(2, 0, 3, HOUR, 0)).to.equal(true);
    known.forget(DAY + 1);
    expect(known.size).to.equal(3);
    known.forget(DAY + 2);
    expect(known.size).to.equal(0);
    expect(known.report(1, 0, 3, HOUR + 48, 0)).to.equal(true);
  });

  it('are no more new ones in an hour than may be told, and the others later', () => {
    const known = new KnownPatterns(10, 2);
    const told = (hour: number): boolean[] => [1, 2, 3, 4].map((low) => known.report(1, 0, low, hour, 0));
    expect(told(HOUR)).to.deep.equal([true, true, false, false]);
    expect(known.report(2, 0, 1, HOUR, 0)).to.equal(true);
    expect(told(HOUR)).to.deep.equal([false, false, false, false]);
    expect(told(HOUR + 1)).to.deep.equal([false, false, true, true]);
  });
});
