import { expect } from 'chai';
import fc from 'fast-check';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { parseTime } from '../../../pipeline/core/time.ts';
import { readCursor, readWindow, writeCursor } from '../../../api/query/window.ts';

const NOW = parseTime('2026-11-18T11:00:00Z') ?? 0n;
const at = (text: string): bigint => parseTime(text) ?? 0n;

describe('windows of queries', () => {
  it('take relative, ISO and Unix times; the end includes its last unit', () => {
    expect(readWindow('-1h', 'now', NOW, 0)).to.deep.equal({ start: at('2026-11-18T10:00:00Z'), end: NOW, now: NOW });
    expect(readWindow('1h30m', '2026-11-18T10:10:00Z', NOW, 0)).to.deep.equal({
      start: at('2026-11-18T09:30:00Z'),
      end: at('2026-11-18T10:10:00.999999999Z'),
      now: at('2026-11-18T10:10:00Z'),
    });
    expect(readWindow('2026-11', '2026-11-18', NOW, 0).end).to.equal(at('2026-11-18T23:59:59.999999999Z'));
    expect(readWindow('1795000000', '1795000001000', NOW, 0)).to.include({
      start: 1_795_000_000_000_000_000n,
      end: 1_795_000_001_000_000_000n,
    });
    expect(readWindow('now', 'now', NOW, 0)).to.include({ start: NOW, end: NOW });
  });
  it('never reach beyond the retention', () => {
    expect(readWindow('-1y', 'now', NOW, 14).start).to.equal(at('2026-11-04T11:00:00Z'));
    expect(readWindow('-1y', 'now', NOW, 0).start).to.equal(at('2025-11-18T11:00:00Z'));
  });
  const refused: readonly (readonly [string, string, string])[] = [
    ['yesterday', 'now', 'start "yesterday" is not a valid time'],
    ['-1h', 'soon', 'end "soon" is not a valid time'],
    ['', 'now', 'start ""'],
    ['now', '-1h', 'is after end'],
    ['2026-13-01', 'now', 'is not a valid time'],
    ['9e30', 'now', 'start "9e30" is not a valid time'],
    ['-9e30', 'now', 'is not a valid time'],
    ['now', '1e999', 'end "1e999" is not a valid time'],
    ['-500y', 'now', 'start "-500y" is not a valid time'],
    ['-300000y', 'now', 'is not a valid time'],
  ];
  for (const [start, end, message] of refused)
    it(`refuse ${JSON.stringify([start, end])}`, () =>
      expect(() => readWindow(start, end, NOW, 0))
        .to.throw(HttpError, message)
        .with.property('status', 400));
});

describe('cursors', () => {
  it('are within the calendar', () => {
    for (const text of ['9e30', '-9e30', '99999999999999999999999'])
      expect(() => readCursor(text), text)
        .to.throw(HttpError, 'is not a valid time')
        .with.property('status', 400);
  });

  const position = {
    time: at('2026-11-18T10:00:00.000000005Z').toString(),
    arrived: '1795000000123',
    part: '7',
    offset: '18446744073709551615',
    index: '4294967295',
  };
  it('are times that carry the place of an entry', () => {
    const cursor = writeCursor(position);
    expect(cursor).to.match(/^2026-11-18T10:00:00\.000000005\d{49}Z$/);
    const read = readCursor(cursor);
    expect(read).to.deep.equal({
      time: position.time,
      arrived: '1795000000123',
      part: '7',
      offset: '18446744073709551615',
      index: '4294967295',
    });
    expect(parseTime(cursor)).to.equal(BigInt(position.time));
  });
  it('go back and forth for any place, before 1970 too', () => {
    const number = fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }).map(String);
    fc.assert(
      fc.property(
        fc.bigInt({ min: -2_208_988_800_000_000_000n, max: 9_214_646_400_000_000_000n }).map(String),
        number,
        number,
        (time, offset, index) => {
          const read = readCursor(writeCursor({ time, arrived: '1', part: '0', offset, index }));
          if (typeof read === 'bigint') throw new Error('no place');
          expect([read.time, BigInt(read.offset).toString(), BigInt(read.index).toString()]).to.deep.equal([time, offset, index]);
        },
      ),
    );
  });
  it('are plain times up to nine digits', () => {
    expect(readCursor('2026-11-18T10:00:00Z')).to.equal(at('2026-11-18T10:00:00Z'));
    expect(readCursor('2026-11-18T10:00:00.123456789Z')).to.equal(at('2026-11-18T10:00:00.123456789Z'));
  });
  for (const text of ['x', '', '2026-11-18T10:00:00.0000000001Z'])
    it(`refuse ${JSON.stringify(text)}`, () => expect(() => readCursor(text)).to.throw(HttpError));
});
