import { expect } from 'chai';
import { MessagePatterns } from '../../../../pipeline/clusterer/message-patterns.ts';
import { ByteReader, ByteWriter } from '../../../../pipeline/core/snapshot-bytes.ts';
import { whole } from '../../../../pipeline/processors/base/slices.ts';
import { ErrorPatterns, MOST_ERROR_PATTERNS, RecentStreams } from '../../../../pipeline/alerting/streams/error-patterns.ts';
import type { PatternErrors } from '../../../../pipeline/processors/patterns/pattern-segment.ts';
import type { SeenPattern } from '../../../../pipeline/processors/patterns/patterns-partial.ts';

/** 2026-11-24 00:00 UTC. */
const START = 1_795_478_400_000;
const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];
const messages = new MessagePatterns();

const word = (number: number): string => String(number).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '');

function seen(text: string, severity = 5): SeenPattern {
  const bytes = Buffer.from(text);
  messages.read(bytes, 0, bytes.length);
  return { high: messages.high, low: messages.low, severity, first: START, message: bytes.toString('latin1'), stream: '{}' };
}

const came = ({ high, low }: SeenPattern, minute: number, errors = 1, stream = 1): PatternErrors => ({
  ...{ high, low, counts: [{ streamHigh: stream, streamLow: 7, minute, errors }] },
});

function bytesOf(patterns: ErrorPatterns): Buffer {
  const to = new ByteWriter();
  whole(patterns.write(to));
  return Buffer.from(to.finish());
}

const templates = (patterns: ErrorPatterns): string[] => [...patterns].map(({ template }) => template);

describe('the error patterns of a tenant', () => {
  it('are errors alone, whose message makes the template that their number says', () => {
    const patterns = new ErrorPatterns();
    patterns.learn([seen('ready', 4), seen('cannot open 5'), { ...seen('made by other rules'), low: 3 }, seen('cannot open 6', 6)], START, 1e6); // prettier-ignore
    expect(templates(patterns)).to.deep.equal(['cannot open <N>']);
    // of others nothing is counted
    patterns.add([came({ ...seen('x'), high: 9 }, START / MINUTE_MS)], START, Infinity);
    expect([...patterns][0]?.streams.all).to.deep.equal([]);
  });

  it('are as many as a tenant may have; who was quiet longest makes room after an hour', () => {
    const patterns = new ErrorPatterns();
    const all = Array.from({ length: MOST_ERROR_PATTERNS + 50 }, (_none, index) => seen(`failed at ${word(index)}`));
    patterns.learn(all, START, Infinity);
    expect(patterns.size).to.equal(MOST_ERROR_PATTERNS);
    const [first, second, , fourth] = all as [SeenPattern, SeenPattern, SeenPattern, SeenPattern];
    patterns.add([came(first, 1), came(fourth, 1)], START + 10 * MINUTE_MS, Infinity);
    patterns.add([came(second, 1)], START + 5 * MINUTE_MS, Infinity);
    patterns.learn([seen('too soon')], START + HOUR_MS, Infinity);
    expect(templates(patterns)).not.to.include('too soon');
    patterns.learn([seen('later')], START + HOUR_MS + 1, Infinity);
    expect(templates(patterns)).to.include('later').and.not.to.include('failed at c');
    expect(templates(patterns)).to.include.members(['failed at a', 'failed at b']);
    // as there is no room for it, nothing is forgotten for it
    patterns.learn([seen('few of them')], START + HOUR_MS + 1, 10);
    expect(patterns.size).to.equal(MOST_ERROR_PATTERNS);
  });

  it('are as many as there is room for, and streams beyond it are counted together', () => {
    const patterns = new ErrorPatterns();
    const all = Array.from({ length: 20 }, (_none, index) => seen(`failed at ${word(index)}`));
    patterns.learn(all, START, 25_000);
    expect(patterns.size).to.equal(10);
    for (let stream = 0; stream < 100; stream++) patterns.add([came(all[0] as SeenPattern, 1, 2, stream)], START, 25_000);
    expect(patterns.bytes).to.be.within(24_000, 25_100);
    const [others, ...apart] = [...patterns][0]?.streams.all.map(([, errors]) => errors) ?? [];
    expect(others).to.be.above(100);
    expect([others, ...apart].reduce((sum, errors) => (sum ?? 0) + (errors ?? 0), 0)).to.equal(200);
    expect(apart.length).to.be.above(10);
  });

  it('are forgotten a day after their last error', () => {
    const patterns = new ErrorPatterns();
    const pattern = seen('failed');
    patterns.learn([pattern], START, 1e6);
    patterns.add([came(pattern, 1)], START + HOUR_MS, Infinity);
    expect(patterns.forget(START + 25 * HOUR_MS)).to.deep.equal([]);
    expect(patterns.size).to.equal(1);
    patterns.forget(START + 25 * HOUR_MS + 1);
    expect(patterns.size).to.equal(0);
  });

  it('are read from what was written, and take 8 KiB each at most, whatever comes', () => {
    const patterns = new ErrorPatterns();
    const all = Array.from({ length: MOST_ERROR_PATTERNS }, (_none, index) => seen(`${'\u00fc'.repeat(600)} ${'long '.repeat(400)}${word(index)}`)); // prettier-ignore
    patterns.learn(all, START, Infinity);
    for (let minute = 0; minute < 400; minute += 2)
      for (const pattern of all.slice(0, 20))
        patterns.add([came(pattern, START / MINUTE_MS + minute, 1e9 + minute, minute)], START + minute * 10, Infinity);
    const bytes = bytesOf(patterns);
    expect(bytes.length / patterns.size).to.be.below(8192);
    const read = ErrorPatterns.read(new ByteReader(bytes));
    expect(patterns.bytes)
      .to.be.above(bytes.length)
      .and.below(1.5 * bytes.length);
    expect(read.bytes).to.equal(patterns.bytes);
    expect(bytesOf(read).equals(bytes)).to.equal(true);
    expect(templates(read)).to.deep.equal(templates(patterns));
    for (let length = 0; length < bytes.length; length += 5003)
      expect(() => ErrorPatterns.read(new ByteReader(bytes.subarray(0, length)))).to.throw();
  });
});

describe('the streams that entries came from lately', () => {
  it('are those of this quarter of an hour and the one before, most entries first', () => {
    const streams = new RecentStreams();
    streams.add('a', 5, START);
    streams.add('b', 7, START + 15 * MINUTE_MS);
    expect(streams.all).to.deep.equal([['b', 7], ['a', 5]]); // prettier-ignore
    streams.add('a', 3, START + 16 * MINUTE_MS);
    expect(streams.all).to.deep.equal([['a', 8], ['b', 7]]); // prettier-ignore
    // append times that go backwards count as the newest one
    streams.add('b', 2, START);
    expect(streams.all).to.deep.equal([['b', 9], ['a', 8]]); // prettier-ignore
    streams.add('c', 1, START + 45 * MINUTE_MS);
    expect(streams.all).to.deep.equal([['c', 1]]);
  });

  it('are told apart as far as there is room', () => {
    const streams = new RecentStreams();
    for (let index = 0; index < 300; index++) streams.add(`s${String(index)}`, 1, START);
    expect(streams.all).to.have.length(201);
    expect(streams.all[0]).to.deep.equal(['', 100]);
    const to = new ByteWriter();
    streams.write(to);
    expect(RecentStreams.read(new ByteReader(Buffer.from(to.finish()))).all).to.deep.equal(streams.all);
  });
});
