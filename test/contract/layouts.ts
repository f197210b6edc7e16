import fc from 'fast-check';
import { alertLayout } from '../../pipeline/alerting/book/alert.ts';
import { measureLayout } from '../../pipeline/counters/measure-layout.ts';
import { patternCountLayout } from '../../pipeline/counters/pattern-counts.ts';
import { spanCountLayout } from '../../pipeline/counters/span-counts.ts';
import { patternLayout } from '../../pipeline/counters/pattern-rows.ts';
import { volumeLayout } from '../../pipeline/counters/volume-layout.ts';
import { logLayout } from '../../pipeline/logs/columns/log-layout.ts';
import { definitionLayout, sampleLayout } from '../../pipeline/samples/sample.ts';
import { spanLayout } from '../../pipeline/traces/span.ts';
import { bins } from '../../pipeline/rows/bin-type.ts';
import { replayLayout } from '../../pipeline/replay/chunk.ts';
import { numberList } from '../../pipeline/rows/number-list-type.ts';
import * as fixed from '../../pipeline/rows/fixed-types.ts';
import { Layout } from '../../pipeline/rows/layout.ts';
import * as strings from '../../pipeline/rows/string-types.ts';
import { ALERTS, LOGS, MEASURES, PATTERN_COUNTS, PATTERNS, VOLUME } from '../fixtures/records/rows.ts';

/** A layout, and what its rows may be. */
export type Case = {
  readonly layout: Layout<object>;
  readonly row: fc.Arbitrary<object>;
  /** Rows whose record is in `test/fixtures/records`, byte for byte as an earlier version wrote it. */
  readonly written?: readonly object[];
};

const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.constantFrom('', '\u0000', 'é'.repeat(100), 'x'.repeat(20_000)));
const blob = (constraints: fc.IntArrayConstraints): fc.Arbitrary<Buffer> => fc.uint8Array(constraints).map((bytes) => Buffer.from(bytes));
const uint = (bits: number): fc.Arbitrary<number> => fc.integer({ min: 0, max: 2 ** bits - 1 });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const count = fc.maxSafeNat();
const seconds = fc.integer({ min: -2_208_988_800, max: 9_223_372_036 });
const pairs = fc.array(fc.tuple(text, text), { maxLength: 5 });
/** Bits of a Float64: also Prometheus' mark of a stale series, and other numbers that are none. */
const floatBits = fc.oneof(uint64, fc.constantFrom(0x7ff0000000000002n, 0x7ff8000000000001n, 0xfff0000000000000n, 1n << 63n));

/** A type, and what may be in its column. */
const TYPES = {
  uint8: [fixed.uint8, uint(8)],
  uint16: [fixed.uint16, uint(16)],
  uint32: [fixed.uint32, uint(32)],
  count: [fixed.count, count],
  uint64: [fixed.uint64, uint64],
  int64: [fixed.int64, int64],
  seconds: [fixed.seconds, seconds],
  milliseconds: [fixed.milliseconds, seconds.map((second) => second * 1000 - 7)],
  nanoseconds: [fixed.nanoseconds, fc.bigInt({ min: -2_208_988_800_000_000_000n, max: 2n ** 63n - 1n })],
  finite: [fixed.finite, fc.double({ noNaN: true, noDefaultInfinity: true })],
  floatBits: [fixed.floatBits, floatBits],
  bins: [
    bins,
    fc.uniqueArray(fc.tuple(uint(16), count), { selector: ([bin]) => bin, maxLength: 5 }).map((all) => all.sort(([a], [b]) => a - b)),
  ],
  spanId: [fixed.fixedBytes(8), blob({ minLength: 8, maxLength: 8 })],
  traceId: [fixed.fixedBytes(16), blob({ minLength: 16, maxLength: 16 })],
  string: [strings.string, text],
  bytes: [strings.bytes, blob({ maxLength: 300 })],
  word: [strings.word, text],
  numberList: [numberList, fc.array(count, { maxLength: 5 })],
  stringList: [strings.stringList, fc.array(text, { maxLength: 5 })],
  wordList: [strings.wordList, fc.array(text, { maxLength: 5 })],
  pairs: [strings.pairs, pairs],
  wordPairs: [strings.wordPairs, pairs],
  sortedPairs: [
    strings.sortedPairs,
    fc.dictionary(text, text, { maxKeys: 5 }).map((map) => Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1))),
  ],
} as const;

/** What a record of one row of a source has. */
const of = (members: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<object> => fc.record(members);
const tenant = { tenantId: fc.integer({ min: 1, max: 2 ** 32 - 1 }), retentionDays: uint(16) };
const segment = { partition: uint(16), segment: fc.nat(2 ** 31), until: fc.integer({ min: 2 ** 31, max: 2 ** 45 }), run: count };
const span = fc.constantFrom(60, 3600);

const cases = [
  {
    layout: logLayout,
    row: of({
      ...{ time: TYPES.nanoseconds[1], streamId: uint64, severity: uint(3), pattern: uint64, level: text, service: text },
      ...{ traceId: text, spanId: text, message: text, fields: pairs, jsonKeys: fc.array(text, { maxLength: 3 }) },
    }),
    written: LOGS,
  },
  {
    layout: sampleLayout,
    row: of({
      ...{ type: fc.nat(3), series: uint64, time: TYPES.milliseconds[1], start: TYPES.milliseconds[1], value: floatBits },
      payload: TYPES.bytes[1],
    }),
  },
  { layout: definitionLayout, row: of({ definition: text }) },
  {
    layout: replayLayout,
    row: of({
      ...{
        kind: fc.nat(1),
        session: text.map((session) => session || 's'),
        seq: uint64,
        part: uint(16),
        events: uint(32),
        bytes: uint(32),
      },
      ...{ first: fc.nat(2 ** 31), last: fc.integer({ min: 2 ** 31, max: 2 ** 42 }), clicks: TYPES.numberList[1] },
      ...{ errors: uint(32), failedRequests: uint(32), snapshot: TYPES.milliseconds[1], meta: TYPES.milliseconds[1] },
      ...{ urls: TYPES.stringList[1], user: text, service: text, version: text, traceIds: TYPES.stringList[1], body: TYPES.bytes[1] },
    }),
  },
  {
    layout: spanLayout,
    row: of({
      ...{ time: fc.bigInt({ min: -2_208_988_800_000_000_000n, max: 2n ** 62n }), duration: fc.bigInt({ min: 0n, max: 2n ** 62n - 1n }) },
      ...{ traceId: TYPES.traceId[1], spanId: TYPES.spanId[1], parentSpanId: TYPES.spanId[1], service: text, name: text },
      ...{ kind: fc.nat(5), status: fc.nat(2), statusMessage: text, traceState: text, flags: uint(32), scope: text, scopeVersion: text },
      ...{
        context: text,
        resource: text,
        longResource: text,
        resourceTypes: text,
        attributes: pairs,
        attributeTypes: text,
        events: text,
        links: text,
      },
      ...{ droppedAttributes: uint(32), droppedEvents: uint(32), droppedLinks: uint(32) },
    }),
  },
  {
    layout: volumeLayout,
    row: of({
      ...{ ...tenant, scope: fc.constantFrom(0, 1, 2), time: seconds, streamId: uint64, level: blob({ maxLength: 300 }) },
      ...{ entries: count.map((entries) => entries || 1), bytes: count, span, ...segment },
    }),
    written: VOLUME,
  },
  {
    layout: measureLayout,
    row: of({ ...tenant, name: text, labels: TYPES.sortedPairs[1], span, time: seconds, value: TYPES.finite[1], version: count }),
    written: MEASURES,
  },
  {
    layout: patternCountLayout,
    row: of({
      ...{ ...tenant, scope: fc.constantFrom(0, 1, 2), span, time: seconds, pattern: uint64, streamId: uint64, severity: uint(3) },
      ...{ ...segment, part: uint(16), entries: count, first: count, last: count },
    }),
    written: PATTERN_COUNTS,
  },
  {
    layout: spanCountLayout,
    row: of({
      ...{
        ...tenant,
        scope: fc.constantFrom(0, 1, 2, 3),
        span,
        time: seconds,
        service: text,
        operation: text,
        caller: text,
        kind: fc.nat(5),
      },
      ...{ ...segment, spans: count, errors: count, duration: TYPES.finite[1], last: seconds, durations: TYPES.bins[1] },
    }),
  },
  {
    layout: patternLayout,
    row: of({
      ...{ ...tenant, publishedAt: seconds, fingerprint: text, root: text, template: text, example: text },
      ...{ severity: uint(3), first: count, version: count },
    }),
    written: PATTERNS,
  },
  {
    layout: alertLayout,
    row: of({
      ...{ ...tenant, id: count.map((id) => id || 1), part: fc.constantFrom(0, 1), version: count, firedAt: seconds, updatedAt: seconds },
      ...{ resolvedAt: seconds, detector: text, stream: text, service: text, severity: text, state: text, title: text },
      ...{ description: text, evidence: text, fireCount: uint(32), note: text, incidentId: count },
    }),
    written: ALERTS,
  },
  {
    // every type, of layouts that are still to come too
    layout: new Layout<Record<string, unknown>>(
      'types',
      Object.entries(TYPES).map(([name, [type]]) => ({ name, type, member: name })),
    ),
    row: of(Object.fromEntries(Object.entries(TYPES).map(([name, [, value]]) => [name, value]))),
  },
];

/** Every layout. */
export const layouts = cases as unknown as readonly Case[];
