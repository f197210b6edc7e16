import { expect } from 'chai';
import { adjusted, missingParent } from '../../../../api/traces/jaeger/adjust.ts';
import type { StoredSpan } from '../../../../api/traces/stored-span.ts';
import { storedSpan } from '../../../fakes/stored-span.ts';
import { spanId, SPANS_AT } from '../../../fakes/stored-spans.ts';

const of = (id: number, parent: number, more: Partial<StoredSpan> = {}): StoredSpan =>
  storedSpan({ spanId: spanId(id), parentId: parent === 0 ? '' : spanId(parent), ...more });
const ms = (count: number): bigint => BigInt(count) * 1_000_000n;
const host = (name: string): Partial<StoredSpan> => ({ resource: JSON.stringify({ 'host.name': name }) });
const warnings = (spans: readonly StoredSpan[]): readonly (readonly string[])[] => adjusted(spans).map((one) => one.warnings);

describe('what Jaeger changes about a trace', () => {
  it('warns of parents that are not there', () => {
    expect(warnings([of(1, 0), of(2, 7)])).to.deep.equal([[], [`invalid parent span IDs=${spanId(7)}; skipping clock skew adjustment`]]);
    expect(adjusted([of(2, 7)], missingParent)[0]?.warnings).to.deep.equal([
      `parent span ID=${spanId(7)} is not in the trace; skipping clock skew adjustment`,
    ]);
  });

  it('warns of ids that are there twice', () => {
    expect(warnings([of(1, 0), of(1, 0, { kind: 1 })])).to.deep.equal([[], ['duplicate span IDs; skipping clock skew adjustment']]);
  });

  it('warns of clocks that differ, and corrects none', () => {
    const spans = [
      of(1, 0, { duration: ms(100), ...host('a') }),
      of(2, 1, { time: SPANS_AT - ms(10), duration: ms(50), ...host('b') }),
      of(3, 2, { time: SPANS_AT - ms(20), duration: ms(10), ...host('b') }),
      of(4, 1, { time: SPANS_AT - ms(5), duration: ms(500), ...host('c') }),
      of(5, 1, { time: SPANS_AT + ms(5), duration: ms(5), ...host('d') }),
    ];
    const skew = (delta: string): string[] => [`clock skew adjustment disabled; not applying calculated delta of ${delta}`];
    expect(warnings(spans)).to.deep.equal([[], skew('35ms'), skew('35ms'), skew('5ms'), []]);
    expect(adjusted(spans).map(({ span }) => span.time)).to.deep.equal(spans.map(({ time }) => time));
  });

  it("gives Zipkin's servers ids of their own, below their clients", () => {
    const spans = [of(1, 0, { kind: 3 }), of(1, 0, { kind: 2 }), of(2, 1, { kind: 1 })];
    const own = '0000000000000001';
    expect(adjusted(spans).map(({ span }) => [span.spanId, span.parentId])).to.deep.equal([[spanId(1), ''], [own, spanId(1)], [spanId(2), own]]); // prettier-ignore
  });

  it('ends where parents go in circles, and is as deep as a trace', () => {
    expect(warnings([of(1, 2), of(2, 1), of(3, 3)])).to.deep.equal([[], [], []]);
    const deep = Array.from({ length: 100_000 }, (_none, index) => of(index + 1, index));
    expect(warnings(deep).flat()).to.have.length(0);
  });
});
