import { expect } from 'chai';
import fc from 'fast-check';
import { barsOf, niceTop, stepOf, ticksOf } from '../../web/ui/explore/bars.ts';
import { csvColumns, csvHead, csvLines } from '../../web/ui/explore/csv.ts';
import { idOf, textOf } from '../../web/ui/explore/entry.ts';
import { LiveBuffer, MOST_ROWS } from '../../web/ui/explore/live-buffer.ts';
import { areEntries, seriesOf, shapeOf } from '../../web/ui/explore/results.ts';
import { lineOf, textPieces } from '../../web/ui/explore/text.ts';
import { bytes, count, duration, percent, plural, shortCount } from '../../web/ui/base/format.ts';
import { clockOf, dateAndClock, shortMoment } from '../../web/ui/base/time.ts';

const joined = (text: string, terms: string[] = []): string => textPieces(text, terms).map((piece) => piece.text).join(''); // prettier-ignore

describe('the text of a log', () => {
  it('is all there, markup too', () => {
    for (const text of ['<img src=x onerror=alert(1)>', '<script>alert(1)</script>', '&lt;', 'a=b c="d"', 'took 31 ms', '🙂 ünï'])
      expect(joined(text, ['a', 'took'])).to.equal(text);
  });

  it('has every character of what has no special ones', () =>
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom('a', 'B', '=', ' ', '1', '.', 'ß', '"') }), fc.array(fc.string()), (text, terms) => joined(text, terms) === text))); // prettier-ignore

  it('marks what was searched for, and values', () => {
    expect(textPieces('Payment of 70.45 EUR by=web', ['payment'])).to.deep.equal([
      { text: 'Payment', style: 'mark' },
      { text: ' of ', style: '' },
      { text: '70.45', style: 'value' },
      { text: ' EUR by=', style: '' },
      { text: 'web', style: 'value' },
    ]);
  });

  it('has the colours of a terminal, and signs for what has no shape', () => {
    expect(textPieces('\u001b[1;31mERR\u001b[0m ok\u001b[2K\u0007')).to.deep.equal([
      { text: 'ERR', style: 'a-bold a-red' },
      { text: ' ok', style: '' },
      { text: '␇', style: 'sign' },
    ]);
    expect(joined('a\u202eb\u200b')).to.equal('aU+202EbU+200B');
  });

  it('is cut for a line of the list, and read in bounded time', () => {
    const { text, rest } = lineOf('é'.repeat(1_000_000));
    expect(text.length).to.equal(2000);
    expect(rest).to.equal(998_000);
    expect(lineOf('a\nb\tc').text).to.equal('a b c');
    for (const hostile of ['\u001b['.repeat(1000), '1.'.repeat(1000), '='.repeat(2000), '\u001b[' + '1;'.repeat(999) + 'm'])
      expect(textPieces(hostile, ['1', '=']).length).to.be.below(5000);
  });
});

describe('an entry', () => {
  it('is named by its time, stream and message', () => {
    const entry = { _time: '2026-11-20T22:44:35.041812377Z', _stream: '{a="b"}', _msg: 'x' };
    expect(idOf(entry)).to.match(/^2026-11-20T22:44:35\.041812377Z~[0-9a-z]+$/);
    expect(idOf({ ...entry })).to.equal(idOf(entry));
    expect(idOf({ ...entry, _msg: 'y' })).to.not.equal(idOf(entry));
  });

  it('has values as text', () => {
    expect(textOf({ a: { b: 1 }, c: null, d: 0, e: false }, 'a')).to.equal('{"b":1}');
    expect(['c', 'd', 'e', 'f'].map((name) => textOf({ c: null, d: 0, e: false }, name))).to.deep.equal(['', '0', 'false', '']);
  });
});

describe('a table of entries', () => {
  const rows = [
    { _time: 't', _msg: 'a,"b"\n', x: '=1+1' },
    { _time: 't', _msg: '-5', y: { z: 1 } },
  ];
  it('is RFC 4180, has all fields, and no formula', () => {
    const columns = csvColumns(rows.slice(0, 1));
    expect(csvHead(columns)).to.equal('_time,_msg,x,other_fields\r\n');
    expect(csvLines(rows, columns)).to.equal(`t,"a,""b""\n",'=1+1,\r\nt,-5,,"{""y"":{""z"":1}}"\r\n`);
  });
});

describe('bars over time', () => {
  const span = { start: Date.parse('2026-11-20T22:00:30Z'), end: Date.parse('2026-11-20T22:05:30Z') };
  it('are one for each step, also where nothing was', () => {
    const bars = barsOf([{ time: '2026-11-20T22:02:00Z', hits: 7, level: 'ERROR' }, { time: '2026-11-20T22:02:00Z', hits: 2 }], span, 60_000, (level) => (level === 'ERROR' ? 'error' : 'info')); // prettier-ignore
    expect(bars.map(({ total }) => total)).to.deep.equal([0, 0, 9, 0, 0, 0]);
    expect(bars[2]?.counts).to.deep.equal({ error: 7, warn: 0, info: 2, debug: 0 });
  });
  it('are at most 200, of any window of the retention', () => {
    const day = 864e5;
    expect([3e5, 36e5, day, 7 * day, 30 * day].map((length) => stepOf({ start: 0, end: length }).name)).to.deep.equal(['1m', '1m', '15m', '1h', '6h']); // prettier-ignore
    expect(barsOf([], { start: 0, end: 1e15 }, 60_000, () => 'info').length).to.be.at.most(2000);
  });
  it('have a round top and round ticks', () => {
    expect([0, 1, 3, 9, 11, 180, 5001].map(niceTop)).to.deep.equal([1, 1, 5, 10, 20, 200, 10_000]);
    expect(ticksOf(span, 9).map((at) => new Date(at).toISOString().slice(14, 19))).to.deep.equal(['01:00', '02:00', '03:00', '04:00', '05:00']); // prettier-ignore
  });
});

describe('rows of pipes', () => {
  it('are drawn as what they are', () => {
    const times = [{ _time: '2026-11-20T22:00:00Z', n: '3', host: 'a' }, { _time: '2026-11-20T22:01:00Z', n: '4', host: 'a' }, { _time: '2026-11-20T22:01:00Z', n: '1', host: 'b' }]; // prettier-ignore
    expect(shapeOf(times)).to.deep.equal({ columns: ['_time', 'n', 'host'], numbers: ['n'], chart: 'lines' });
    expect(seriesOf(times, shapeOf(times)).series).to.deep.equal([
      { name: 'a', values: [3, 4] },
      { name: 'b', values: [null, 1] },
    ]);
    expect(
      shapeOf([
        { host: 'a', n: 1 },
        { host: 'b', n: 2 },
      ]).chart,
    ).to.equal('bars');
    expect(shapeOf([{ n: 1 }]).chart).to.equal(null);
    expect(shapeOf([{ host: 'a' }, { host: 'b' }]).chart).to.equal(null);
    expect(areEntries([{ _time: 't', _msg: 'm' }])).to.equal(true);
    expect(areEntries([{ n: 1 }])).to.equal(false);
  });
});

describe('a live tail', () => {
  it('has the newest on top, holds what comes while it is paused, and counts what it cannot keep', () => {
    const buffer = new LiveBuffer();
    buffer.take({ n: 1 });
    buffer.take({ n: 2 });
    expect(buffer.flush()).to.equal(true);
    expect(buffer.rows).to.deep.equal([{ n: 2 }, { n: 1 }]);
    expect(buffer.flush()).to.equal(false);
    buffer.isPaused = true;
    for (let n = 0; n < MOST_ROWS + 5; n += 1) buffer.take({ n });
    expect(buffer.flush()).to.equal(false);
    expect([buffer.waiting, buffer.dropped, buffer.seen]).to.deep.equal([MOST_ROWS, 5, MOST_ROWS + 7]);
    buffer.isPaused = false;
    buffer.flush();
    expect([buffer.waiting, buffer.rows.length, buffer.rows[0]?.['n']]).to.deep.equal([0, MOST_ROWS, MOST_ROWS + 4]);
  });
});

describe('figures', () => {
  it('are always written the same', () => {
    expect([count(12_431), shortCount(9999), shortCount(12_431), shortCount(1_250_000)]).to.deep.equal([
      '12,431',
      '9,999',
      '12.4k',
      '1.3M',
    ]);
    expect([percent(0, 5), percent(1, 1000), percent(999, 1000), percent(5, 5), percent(1, 0)]).to.deep.equal(['0 %', '< 1 %', '99 %', '100 %', '0 %']); // prettier-ignore
    expect([bytes(900), bytes(1234), bytes(310_000), bytes(2e9)]).to.deep.equal(['900 B', '1.2 kB', '310 kB', '2.0 GB']);
    expect([duration(41), duration(3200), duration(240_000), duration(7.2e6), duration(3e8)]).to.deep.equal(['41 ms', '3.2 s', '4 min', '2 h', '3 d']); // prettier-ignore
    expect([plural(1, 'row'), plural(2, 'entry', 'entries')]).to.deep.equal(['1 row', '2 entries']);
  });
  it('of times keep their nanoseconds', () => {
    const iso = '2026-11-20T22:44:35.041812377Z';
    expect(clockOf(iso, 'utc')).to.equal('22:44:35.041');
    expect(dateAndClock(iso, 'utc', 9)).to.equal('2026-11-20 22:44:35.041812377');
    expect(dateAndClock('', 'utc')).to.be.a('string');
    expect(shortMoment(Date.parse('2026-11-20T22:44:00Z'), 'utc', Date.parse('2026-11-21T01:00:00Z'))).to.equal('11-20 22:44');
  });
});
