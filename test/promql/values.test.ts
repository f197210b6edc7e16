import { expect } from 'chai';
import { unquote } from '../../promql/parser/unquote.ts';
import { durationText, readDuration } from '../../promql/values/durations.ts';
import { ratioOf } from '../../promql/values/hash.ts';
import { Mean, Sum } from '../../promql/values/kahan.ts';
import { compareLabels, Labels, quote, withoutName } from '../../promql/values/labels.ts';
import { compareNatural } from '../../promql/values/natural-order.ts';
import { plainNumber, readNumber, sampleText, shortNumber, STALE_BITS, StaleMarkers } from '../../promql/values/numbers.ts';
import { quantileOfSorted, sortedNumbers } from '../../promql/values/quantile.ts';

describe('values of PromQL', () => {
  it('are numbers as Prometheus writes them', () => {
    const cases: readonly (readonly [number, string, string, string])[] = [
      [1, '1', '1', '1'],
      [-0, '-0', '-0', '-0'],
      [0.1, '0.1', '0.1', '0.1'],
      [1e-7, '0.0000001', '1e-07', '1e-07'],
      [0.00001, '0.00001', '0.00001', '1e-05'],
      [1.5e21, '1500000000000000000000', '1.5e+21', '1.5e+21'],
      [-2.5e-10, '-0.00000000025', '-2.5e-10', '-2.5e-10'],
      [123456789, '123456789', '123456789', '123456789'],
      [NaN, 'NaN', 'NaN', 'NaN'],
      [Infinity, '+Inf', '+Inf', '+Inf'],
      [-Infinity, '-Inf', '-Inf', '-Inf'],
    ];
    for (const [value, plain, sample, short] of cases)
      expect([plainNumber(value), sampleText(value), shortNumber(value)], String(value)).to.deep.equal([plain, sample, short]);
  });

  it('are numbers as Go reads them', () => {
    const cases: readonly (readonly [string, number | null])[] = [
      ['1', 1],
      ['+Inf', Infinity],
      ['-inf', -Infinity],
      ['Infinity', Infinity],
      ['nan', NaN],
      ['1e3', 1000],
      ['.5', 0.5],
      ['0x1F', 31],
      ['', null],
      ['Hello World', null],
      ['1s', null],
      ['0xg', null],
    ];
    // what every object has
    for (const text of ['constructor', '__proto__', 'hasOwnProperty']) expect(readNumber(text), text).to.equal(null);
    for (const [text, value] of cases) expect(readNumber(text), text).to.deep.equal(value);
  });

  it('are durations in both directions', () => {
    const cases: readonly (readonly [string, number])[] = [
      ['5m', 300_000],
      ['1h30m', 5_400_000],
      ['1d', 86_400_000],
      ['1w', 604_800_000],
      ['36h', 129_600_000],
      ['1m500ms', 60_500],
      ['0s', 0],
    ];
    for (const [text, ms] of cases) expect([readDuration(text), durationText(ms)], text).to.deep.equal([ms, text]);
    expect(durationText(-300_000)).to.equal('-5m');
    expect([readDuration(''), readDuration('5'), readDuration('5m1h')]).to.deep.equal([null, null, null]);
  });

  it('know the marker of an end from all other numbers that are none', () => {
    const values = new Float64Array(4);
    const bits = new BigUint64Array(values.buffer);
    bits.set([STALE_BITS, 0x7ff8000000000001n, 0x7ff0000000000001n, 0x7ff8000000000002n]);
    const markers = new StaleMarkers(values);
    expect([0, 1, 2, 3].map((at) => markers.at(at))).to.deep.equal([true, false, false, false]);
  });

  it('are strings with escapes of bytes, also of bytes that are no UTF-8', () => {
    expect(unquote(String.raw`"a\n\"\x41\u00e9\101"`)).to.equal('a\n"AéA');
    expect(unquote(String.raw`"\xe2\x82\xac"`)).to.equal('€');
    expect(unquote(String.raw`'it\'s'`)).to.equal("it's");
    expect(unquote('`\\n`')).to.equal('\\n');
    const broken = unquote(String.raw`"a\xc5z"`) ?? '';
    expect([broken.isWellFormed(), quote(broken)]).to.deep.equal([false, String.raw`"a\xc5z"`]);
    for (const wrong of [String.raw`"\q"`, String.raw`"\'"`, String.raw`"\x4"`, String.raw`"\ud800"`, String.raw`"\777"`])
      expect(unquote(wrong), wrong).to.equal(null);
  });

  it('are labels in the order of their names, equal by their key', () => {
    const labels = Labels.of([
      ['b', '2'],
      ['__name__', 'up'],
      ['empty', ''],
      ['a', '1'],
    ]);
    expect(labels.toString()).to.equal('{__name__="up", a="1", b="2"}');
    expect(labels.key).to.equal(Labels.of(labels.pairs().reverse()).key);
    expect(withoutName(labels).toString()).to.equal('{a="1", b="2"}');
    expect(labels.with('a', '').with('c', '3').toString()).to.equal('{__name__="up", b="2", c="3"}');
    expect(compareLabels(Labels.of([['a', '1']]), labels)).to.be.above(0);
    expect(ratioOf(labels)).to.be.within(0, 1);
  });

  it('are in natural order where digits count', () => {
    const sorted = ['a10', 'a9', 'a', 'b1', 'a09', 'a9b'].sort(compareNatural);
    expect(sorted).to.deep.equal(['a', 'a09', 'a9', 'a9b', 'a10', 'b1']);
  });

  it('are summed without what rounding loses, and averaged without overflow', () => {
    const sum = new Sum();
    for (const value of [1, 1e100, 1, -1e100]) sum.add(value);
    expect(sum.value).to.equal(2);
    const mean = new Mean();
    for (const value of [1.5e308, 1.5e308, 1.5e308]) mean.add(value);
    expect(mean.value).to.be.closeTo(1.5e308, 1e293);
  });

  it('have quantiles, of what is no number too', () => {
    const sorted = sortedNumbers([3, NaN, 1, 2]);
    expect([...sorted]).to.deep.equal([NaN, 1, 2, 3]);
    expect(quantileOfSorted(0.5, sorted, 4)).to.equal(1.5);
    expect([-1, 2, NaN].map((quantile) => quantileOfSorted(quantile, sorted, 4))).to.deep.equal([-Infinity, Infinity, NaN]);
  });
});
