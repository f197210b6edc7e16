import { expect } from 'chai';
import { otlpTraces } from '../../../pipeline/normalizers/otlp-traces.ts';
import { zipkin } from '../../../pipeline/normalizers/zipkin.ts';
import { extent } from '../../extent.ts';
import { cpuCost } from '../../fakes/cpu-cost.ts';
import { takeSpans, type TakenSpans } from '../traces/take-spans.ts';

/** The cap of a body, and a part of it, for which the bound of the whole is. */
const MAX_BYTES = extent(512 * 1024, 2 * 1024 * 1024);
const filled = (...bytes: number[]): Buffer => Buffer.alloc(MAX_BYTES - (MAX_BYTES % bytes.length), Buffer.from(bytes));
const list = (head: string, one: string, tail: string): string =>
  `${head}${one}${`,${one}`.repeat(Math.floor((MAX_BYTES - head.length - tail.length) / (one.length + 1)) - 1)}${tail}`;

/** Bodies that are little and mean much, and whether they have spans, which are all rejected. */
const BODIES: readonly (readonly [what: string, body: Buffer | string, isZipkin: boolean, hasSpans: boolean])[] = [
  ['resources of nothing', filled(0x0a, 0), false, false],
  ['scopes of nothing', filled(0x0a, 2, 0x12, 0), false, false],
  ['scopes without a span', filled(0x0a, 4, 0x12, 2, 0x0a, 0), false, false],
  ['a resource and a scope for each empty span', filled(0x0a, 4, 0x12, 2, 0x12, 0), false, true],
  ['JSON resources of nothing', list('{"resourceSpans":[', '{}', ']}'), false, false],
  [
    'JSON with a resource and a scope for each empty span',
    list('{"resourceSpans":[', '{"scopeSpans":[{"spans":[{}]}]}', ']}'),
    false,
    true,
  ],
  [
    'JSON with a span of empty attributes',
    list('{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[', '{}', ']}]}]}]}'),
    false,
    true,
  ],
  ['Zipkin spans of nothing', list('[', '{}', ']'), true, true],
  ['a Zipkin span of empty annotations', list('[{"traceId":"1","id":"1","timestamp":1,"annotations":[', '{}', ']}]'), true, true],
];

describe('hostile bodies of spans', () => {
  for (const [what, body, isZipkin, hasSpans] of BODIES)
    it(`are taken in linear time: ${what}`, function () {
      this.timeout(240_000);
      const contentType = typeof body === 'string' ? 'application/json' : 'application/x-protobuf';
      let taken: TakenSpans | { status: number; detail: string } | null = null;
      const cost = cpuCost(() => (taken = takeSpans(isZipkin ? zipkin : otlpTraces, body, { contentType })));
      expect(taken).to.have.property('total');
      if (hasSpans) expect(taken).to.have.property('total').that.is.above(0);
      else expect(taken).to.have.property('total', 0);
      expect(cost).to.be.below(150);
    });
});
