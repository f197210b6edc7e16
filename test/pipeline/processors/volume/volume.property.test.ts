import { expect } from 'chai';
import fc from 'fast-check';
import type { AbsoluteRecord } from '../../../../pipeline/bus/producer/absolute-record.ts';
import type { SegmentRow } from '../../../../pipeline/counters/volume-layout.ts';
import type { Fold } from '../../../../pipeline/processors/base/processor.ts';
import { createVolume } from '../../../../pipeline/processors/volume/volume.ts';
import type { VolumeState } from '../../../../pipeline/processors/volume/volume-state.ts';
import { extent } from '../../../extent.ts';
import { SCOPE_ALL_ALONE, SCOPE_SEGMENT, SCOPE_UNPUBLISHED } from '../../../../pipeline/counters/volume-row.ts';
import { allRowsIn, batchOf, bytesOf, rowsIn, type PlainEntry } from '../../../fakes/volume-rows.ts';

type Step = {
  readonly entries: readonly PlainEntry[] | null;
  readonly offset: number;
  readonly appendedAt: number;
  readonly tenantId: number;
  readonly retentionDays: number;
};

const DAY_NS = 86_400_000_000_000n;
const TENANTS = [1, 2, 4_294_967_295];
const NOW_NS = 1_795_000_000_000_000_000n;

const entry: fc.Arbitrary<PlainEntry> = fc.record({
  // late ones, by days too, and early ones
  time: fc.oneof(fc.bigInt(-3n * DAY_NS, DAY_NS), fc.bigInt(-200_000_000_000n, 0n)).map((ago) => NOW_NS + ago),
  stream: fc.oneof(fc.bigInt(0n, 5n), fc.bigInt(0n, 2n ** 64n - 1n)),
  level: fc.oneof(fc.constantFrom('info', 'error', ''), fc.string({ unit: 'grapheme', maxLength: 4 })),
  message: fc.string({ unit: 'grapheme' }),
  fields: fc.dictionary(fc.constantFrom('app', 'größe', 'host'), fc.string({ maxLength: 200 })),
});

/** A log of records and ticks, where some are missing and whose append times may go back. */
const log: fc.Arbitrary<Step[]> = fc
  .array(
    fc.record({
      entries: fc.oneof({ weight: 5, arbitrary: fc.array(entry, { maxLength: 30 }) }, { weight: 1, arbitrary: fc.constant(null) }),
      gap: fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 2, max: 3 }) }),
      passed: fc.oneof(fc.integer({ min: -50_000, max: 50_000 }), fc.integer({ min: 0, max: 40_000_000 })),
      tenantId: fc.constantFrom(...TENANTS),
      retentionDays: fc.constantFrom(0, 7, 65_535),
    }),
    { minLength: 1, maxLength: 25 },
  )
  .map((steps) => {
    let [offset, appendedAt] = [0, 1_795_000_000_000];
    return steps.map(({ gap, passed, ...step }) => ({ ...step, offset: (offset += gap), appendedAt: (appendedAt += passed) }));
  });

function take(volume: Fold<VolumeState>, state: VolumeState, { entries, ...step }: Step): readonly AbsoluteRecord[] {
  return volume.fold(
    state,
    entries === null ? { kind: 'tick', partition: 3, offset: step.offset, appendedAt: step.appendedAt } : batchOf(entries, step),
  );
}

/** A tick that closes all. */
const endOf = (steps: readonly Step[]): Step => ({
  ...{ entries: null, tenantId: 1, retentionDays: 0 },
  offset: (steps.at(-1)?.offset ?? 0) + 1,
  appendedAt: Math.max(...steps.map(({ appendedAt }) => appendedAt)) + 86_400_000,
});

const SPANS = [60, 3600, 86_400];

/** What rows must add up to, counted plainly: by all that tells a row but its segment. */
function recount(
  steps: readonly Step[],
  { spans = SPANS, streams = true }: { spans?: readonly number[]; streams?: boolean } = {},
): Map<string, readonly [number, number]> {
  const sums = new Map<string, readonly [number, number]>();
  for (const { entries, tenantId, retentionDays } of steps)
    for (const one of entries ?? [])
      for (const span of spans)
        for (const stream of streams ? ['all', String(one.stream)] : ['all']) {
          const length = BigInt(span) * 1_000_000_000n;
          const time = String((one.time / length) * BigInt(span));
          const key = [tenantId, retentionDays, span, stream, time, one.level].join('/');
          const [count, size] = sums.get(key) ?? [0, 0];
          sums.set(key, [count + 1, size + bytesOf(one)]);
        }
  return sums;
}

function sumsOf(outputs: readonly AbsoluteRecord[]): Map<string, readonly [number, number]> {
  const sums = new Map<string, readonly [number, number]>();
  const seen = new Set<string>();
  for (const { tenantId, retentionDays, span, scope, streamId, time, level, segment, entries, bytes } of rowsIn(outputs)) {
    const stream = scope !== 1 ? 'all' : String(streamId);
    const key = [tenantId, retentionDays, span, stream, time, level.toString()].join('/');
    expect(seen.has(`${key}/${String(segment)}`), 'a group twice in a segment').to.equal(false);
    seen.add(`${key}/${String(segment)}`);
    const [count, size] = sums.get(key) ?? [0, 0];
    sums.set(key, [count + entries, size + bytes]);
  }
  return sums;
}

function addAll(sums: Map<string, readonly [number, number]>, more: ReadonlyMap<string, readonly [number, number]>): void {
  for (const [key, [entries, bytes]] of more) {
    const [before, size] = sums.get(key) ?? [0, 0];
    sums.set(key, [before + entries, size + bytes]);
  }
}

/** What is said of a tenant that is not counted in a segment with these of its records. */
function expectUntold({ span, time, entries: width, retentionDays }: SegmentRow, steps: readonly Step[]): void {
  const withEntries = steps.filter(({ entries }) => entries !== null && entries.length > 0);
  const times = withEntries.flatMap(({ entries }) => (entries ?? []).map((one) => Number(one.time / 1_000_000_000n / BigInt(span)) * span));
  expect([time - width, time]).to.deep.equal([Math.min(...times), Math.max(...times)]);
  const classes = withEntries.map((step) => step.retentionDays);
  expect(retentionDays).to.equal(classes.includes(0) ? 0 : Math.max(...classes));
}

const told = (outputs: readonly AbsoluteRecord[]): unknown[] =>
  outputs.map((output) => ({ ...output, value: output.value.toString('latin1') }));

describe('the volume, of any log', function () {
  this.timeout(600_000);
  const runs = { numRuns: extent(75, 2000) };

  it('adds up to what is counted plainly, whatever it may hold', () => {
    fc.assert(
      fc.property(log, fc.constantFrom(1, 10, 60, 50_000), (steps, maxGroups) => {
        const volume = createVolume({ maxGroups });
        const state = volume.init();
        const outputs = [...steps, endOf(steps)].flatMap((step) => take(volume, state, step));
        const sums = sumsOf(outputs);
        const expected = new Map<string, readonly [number, number]>();
        const rows = allRowsIn(outputs);
        for (const { span, segment, until } of rows.filter(({ scope }) => scope === SCOPE_SEGMENT)) {
          const own = rows.filter((row) => row.span === span && row.segment === segment && row.until === until);
          const inside = steps.filter((step) => step.offset >= segment && step.offset < until);
          for (const tenantId of TENANTS) {
            const isOwn = (step: Step): boolean => step.tenantId === tenantId;
            const unpublished = own.find(({ scope, streamId }) => scope === SCOPE_UNPUBLISHED && streamId === BigInt(tenantId));
            if (unpublished !== undefined) expectUntold(unpublished, inside.filter(isOwn));
            else {
              const isAlone = own.some((row) => row.tenantId === tenantId && row.scope === SCOPE_ALL_ALONE);
              addAll(expected, recount(inside.filter(isOwn), { spans: [span], streams: !isAlone }));
            }
          }
        }
        expect(new Map([...sums].sort())).to.deep.equal(new Map([...expected].sort()));
        if (maxGroups > 10_000) expect(new Map([...sums].sort())).to.deep.equal(new Map([...recount(steps)].sort()));
        expect(state.segments).to.deep.equal([null, null, null]);
      }),
      runs,
    );
  });

  it('has segments that are one behind the other, and hold what they say', () => {
    fc.assert(
      fc.property(log, fc.constantFrom(10, 50_000), (steps, maxGroups) => {
        const volume = createVolume({ maxGroups });
        const state = volume.init();
        const rows = [...steps, endOf(steps)].flatMap((step) => allRowsIn(take(volume, state, step)));
        for (const span of SPANS) {
          let next = 0;
          const segments = new Map(
            rows.filter((row) => row.span === span && row.scope !== SCOPE_SEGMENT).map(({ segment, until }) => [segment, until]),
          );
          for (const [segment, until] of segments) {
            expect(segment).to.be.at.least(next);
            next = until;
            const own = rows.filter((row) => row.span === span && row.segment === segment && row.scope !== 1 && row.tenantId > 0);
            const unpublished = rows.filter((row) => row.span === span && row.segment === segment && row.scope === SCOPE_UNPUBLISHED);
            const isPublished = ({ tenantId }: Step): boolean => !unpublished.some(({ streamId }) => streamId === BigInt(tenantId));
            const inside = steps.filter((step) => step.offset >= segment && step.offset < until && isPublished(step));
            expect(own.reduce((sum, { entries }) => sum + entries, 0)).to.equal(
              inside.reduce((sum, { entries }) => sum + (entries?.length ?? 0), 0),
            );
          }
        }
      }),
      runs,
    );
  });

  it('has segments of which a longer one is as long as some shorter ones, and tells the run that each is of', () => {
    fc.assert(
      fc.property(log, fc.constantFrom(10, 50_000), (steps, maxGroups) => {
        const volume = createVolume({ maxGroups });
        const state = volume.init();
        const all = [...steps, endOf(steps)];
        const rows = all.flatMap((step) => allRowsIn(take(volume, state, step)));
        const closings = rows.filter(({ scope }) => scope === 3);
        for (const { span, segment, until, run, entries: base } of closings) {
          const shorter = closings.filter((one) => one.span < span && one.segment >= segment && one.segment < until);
          for (const one of shorter) expect(one.until).to.be.at.most(until);
          // nothing is missing from the first record of the run on
          const first = all.findIndex(({ offset }) => offset === base);
          for (const [at, step] of all.entries())
            if (at > first && step.offset < until) expect(step.offset).to.equal((all[at - 1]?.offset ?? 0) + 1);
          expect(run).to.equal(base === 0 ? 0 : all[first]?.appendedAt);
          expect(base).to.be.at.most(segment);
        }
        for (const { scope, span, segment, until, run } of rows)
          if (scope !== 3)
            expect(closings.some((one) => one.span === span && one.segment === segment && one.until === until && one.run === run)).to.equal(
              true,
            );
      }),
      runs,
    );
  });

  it('says the same after any snapshot, and after a replay from any', () => {
    fc.assert(
      fc.property(log, fc.constantFrom(10, 50_000), fc.array(fc.nat(), { maxLength: 5 }), (steps, maxGroups, cuts) => {
        const all = [...steps, endOf(steps)];
        const volume = createVolume({ maxGroups });
        const whole = volume.init();
        const snapshots: Buffer[] = [];
        const outputs = all.map((step) => {
          snapshots.push(volume.snapshot(whole));
          return take(volume, whole, step);
        });
        for (const cut of cuts) {
          const first = cut % all.length;
          const other = createVolume({ maxGroups });
          const state = other.restore(snapshots[first] as Buffer);
          if (state === null) return expect.fail('a snapshot cannot be read');
          expect(other.snapshot(state).equals(snapshots[first] as Buffer)).to.equal(true);
          for (let step = first; step < all.length; step++)
            expect(told(take(other, state, all[step] as Step))).to.deep.equal(told(outputs[step] ?? []));
        }
      }),
      runs,
    );
  });
});
