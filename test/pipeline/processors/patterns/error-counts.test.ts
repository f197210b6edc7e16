import { expect } from 'chai';
import fc from 'fast-check';
import { readColumns, type ColumnsView } from '../../../../pipeline/logs/columns/column-reader.ts';
import { encodeErrors, errorPartials, readErrors, streamIdOf } from '../../../../pipeline/processors/patterns/error-counts.ts';
import { PatternSegment, type PatternErrors } from '../../../../pipeline/processors/patterns/pattern-segment.ts';
import { encodeSeen, readSeen } from '../../../../pipeline/processors/patterns/patterns-partial.ts';
import { RecordPatterns } from '../../../../pipeline/processors/patterns/record-patterns.ts';
import { MAX_PARTIAL_BYTES } from '../../../../pipeline/processors/base/partial.ts';
import { logMessage } from '../inputs.ts';

const NOW = 1_795_269_600_000;
const DAY_MS = 86_400_000;

function viewOf(entries: readonly object[]): ColumnsView {
  const { value } = logMessage(entries, { offset: 0, appendedAt: NOW });
  const view = value === null ? '' : readColumns(value, entries.length);
  if (typeof view === 'string') throw new Error(view);
  return view;
}

/** A segment of these entries. */
function segmentOf(entries: readonly object[], tenant = 1): PatternSegment {
  const [segment, record] = [new PatternSegment(0, NOW, 1), new RecordPatterns()];
  record.count(viewOf(entries));
  segment.add(record, tenant, 30);
  return segment;
}

const entry = (_msg: string, level: string, ago = 0): object => ({ _msg, level, app: 'a', _time: new Date(NOW - ago).toISOString() });
const read = (entries: readonly object[]): PatternErrors[] => errorPartials(segmentOf(entries), NOW).flatMap(({ value }) => readErrors(value) ?? []); // prettier-ignore

describe('the errors of patterns, as partitions tell them', () => {
  it('are those of error and fatal entries alone, by stream and minute', () => {
    const found = read([
      ...[1, 2, 3].map((number) => entry(`cannot open ${String(number)}`, number === 3 ? 'fatal' : 'error')),
      entry('cannot open 4', 'error', 60_000),
      entry('cannot open 5', 'warn'),
      entry('ready', 'info'),
    ]);
    expect(found).to.have.length(1);
    const errors = new Map<number, number>();
    for (const { minute, errors: count } of found[0]?.counts ?? []) errors.set(minute, (errors.get(minute) ?? 0) + count);
    expect([...errors]).to.deep.equal([
      [NOW / 60_000, 3],
      [NOW / 60_000 - 1, 1],
    ]);
    expect(errorPartials(segmentOf([entry('ready', 'info')]), NOW)).to.deep.equal([]);
  });

  it('are not told where they are too old, or too new, to say what is usual', () => {
    const counts = read([entry('a', 'error', 16 * DAY_MS), entry('a', 'error', 14 * DAY_MS), entry('a', 'error', -2 * 3_600_000)]).flatMap((one) => one.counts); // prettier-ignore
    expect(counts.map(({ minute }) => minute)).to.deep.equal([(NOW - 14 * DAY_MS) / 60_000]);
  });

  it('are told of the same five hundred patterns each time', () => {
    const words = Array.from({ length: 700 }, (_none, index) => String(index).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? ''));
    const some = (list: readonly string[]): number[][] => read(list.map((word) => entry(`failed at ${word}`, 'error'))).map(({ high, low }) => [high, low]); // prettier-ignore
    const first = some(words);
    expect(first).to.have.length(500);
    expect(some([...words].reverse())).to.deep.equal(first);
  });

  const word = fc.integer({ min: 0, max: 0xffff_ffff });
  const count = fc.record({ streamHigh: word, streamLow: word, minute: fc.integer({ min: -1000, max: 30_000_000 }), errors: fc.nat() });
  const patterns = fc.array(fc.record({ high: word, low: word, counts: fc.array(count, { minLength: 1 }) }));

  it('name streams as rates does', () => {
    const stream = { streamHigh: 0x31_32_33_34, streamLow: 0xff_42_43_44, minute: 0, errors: 1 };
    expect(streamIdOf(stream)).to.equal('4321DCB\u00ff');
    expect(streamIdOf({ ...stream, streamHigh: 0, streamLow: 0 })).to.equal('');
  });

  it('are read as they were written, in partials that Kafka takes, and no other bytes are', () => {
    fc.assert(
      fc.property(patterns, (all) => {
        const values = encodeErrors(all);
        expect(values.flatMap((value) => readErrors(value) ?? [])).to.deep.equal(all);
        for (const value of values) expect(readSeen(value)).to.equal(null);
      }),
    );
    const counts = Array.from({ length: 45_000 }, (_none, minute) => ({ streamHigh: 2 ** 32 - 1, streamLow: minute, minute: 29_000_000 + minute, errors: 2 ** 53 - 1 })); // prettier-ignore
    const many = { high: 1, low: 2, counts };
    const values = encodeErrors([many, many]);
    expect(values.flatMap((value) => readErrors(value) ?? []).reduce((sum, { counts }) => sum + counts.length, 0)).to.equal(90_000);
    for (const value of values) expect(value.length).to.be.below(MAX_PARTIAL_BYTES);
    fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => void readErrors(Buffer.from(bytes))));
    for (const seen of encodeSeen([{ high: 1, low: 2, severity: 5, first: 3, message: 'x', stream: '{}' }])) expect(readErrors(seen)).to.equal(null); // prettier-ignore
  });
});
