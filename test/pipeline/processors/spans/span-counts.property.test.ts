import { expect } from 'chai';
import fc from 'fast-check';
import { durationBin } from '../../../../pipeline/core/duration-bins.ts';
import { IS_CLOSED, OF_EDGE, OF_OPERATION, type SpanCount } from '../../../../pipeline/counters/span-counts.ts';
import type { AbsoluteRecord } from '../../../../pipeline/bus/producer/absolute-record.ts';
import type { PartialOutput } from '../../../../pipeline/processors/base/partial.ts';
import { REACH, STEP_MS } from '../../../../pipeline/core/span-steps.ts';
import { spanCounts, type SpanCountsState } from '../../../../pipeline/processors/spans/span-counts.ts';
import type { SpanInput } from '../../../../pipeline/processors/spans/span-input.ts';
import { SPAN_TIME, spanBatch, spanCountsIn, type PlainSpan } from '../../../fakes/span-rows.ts';
import { extent } from '../../../extent.ts';

type Step = {
  readonly spans: readonly PlainSpan[] | null;
  readonly offset: number;
  readonly appendedAt: number;
  readonly tenantId: number;
};
type Outputs = readonly (AbsoluteRecord | PartialOutput)[];

const START_MS = 1_795_000_000_000;
const SECOND_NS = 1_000_000_000n;

/** Few traces and ids, so that many are parents, copies, or in a circle. */
const span: fc.Arbitrary<PlainSpan> = fc.record({
  trace: fc.integer({ min: 1, max: 2 }),
  id: fc.integer({ min: 1, max: 6 }),
  parent: fc.integer({ min: 0, max: 7 }),
  service: fc.constantFrom('web', 'cart', 'größe', ''),
  name: fc.constantFrom('GET /', 'POST /', 'ünï'),
  kind: fc.integer({ min: 0, max: 5 }),
  isError: fc.boolean(),
  time: fc.oneof(fc.bigInt(-200n, 0n), fc.bigInt(-200_000n, 90_000n)).map((ago) => SPAN_TIME + ago * SECOND_NS + 7n),
  duration: fc.oneof(fc.bigInt(0n, 10n ** 9n), fc.bigInt(0n, 2n ** 62n)),
});

const log: fc.Arbitrary<Step[]> = fc
  .array(
    fc.record({
      spans: fc.oneof({ weight: 5, arbitrary: fc.array(span, { maxLength: 12 }) }, { weight: 1, arbitrary: fc.constant(null) }),
      passed: fc.oneof(fc.integer({ min: 0, max: 40_000 }), fc.integer({ min: 0, max: 5_000_000 })),
      tenantId: fc.constantFrom(1, 2),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((steps) => {
    let [offset, appendedAt] = [-1, START_MS];
    return steps.map(({ passed, ...step }) => ({ ...step, offset: (offset += 1), appendedAt: (appendedAt += passed) }));
  });

const inputOf = ({ spans, ...position }: Step): SpanInput =>
  spans === null ? { kind: 'tick', partition: 3, offset: position.offset, appendedAt: position.appendedAt } : spanBatch(spans, position);

/** Ticks after which all is decided and closed. */
const ends = (steps: readonly Step[]): Step[] =>
  [(REACH + 1) * STEP_MS, 2 * 86_400_000].map((passed, index) => ({
    ...{ spans: null, tenantId: 1, offset: steps.length + index },
    appendedAt: (steps.at(-1)?.appendedAt ?? START_MS) + passed,
  }));

function folded(steps: readonly Step[], state: SpanCountsState = spanCounts.init()): Outputs {
  return [...steps, ...ends(steps)].flatMap((step) => spanCounts.fold(state, inputOf(step)));
}

type Sum = { spans: number; errors: number; duration: number; last: number; durations: Map<number, number> };

/** What rows add up to, by all that tells a row but its segment. */
function sums(rows: readonly SpanCount[], scope: number, length: number): Map<string, unknown> {
  const all = new Map<string, Sum>();
  for (const row of rows.filter((one) => one.scope === scope && one.span === length)) {
    const { tenantId, retentionDays, time, service, operation, caller, kind } = row;
    const key = JSON.stringify([tenantId, retentionDays, time, service, operation, caller, kind]);
    put(all, key, row.spans, row.errors, row.duration, row.last, row.durations);
  }
  return plain(all);
}

function put(
  all: Map<string, Sum>,
  key: string,
  spans: number,
  errors: number,
  duration: number,
  last: number,
  bins: readonly (readonly [number, number])[],
): void {
  const sum = all.get(key) ?? { spans: 0, errors: 0, duration: 0, last: -Infinity, durations: new Map<number, number>() };
  for (const [bin, count] of bins) sum.durations.set(bin, (sum.durations.get(bin) ?? 0) + count);
  all.set(key, {
    ...sum,
    spans: sum.spans + spans,
    errors: sum.errors + errors,
    duration: sum.duration + duration,
    last: Math.max(sum.last, last),
  });
}

/** Sums of floats depend on their order a little. */
const plain = (all: ReadonlyMap<string, Sum>): Map<string, unknown> =>
  new Map(
    [...all]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, { duration, durations, ...sum }]) => [
        key,
        { ...sum, duration: duration.toPrecision(9), durations: [...durations].sort(([a], [b]) => a - b) },
      ]),
  );

const at = ({ time = 0n }: PlainSpan, length: number): number => Number(time / SECOND_NS / BigInt(length)) * length;
const binsOf = ({ duration = 0n }: PlainSpan): [number, number][] => [
  [durationBin(Number(duration >> 32n), Number(duration & 0xffff_ffffn)), 1],
];

function putSpan(all: Map<string, Sum>, key: readonly unknown[], one: PlainSpan): void {
  put(all, JSON.stringify(key), 1, one.isError === true ? 1 : 0, Number(one.duration), at(one, 1), binsOf(one));
}

type Came = PlainSpan & { readonly tenantId: number; readonly step: number };

const cameIn = (steps: readonly Step[]): Came[] =>
  steps.flatMap(({ spans, tenantId, appendedAt }) =>
    (spans ?? []).map((one) => ({ ...one, tenantId, step: Math.floor(appendedAt / STEP_MS) })),
  );

/** Operations, counted plainly, but no copy of a span that came, or came again, so many steps before. */
function operationsOf(steps: readonly Step[], length: number): Map<string, unknown> {
  const all = new Map<string, Sum>();
  const came = cameIn(steps);
  came.forEach((one, index) => {
    if (came.slice(0, index).some((other) => isCopy(one, other) && one.step - other.step <= 2 * REACH)) return;
    putSpan(all, [one.tenantId, 30, at(one, length), one.service, one.name, '', one.kind], one);
  });
  return plain(all);
}

/** Calls, as the documentation defines them: of each span its parents in reach, wherever these come in the log. */
function edgesOf(steps: readonly Step[], length: number): Map<string, unknown> {
  const came = cameIn(steps);
  // of copies in one step the first one is known
  const known = came.filter((one, index) => !came.slice(0, index).some((other) => isCopy(one, other) && one.step === other.step));
  const all = new Map<string, Sum>();
  known.forEach((one, index) => {
    if (one.parent === 0 || known.slice(0, index).some((other) => isCopy(one, other) && one.step - other.step <= REACH)) return;
    const parents = known.filter(
      (other) =>
        other.tenantId === one.tenantId && other.trace === one.trace && other.id === one.parent && Math.abs(other.step - one.step) <= REACH,
    );
    if (parents.some(({ service }) => service === one.service)) return;
    const caller = (parents.find(({ kind }) => kind === 2) ?? parents[0])?.service ?? '';
    putSpan(all, [one.tenantId, 30, at(one, length), one.service, '', caller, 0], one);
  });
  return plain(all);
}

const isCopy = (one: Came, other: Came): boolean =>
  one.tenantId === other.tenantId && one.trace === other.trace && one.id === other.id && one.kind === other.kind;

const bytesOf = (outputs: Outputs): string[] => outputs.map(({ value }) => value.toString('base64'));

describe('counts of spans', () => {
  it('equal a plain count of the same log, by minute, hour and day', () => {
    fc.assert(
      fc.property(log, (steps) => {
        const rows = spanCountsIn(folded(steps));
        for (const length of [60, 3600, 86_400]) {
          expect(sums(rows, OF_OPERATION, length)).to.deep.equal(operationsOf(steps, length));
          expect(sums(rows, OF_EDGE, length)).to.deep.equal(edgesOf(steps, length));
        }
      }),
      { numRuns: extent(50, 1000) },
    );
  });

  it('are the same records from any snapshot on', () => {
    fc.assert(
      fc.property(log, fc.nat(), (steps, at_) => {
        const all = [...steps, ...ends(steps)];
        const whole = spanCounts.init();
        const outputs = all.map((step) => bytesOf(spanCounts.fold(whole, inputOf(step))));
        const cut = at_ % all.length;
        const before = spanCounts.init();
        for (const step of all.slice(0, cut)) spanCounts.fold(before, inputOf(step));
        const snapshot = spanCounts.snapshot(before);
        const restored = spanCounts.restore(Buffer.from(snapshot));
        if (restored === null) throw new Error('the snapshot cannot be read');
        expect(spanCounts.snapshot(restored).equals(snapshot)).to.equal(true);
        expect(all.slice(cut).map((step) => bytesOf(spanCounts.fold(restored, inputOf(step))))).to.deep.equal(outputs.slice(cut));
      }),
      { numRuns: extent(50, 1000) },
    );
  });

  it('are counted in segments that follow one another, and each says that all of a tenant are there', () => {
    fc.assert(
      fc.property(log, (steps) => {
        for (const length of [60, 3600, 86_400]) {
          const rows = spanCountsIn(folded(steps)).filter(({ span: own }) => own === length);
          const segments = [...new Map(rows.map((row) => [row.segment, row.until]))].sort(([a], [b]) => a - b);
          segments.forEach(([from, until], index) => {
            expect(until).to.be.greaterThan(from);
            if (index > 0) expect(from).to.be.at.least(segments[index - 1]?.[1] as number);
          });
          for (const [segment] of segments) {
            const own = rows.filter((row) => row.segment === segment);
            for (const tenantId of new Set(own.map((row) => row.tenantId)))
              expect(own.filter((row) => row.tenantId === tenantId).at(-1)?.scope).to.equal(IS_CLOSED);
          }
        }
      }),
      { numRuns: extent(30, 300) },
    );
  });

  it('refuse what is no snapshot', () => {
    const state = spanCounts.init();
    spanCounts.fold(
      state,
      spanBatch(
        [
          { id: 1, service: 'web' },
          { id: 2, parent: 1, service: 'cart' },
        ],
        { appendedAt: START_MS },
      ),
    );
    const bytes = spanCounts.snapshot(state);
    for (let end = 0; end < bytes.length; end++) expect(spanCounts.restore(Buffer.from(bytes.subarray(0, end)))).to.equal(null);
    expect(spanCounts.restore(Buffer.concat([bytes, Buffer.from([0])]))).to.equal(null);
  });
});
