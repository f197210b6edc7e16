import { expect } from 'chai';
import fc from 'fast-check';
import { OF_EDGE, OF_MISSED, OF_OPERATION, OTHER, type SpanCount } from '../../../../pipeline/counters/span-counts.ts';
import { REACH, STEP_MS } from '../../../../pipeline/core/span-steps.ts';
import { OPEN } from '../../../../pipeline/processors/spans/open-spans.ts';
import { spanCounts, type SpanCountsState } from '../../../../pipeline/processors/spans/span-counts.ts';
import { HELD } from '../../../../pipeline/processors/spans/span-segment.ts';
import { extent } from '../../../extent.ts';
import { spanBatch, spanCountsIn, type PlainSpan } from '../../../fakes/span-rows.ts';

const START_MS = 1_795_000_000_000 - (1_795_000_000_000 % STEP_MS);
const DAY_MS = 86_400_000;

type Sent = { readonly spans: readonly PlainSpan[]; readonly after?: number; readonly tenantId?: number };

/** What is counted of these records, each so long after the first one. */
function counted(sent: readonly Sent[], state: SpanCountsState = spanCounts.init()): SpanCount[] {
  const outputs = sent.flatMap(({ spans, after = 0, tenantId = 1 }, offset) =>
    spanCounts.fold(state, spanBatch(spans, { offset, appendedAt: START_MS + after, tenantId })),
  );
  const ends = [(2 * REACH + 2) * STEP_MS + Math.max(...sent.map(({ after = 0 }) => after)), 3 * DAY_MS];
  return spanCountsIn([
    ...outputs,
    ...ends.flatMap((after, index) =>
      spanCounts.fold(state, { kind: 'tick', partition: 3, offset: sent.length + index, appendedAt: START_MS + after }),
    ),
  ]);
}

/** The calls by minute, as `caller > callee: calls/errors`. */
const edges = (rows: readonly SpanCount[], span = 60): string[] =>
  rows
    .filter((row) => row.scope === OF_EDGE && row.span === span)
    .map(({ caller, service, spans, errors }) => `${caller} > ${service}: ${String(spans)}/${String(errors)}`)
    .sort();

const sum = (rows: readonly SpanCount[], scope: number, span = 60): number =>
  rows.filter((row) => row.scope === scope && row.span === span).reduce((all, { spans }) => all + spans, 0);

const web: PlainSpan = { id: 1, service: 'web', kind: 3 };
const cart: PlainSpan = { id: 2, parent: 1, service: 'cart', kind: 2, isError: true };
/** Zipkin's client and server with one id, and what the server calls. */
const shared: readonly PlainSpan[] = [
  { id: 1, service: 'gate', kind: 2 },
  { id: 5, parent: 1, service: 'gate', kind: 3 },
  { id: 5, parent: 1, service: 'cart', kind: 2 },
  { id: 6, parent: 5, service: 'stock', kind: 2 },
];

describe('calls between services', () => {
  it('are the same in whichever order their spans come, in one record or several', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray([...shared, web, { ...cart, trace: 1, parent: 1, id: 9 }], { minLength: 6 }),
        fc.array(fc.integer({ min: 0, max: REACH * STEP_MS - 1 }), { minLength: 6, maxLength: 6 }),
        (spans, times) => {
          const afters = [...times].sort((a, b) => a - b);
          const rows = counted(spans.map((span, index) => ({ spans: [span], after: afters[index] ?? 0 })));
          // of the two that have the id 1 the server calls
          expect(edges(rows)).to.deep.equal(['cart > stock: 1/0', 'gate > cart: 2/1']);
        },
      ),
    );
  });

  it('have a parent within reach, and else none', () => {
    for (const [first, second] of [
      [web, cart],
      [cart, web],
    ] as const) {
      const inReach = (REACH + 1) * STEP_MS - 1;
      expect(edges(counted([{ spans: [first] }, { spans: [second], after: inReach }]))).to.deep.equal(['web > cart: 1/1']);
      expect(edges(counted([{ spans: [first] }, { spans: [second], after: inReach + 1 }]))).to.deep.equal([' > cart: 1/1']);
    }
  });

  it('are one where a span was sent twice within reach', () => {
    const again = [web, cart, cart];
    expect(edges(counted([{ spans: again }, { spans: again, after: STEP_MS }, { spans: again, after: 2 * STEP_MS }]))).to.deep.equal([
      'web > cart: 1/1',
    ]);
  });

  it('are those of one tenant and trace', () => {
    expect(edges(counted([{ spans: [web] }, { spans: [cart], tenantId: 2 }]))).to.deep.equal([' > cart: 1/1']);
    expect(edges(counted([{ spans: [web, { ...cart, trace: 2 }] }]))).to.deep.equal([' > cart: 1/1']);
  });

  it('may go in a circle, or to themselves', () => {
    const circle: PlainSpan[] = [
      { id: 1, parent: 3, service: 'a' },
      { id: 2, parent: 1, service: 'b' },
      { id: 3, parent: 2, service: 'c' },
      { id: 4, parent: 4, service: 'd' },
    ];
    expect(edges(counted([{ spans: circle }]))).to.deep.equal(['a > b: 1/0', 'b > c: 1/0', 'c > a: 1/0']);
  });

  it('are found after the clock of a broker was set back', () => {
    const state = spanCounts.init();
    spanCounts.fold(state, spanBatch([web, cart], { offset: 0, appendedAt: START_MS + 40 * DAY_MS }));
    const outputs = [
      ...spanCounts.fold(state, spanBatch([{ ...web, trace: 2 }], { offset: 1, appendedAt: START_MS })),
      ...spanCounts.fold(state, spanBatch([{ ...cart, trace: 2 }], { offset: 2, appendedAt: START_MS + 1 })),
      ...[4 * STEP_MS, 50 * DAY_MS].flatMap((after, index) =>
        spanCounts.fold(state, { kind: 'tick', partition: 3, offset: 3 + index, appendedAt: START_MS + after }),
      ),
    ];
    expect(edges(spanCountsIn(outputs), 86_400)).to.deep.equal(['web > cart: 2/2']);
  });
});

describe('requests of a span that was sent again', () => {
  /** The spans of operations, by minute and day. */
  const requests = (sent: readonly Sent[], state?: SpanCountsState): readonly number[] => {
    const rows = counted(sent, state);
    return [60, 86_400].map((span) => sum(rows, OF_OPERATION, span));
  };
  const inReach = (2 * REACH + 1) * STEP_MS - 1;

  it('are one in a record, in the same minute, in the next segment, and after each of several', () => {
    expect(requests([{ spans: [web, cart, cart] }])).to.deep.equal([2, 2]);
    expect(requests([{ spans: [web, cart] }, { spans: [web, cart], after: 10_000 }])).to.deep.equal([2, 2]);
    expect(requests([{ spans: [web, cart] }, { spans: [web, cart], after: 70_000 }])).to.deep.equal([2, 2]);
    const often = [0, 1, 2, 3].map((turn) => ({ spans: [cart], after: turn * 2 * REACH * STEP_MS }));
    expect(requests(often)).to.deep.equal([1, 1]);
  });

  it('are one as long as it is remembered', () => {
    expect(requests([{ spans: [cart] }, { spans: [cart], after: inReach }])).to.deep.equal([1, 1]);
    expect(requests([{ spans: [cart] }, { spans: [cart], after: inReach + 1 }])).to.deep.equal([2, 2]);
  });

  it('are of the tenant, the trace and the kind, and of those of a record the others count', () => {
    const others = [{ ...cart, trace: 2 }, { ...cart, kind: 3 }, cart, { ...cart, id: 4 }];
    expect(requests([{ spans: [cart] }, { spans: others, after: 1000 }, { spans: [cart], after: 2000, tenantId: 2 }])).to.deep.equal([
      5, 5,
    ]);
  });

  it('are one where the process was killed between', () => {
    const state = spanCounts.init();
    const outputs = spanCounts.fold(state, spanBatch([web, cart], { offset: 0, appendedAt: START_MS }));
    const restored = spanCounts.restore(spanCounts.snapshot(state));
    if (restored === null) throw new Error('the snapshot cannot be read');
    expect(outputs).to.deep.equal([]);
    const again = spanBatch([web, cart, { ...cart, id: 3 }], { offset: 1, appendedAt: START_MS + 1000 });
    const rows = [
      ...spanCounts.fold(restored, again),
      ...spanCounts.fold(restored, { kind: 'tick', partition: 3, offset: 2, appendedAt: START_MS + 3 * DAY_MS }),
    ];
    expect(sum(spanCountsIn(rows), OF_OPERATION)).to.equal(3);
  });

  it('are counted again where it is not remembered, since there are too many', () => {
    const state = spanCounts.init();
    const many = Array.from({ length: 100 }, (_none, record) => ({
      spans: Array.from({ length: 2000 }, (_one, index): PlainSpan => ({ trace: record * 2000 + index, id: 1, service: 'web', name: 'a' })),
    }));
    const last = many.at(-1)?.spans ?? [];
    const [minutes] = requests([...many, { spans: last, after: 1000 }, { spans: many[0]?.spans ?? [], after: 1000 }], state);
    expect(minutes).to.equal(102 * 2000 - 2000);
  });
});

describe('bounds of what is counted of spans', function () {
  this.timeout(300_000);

  it('hold with 1,000,000 services and names: what is too much is one operation, and nothing is lost', () => {
    const state = spanCounts.init();
    let rows: SpanCount[] = [];
    const [records, perRecord] = [extent(50, 500), 2000];
    let most = 0;
    for (let record = 0; record < records; record++) {
      const spans = Array.from({ length: perRecord }, (_none, index): PlainSpan => {
        const number = record * perRecord + index;
        return { trace: number, id: 1, parent: 7, service: `service ${String(number)}`, name: `name ${String(number)}` };
      });
      rows = rows.concat(spanCountsIn(spanCounts.fold(state, spanBatch(spans, { offset: record, appendedAt: START_MS + record }))));
      most = Math.max(most, ...state.segments.map((segment) => segment?.held ?? 0));
    }
    expect(most).to.be.at.most(HELD.ofTenant);
    expect(state.open.size * 56).to.be.at.most(OPEN.ofTenant);
    expect(spanCounts.snapshot(state).length).to.be.at.most(48 * 1024 * 1024);
    // another tenant is counted all the same
    spanCounts.fold(state, spanBatch([web, cart], { offset: records, appendedAt: START_MS + records, tenantId: 2 }));
    for (const [index, after] of [4 * STEP_MS, 3 * DAY_MS].entries())
      rows = rows.concat(
        spanCountsIn(
          spanCounts.fold(state, { kind: 'tick', partition: 3, offset: records + 1 + index, appendedAt: START_MS + records + after }),
        ),
      );
    const own = rows.filter(({ tenantId }) => tenantId === 1);
    for (const span of [60, 3600, 86_400]) expect(sum(own, OF_OPERATION, span)).to.equal(records * perRecord);
    const other = own.filter(({ scope, service, span }) => scope === OF_OPERATION && service === OTHER && span === 60);
    expect(other.map(({ operation }) => operation)).to.deep.equal([OTHER]);
    expect(other[0]?.spans).to.be.greaterThan(records * perRecord - 50_000);
    const missed = sum(own, OF_MISSED);
    expect(missed).to.be.greaterThan(records * perRecord - 100_000);
    expect(sum(own, OF_EDGE) + missed).to.equal(records * perRecord);
    const neighbour = rows.filter(({ tenantId }) => tenantId === 2);
    expect([edges(neighbour), sum(neighbour, OF_OPERATION), sum(neighbour, OF_MISSED)]).to.deep.equal([['web > cart: 1/1'], 2, 0]);
  });

  it('leave each of many tenants its share', () => {
    const state = spanCounts.init();
    const spans = Array.from({ length: 2000 }, (_none, index): PlainSpan => ({
      trace: index,
      id: 1,
      service: 's'.repeat(100) + String(index),
      name: String(index),
    }));
    for (let tenant = 1; tenant <= 15; tenant++)
      for (let record = 0; record < 3; record++)
        spanCounts.fold(
          state,
          spanBatch(
            spans.map((span) => ({ ...span, service: `${span.service}/${String(tenant)}/${String(record)}` })),
            { offset: (tenant - 1) * 3 + record, appendedAt: START_MS, tenantId: tenant },
          ),
        );
    for (const segment of state.segments) expect(segment?.held ?? 0).to.be.at.most(HELD.last);
    expect(state.segments[0]?.held).to.be.greaterThan(HELD.most);
  });

  it('count durations of any length, and times of any age', () => {
    const rows = counted([
      { spans: [{ id: 1, service: 'a', duration: 2n ** 63n }, { id: 2, service: 'a', time: -2_208_988_799_000_000_000n, duration: 2n ** 62n }, { id: 3, service: 'a', duration: 0n }] },
    ]); // prettier-ignore
    const day = rows.filter(({ scope, span }) => scope === OF_OPERATION && span === 86_400);
    expect(day.map(({ spans, durations }) => [spans, durations.length]).sort()).to.deep.equal([[1, 1], [2, 2]]); // prettier-ignore
  });
});
