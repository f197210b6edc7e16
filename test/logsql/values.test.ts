import { expect } from 'chai';
import fc from 'fast-check';
import { FieldSet, coversField } from '../../logsql/base/fields.ts';
import { foldCase, foldsTo } from '../../logsql/values/fold.ts';
import { flattenJson, splitJsonArray } from '../../logsql/base/json.ts';
import {
  formatDuration,
  formatFloat,
  formatIpv4,
  numericValue,
  parseBytes,
  parseDecimal,
  parseDuration,
  parseInteger,
  parseIpv4,
  parseNumber,
  parseTimestamp,
  parseUint,
} from '../../logsql/values/numbers.ts';
import { compareBytes, compareNatural, compareSorted, compareTimes, compareValues } from '../../logsql/values/order.ts';
import { throughPipes } from '../../logsql/evaluation/pipeline.ts';
import { MAX_PROGRAM_SIZE, RegexpError, compileRegexp, quoteRegexp } from '../../logsql/values/regexp.ts';
import { readTime } from '../../logsql/values/times.ts';
import { hasPhrase, hasPrefix, wholeWordsOfPrefix, wordsOf } from '../../logsql/values/words.ts';
import { EVERYTHING, NOW, entryOf, nanoseconds, parse, plainOf, syntaxError } from './support.ts';

describe('LogsQL words and phrases', () => {
  const phrases: readonly (readonly [string, string, boolean])[] = [
    ['login failed', 'login fail', false],
    ['login failed', 'login failed', true],
    ['1.5s', '1.5', false],
    ['error_code=7', 'error_code=', true],
    ['error_code=7', 'error', false],
    ['a=b', '=', true],
    ['foobar foo', 'foo', true],
    ['x²y', 'x', true],
    ['Straße', 'Stra', false],
    ['日本語ログ', '日本', false],
    ['“error”', 'error', true],
    ['e\u0301cole', 'e', true],
    ['𝒜error', 'error', false],
    ['𝒜error', '𝒜', false],
    ['a 𝒜', '𝒜', true],
    ['', '', true],
    ['a', '', false],
  ];
  for (const [text, phrase, expected] of phrases)
    it(`${phrase} in ${text}: ${String(expected)}`, () => expect(hasPhrase(text, phrase)).to.equal(expected));
  it('finds prefixes at the beginning of words', () => {
    expect(hasPrefix('a foobar', 'foo')).to.equal(true);
    expect(hasPrefix('a xfoo', 'foo')).to.equal(false);
    expect(hasPrefix('a xfoo foob', 'foo')).to.equal(true);
    expect(hasPrefix('x=5', '=')).to.equal(true);
    expect(hasPrefix('', '')).to.equal(false);
  });
  it('splits into words', () => {
    expect(wordsOf('foo-bar_1, "é"')).to.deep.equal(['foo', 'bar_1', 'é']);
    expect(wholeWordsOfPrefix('foo ba')).to.deep.equal(['foo']);
    expect(wholeWordsOfPrefix('foo ')).to.deep.equal(['foo']);
  });
});

describe('LogsQL numbers', () => {
  const table: readonly (readonly [string, number | null])[] = [
    ['10', 10],
    ['-1.5', -1.5],
    ['1_000', 1000],
    ['1e3', 1000],
    ['+5', 5],
    ['.5', 0.5],
    ['5.', 5],
    ['0x1f', 31],
    ['0b101', 5],
    ['0o17', 15],
    ['-0x10', -16],
    ['inf', Infinity],
    ['-Inf', -Infinity],
    ['nan', null],
    ['', null],
    ['-', null],
    ['1.2.3', null],
    ['1,000', null],
    ['12abc', null],
    ['1e400', null],
    ['10KiB', 10_240],
    ['1.5MB', 1_500_000],
    ['2K', 2000],
    ['700B', 700],
    ['1KB2B', 1002],
    ['1.5', 1.5],
    ['10kb', null],
    ['5m', 3e11],
    ['1h30m', 5.4e12],
    ['250ms', 2.5e8],
    ['1.5s', 1.5e9],
    ['789µs', 789_000],
    ['-1s', -1e9],
    ['1y', 3.1536e16],
    ['5x', null],
    ['_', 0],
    ['_._', 0],
    ['_1', 1],
    ['0x_', null],
    ['0x_ff', 255],
    ['0xf__f', null],
    ['0xffffffffffffffff', null],
  ];
  for (const [text, expected] of table) it(`${text} is ${String(expected)}`, () => expect(parseNumber(text)).to.equal(expected));
  it('reads times and addresses where they compare as numbers', () => {
    expect(numericValue('2026-11-18T10:00:00Z')).to.equal(Number(nanoseconds('2026-11-18T10:00:00Z')));
    expect(numericValue('10.0.0.1')).to.equal(167_772_161);
    expect(numericValue('x')).to.be.NaN;
    expect(parseTimestamp('2026-11-18 10:00:00.5+02:00')).to.equal(nanoseconds('2026-11-18T08:00:00.5Z'));
    expect(parseTimestamp('2026-11-18')).to.equal(null);
    expect(parseIpv4('1.2.3.256')).to.equal(null);
    expect(formatIpv4(167_772_161)).to.equal('10.0.0.1');
  });
  it('keeps 64 bits', () => {
    expect(parseUint('18446744073709551615')).to.equal(18_446_744_073_709_551_615n);
    expect(parseUint('18446744073709551616')).to.equal(null);
    expect(parseInteger('-9223372036854775808')).to.equal(-(1n << 63n));
    expect(parseInteger('9223372036854775808')).to.equal(null);
    expect(parseDecimal('1.50')).to.equal(1.5);
    expect(parseBytes('1.5')).to.equal(null);
    expect(parseDuration('5')).to.equal(null);
  });
  it('prints floats without exponents, back and forth', () => {
    expect(formatFloat(1e21)).to.equal('1000000000000000000000');
    expect(formatFloat(1.5e-7)).to.equal('0.00000015');
    expect(formatFloat(-1.25e22)).to.equal('-12500000000000000000000');
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        (value) => Number(formatFloat(value)) === value || Object.is(value, -0),
      ),
    );
  });
  it('prints durations that read back', () => {
    expect(formatDuration(5.4e12 + 1.5e9)).to.equal('1h30m1.5s');
    expect(formatDuration(2_785_010)).to.equal('2ms785µs10ns');
    expect(formatDuration(0)).to.equal('0');
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 40 }), (value) => Math.abs((parseDuration(formatDuration(value)) ?? NaN) - value) <= 1),
    );
  });
});

describe('LogsQL order', () => {
  const sorted = (texts: readonly string[], compare: (a: string, b: string) => number): string[] => [...texts].sort(compare);
  it('is natural, with the missing first', () => {
    expect(sorted(['1.10.0', 'v2', '', '1.9.0', 'a10', 'a9', '10'], compareNatural)).to.deep.equal([
      '',
      '1.9.0',
      '1.10.0',
      '10',
      'a9',
      'a10',
      'v2',
    ]);
  });
  it('goes by size where values have one', () => {
    expect(sorted(['2m45s', '1830ms', '', '5'], compareValues)).to.deep.equal(['', '5', '1830ms', '2m45s']);
    expect(sorted(['2m45s', '1830ms'], compareSorted)).to.deep.equal(['2m45s', '1830ms']);
    expect(sorted(['10.0.0.2', '9.0.0.1', '10.0.0.10'], compareSorted)).to.deep.equal(['9.0.0.1', '10.0.0.2', '10.0.0.10']);
    expect(sorted(['1e3', '999', '-5', '0.5'], compareValues)).to.deep.equal(['-5', '0.5', '999', '1e3']);
  });
  it('of bytes is that of UTF-8', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: 'grapheme' }),
        (a, b) => Math.sign(compareBytes(a, b)) === Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))),
      ),
    );
  });
  it('of times is that of instants', () => {
    expect(compareTimes('2026-11-18T10:00:00Z', '2026-11-18T10:00:00.5Z')).to.be.below(0);
    expect(compareTimes('2026-11-18T10:00:00.123Z', '2026-11-18T10:00:00.5Z')).to.be.below(0);
  });
});

describe('LogsQL case folding', () => {
  it('folds character by character', () => {
    expect(foldCase('İSTANBUL ΟΔΟΣ')).to.equal('istanbul οδοσ');
    expect(foldCase('plain')).to.equal('plain');
  });
  it('knows what folds to a character', () => {
    expect(Array.from(foldsTo('k'))).to.have.members(['K', 'k', '\u212a']);
    expect(foldsTo('i')).to.include('İ');
    expect(foldsTo('1')).to.equal('1');
  });
});

describe('LogsQL regexps', () => {
  it('are RE2, with a limit', () => {
    expect(compileRegexp('a|b', 'label').test('ab')).to.equal(false);
    for (const source of ['[', '(?=a)', '\\1', ')(', 'a{1001}']) expect(() => compileRegexp(source, 'label'), source).to.throw(RegexpError);
  });
  it('let `.` match a newline in filters and not in pipes', () => {
    for (const [source, filter, label, pipe] of [
      ['a.b', true, true, false],
      ['a.*b', true, true, false],
      ['^a.b$', true, true, false],
      ['(?s)a.b', true, true, true],
      ['(?-s)a.b', false, false, false],
      ['a[^x]b', true, true, true],
      ['b$', true, false, true],
    ] as const)
      expect(
        (['filter', 'label', 'pipe'] as const).map((kind) => compileRegexp(source, kind).test('a\nb')),
        source,
      ).to.deep.equal([filter, label, pipe]);
  });
  it('are bounded by the size of their programs, not by their length', () => {
    const small = [
      'x'.repeat(5000),
      '\\pL{1000}',
      '(?:a|bc){100}',
      '[^]a-z[:alpha:]]{900}',
      '\\Q((((\\E{3}',
      'a{2,}b{0}',
      '(?P<x>a{3}){4}',
    ];
    for (const source of small) expect(compileRegexp(source, 'filter').size, source).to.be.below(MAX_PROGRAM_SIZE);
    const large = [
      '(?:abcdefghijk){1000}',
      '(?:.?.?.?.?.?.?){1000}',
      '(?P<x>[ab]{20}c?){50}(?:[ab]{20}c?){50}(?:[ab]{20}c?){50}(?:[ab]{20}c?){50}(?:[ab]{20}c?){50}(?:[ab]{20}c?){50}(?:[ab]{20}c?){50}(?:[ab]{20}c?){50}(?:[ab]{20}c?){50}(?:[ab]{20}c?){50}',
      'x'.repeat(10_001),
    ];
    for (const source of large) expect(() => compileRegexp(source, 'pipe'), source).to.throw(RegexpError, 'instructions');
  });
  it('are not compiled where they repeat too much', () => {
    const before = process.memoryUsage().heapUsed;
    expect(() => compileRegexp(`(?:${'x'.repeat(1000)}){1000}`, 'filter')).to.throw(RegexpError, 'at most 10000 instructions');
    expect(process.memoryUsage().heapUsed - before).to.be.below(50_000_000);
  });
  it('of a query count together', () => {
    const one = '_msg:~"a{1000}"';
    const many = (count: number): string => Array.from({ length: count }, () => one).join(' or ');
    expect(syntaxError(many(9))).to.equal(null);
    expect(syntaxError(many(10))?.expected).to.contain('at most 10000 instructions together');
    for (const rest of ['{app=~"a{1000}"}', '* | replace_regexp ("a{1000}", "b")', '* | extract_regexp "(?P<x>a{1000})"'])
      expect(syntaxError(`a:in(${many(9)} | fields x) ${rest}`)?.expected, rest).to.contain('together');
    // what is read twice counts once
    expect(syntaxError(`_stream_id:in(${many(6)} | fields _stream_id)`)).to.equal(null);
  });
  it('give named groups and replace', () => {
    const regexp = compileRegexp('(?P<k>\\w+)=(\\w+)', 'pipe');
    expect(regexp.groups).to.deep.equal(['k']);
    expect(regexp.match('x a=1')?.get('k')).to.equal('a');
    expect(regexp.replace('a=1 b=2 c=3', '$2-${k}$$$nosuch', 2)).to.equal('1-a$ 2-b$ c=3');
  });
  it('quote any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => compileRegexp(quoteRegexp(text), 'label').test(text)));
  });
});

describe('LogsQL times', () => {
  const table: readonly (readonly [string, string, string])[] = [
    ['2026', '2026-01-01T00:00:00Z', '2026-12-31T23:59:59.999999999Z'],
    ['2026-11', '2026-11-01T00:00:00Z', '2026-11-30T23:59:59.999999999Z'],
    ['2026-12Z', '2026-12-01T00:00:00Z', '2026-12-31T23:59:59.999999999Z'],
    ['2026-11-18', '2026-11-18T00:00:00Z', '2026-11-18T23:59:59.999999999Z'],
    ['2026-11-18T10', '2026-11-18T10:00:00Z', '2026-11-18T10:59:59.999999999Z'],
    ['2026-11-18T10:05+02:00', '2026-11-18T08:05:00Z', '2026-11-18T08:05:59.999999999Z'],
    ['2026-11-18T10:05:30Z', '2026-11-18T10:05:30Z', '2026-11-18T10:05:30.999999999Z'],
    ['2026-11-18T10:05:30.123Z', '2026-11-18T10:05:30.123Z', '2026-11-18T10:05:30.123999999Z'],
    ['2026-11-18T10:05:30.5Z', '2026-11-18T10:05:30.5Z', '2026-11-18T10:05:30.5Z'],
    ['now', '2026-11-18T11:00:00Z', '2026-11-18T11:00:00Z'],
    ['-1h', '2026-11-18T10:00:00Z', '2026-11-18T10:00:00Z'],
    ['1h30m', '2026-11-18T09:30:00Z', '2026-11-18T09:30:00Z'],
    ['now-1d', '2026-11-17T11:00:00Z', '2026-11-17T11:00:00Z'],
    ['1795000000', '2026-11-18T11:06:40Z', '2026-11-18T11:06:40Z'],
  ];
  for (const [text, start, end] of table)
    it(text, () => expect(readTime(text, NOW)).to.deep.equal({ start: nanoseconds(start), end: nanoseconds(end) }));
  for (const text of ['', 'x', '2026-13', '2026-02-30', '1x', '--1h'])
    it(`${JSON.stringify(text)} is none`, () => expect(readTime(text, NOW)).to.equal(null));
});

describe('sets of fields', () => {
  it('open and closed', () => {
    expect(FieldSet.all.has('x')).to.equal(true);
    expect(FieldSet.all.minus(['a', 'b.*']).has('b.c')).to.equal(false);
    expect(FieldSet.all.minus(['b.*']).plus(['b.c']).has('b.c')).to.equal(true);
    expect(FieldSet.of(['a']).plus(['b.*']).has('b.c')).to.equal(true);
    expect(FieldSet.of(['a', 'b']).minus(['a']).names).to.deep.equal(['b']);
    expect(FieldSet.of(['a', '*'])).to.equal(FieldSet.all);
    expect(FieldSet.all.within(['a', 'b.*']).names).to.deep.equal(['a', 'b.*']);
    expect(FieldSet.of(['a', 'b.c']).within(['b.*']).names).to.deep.equal(['b.c']);
    expect(FieldSet.of(['b.*']).within(['b.c']).names).to.deep.equal(['b.c']);
    expect(FieldSet.of(['a']).list()).to.deep.equal(['a']);
    expect(FieldSet.of(['a.*']).list()).to.equal(null);
    expect(coversField(['a.*', 'b'], 'a.x')).to.equal(true);
  });
  it('never lose a field that is needed', () => {
    const names = fc.array(fc.constantFrom('a', 'b', 'a.*', 'a.b', 'c*'), { maxLength: 3 });
    fc.assert(
      fc.property(names, names, fc.boolean(), fc.constantFrom('a', 'b', 'a.b', 'a.c', 'c', 'd'), (own, more, isOpen, field) => {
        const set = isOpen ? FieldSet.all.minus(own) : FieldSet.of(own);
        const isNeeded = set.has(field) || coversField(more, field);
        return !isNeeded || set.plus(more).has(field);
      }),
    );
  });
});

describe('JSON inside entries', () => {
  it('is flattened, with numbers as written', () => {
    expect(
      Object.fromEntries(flattenJson('{"a":1.50,"b":{"c":[1,{"d":"\\u00011"}],"n":null},"e":"x","f":true,"g":18446744073709551616}') ?? []),
    ).to.deep.equal({
      a: '1.50',
      'b.c': '[1,{"d":"\\u00011"}]',
      e: 'x',
      f: 'true',
      g: '18446744073709551616',
    });
    expect(flattenJson('[1]')).to.equal(null);
    expect(flattenJson(' {}')).to.equal(null);
    expect(flattenJson('{"a":')?.size).to.equal(0);
    expect(splitJsonArray('["a",1.0,[2],{"b":null}]')).to.deep.equal(['a', '1.0', '[2]', '{"b":null}']);
    expect(splitJsonArray('x')).to.equal(null);
  });
  it('is JSON just where JSON.parse takes it', () => {
    /** True for a value of which a field is made: neither null nor objects of nothing else. */
    const hasField = (value: unknown): boolean =>
      typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.values(value).some(hasField) : value !== null;
    const isGiven = (text: string): boolean => {
      try {
        return hasField(JSON.parse(text));
      } catch {
        return false;
      }
    };
    const piece = fc.constantFrom(...Array.from('{}[]",: \n01-.ea'), '\\', 'u0061', 'null', 'true', '\u0001', '"b":', '1,');
    const text = fc.oneof(
      fc.json().map((value) => `{"x":${value}}`),
      fc.array(piece, { maxLength: 12 }).map((parts) => `{${parts.join('')}`),
      fc.array(piece, { maxLength: 8 }).map((parts) => `{"a":${parts.join('')}}`),
    );
    fc.assert(
      fc.property(text, (any) => (flattenJson(any)?.size ?? 0) > 0 === isGiven(any)),
      { numRuns: 5000 },
    );
  });
  it('gives the values that JSON.parse gives', () => {
    const value = fc.oneof(fc.string(), fc.integer().map(String), fc.boolean().map(String));
    const object = fc.dictionary(fc.string(), value, { maxKeys: 5 });
    fc.assert(
      fc.property(object, (fields) => {
        const found = flattenJson(JSON.stringify({ x: 1, ...fields, '\t"': [fields] }));
        return Object.entries(fields).every(([name, text]) => found?.get(name) === text) && found?.get('\t"') === JSON.stringify([fields]);
      }),
    );
  });
  it('is none beyond 300 levels', () => {
    const nested = (open: string, close: string, levels: number): string => open.repeat(levels) + '1' + close.repeat(levels);
    expect(flattenJson(nested('{"a":', '}', 300))?.size).to.equal(1);
    expect(splitJsonArray(nested('[', ']', 300))).to.have.length(1);
    for (const levels of [302, 100_000]) {
      expect(flattenJson(nested('{"a":', '}', levels))?.size, String(levels)).to.equal(0);
      expect(flattenJson(`{"a":${nested('[', ']', levels)}}`)?.size, String(levels)).to.equal(0);
      expect(splitJsonArray(nested('[', ']', levels)), String(levels)).to.equal(null);
    }
    const entry = entryOf({ _msg: nested('{"a":', '}', 100_000), b: nested('[', ']', 100_000) });
    for (const pipe of ['unpack_json', 'unpack_json from b', 'unroll by (b)', 'json_array_len(b) as n'])
      expect(() => throughPipes(parse(`* | ${pipe}`).pipes, [entry], EVERYTHING), pipe).to.not.throw();
  });
});

describe('uniq_values', () => {
  it('gives the same text for the same values, though some come in a ring', () => {
    const ring = ['1took 15ms', '5m', '1e16', '10kb', '-9223372036854775808', '0x_ff', 'Kb'];
    const unique = (texts: readonly string[]): unknown => {
      const rows = texts.map((text) => entryOf({ a: text }));
      return throughPipes(parse('* | stats uniq_values(a) v').pipes, rows, EVERYTHING).map(plainOf)[0]?.['v'];
    };
    const expected = unique(ring);
    fc.assert(fc.property(fc.shuffledSubarray(ring, { minLength: ring.length }), (texts) => unique(texts) === expected));
  });
});
