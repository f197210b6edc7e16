import { expect } from 'chai';
import { MAX_QUERIES, MAX_QUERY_LENGTH, parseFilter, parseQuery } from '../../../logsql/parser/parser.ts';
import { NOW, parse, syntaxError } from '../support.ts';

/** A query and how it is printed; '' where it prints as it is written. */
const ok = (query: string, printed = ''): void => {
  it(query, () => expect(parse(query).toString()).to.equal(printed === '' ? query : printed));
};
/** A query that is refused, with a part of the message. */
const bad = (query: string, message: string): void => {
  it(JSON.stringify(query.slice(0, 80)), () => expect(syntaxError(query)?.message ?? 'accepted').to.include(message));
};

describe('LogsQL that is accepted', () => {
  ok('error');
  ok('*');
  ok('""');
  ok('a b', 'a b');
  ok('a and b AND c', 'a b c');
  ok('a or b c', 'a or b c');
  ok('(a or b) c');
  ok('not a', '!a');
  ok('-a', '!a');
  ok('!!a', 'a');
  ok('!(a b)');
  ok('!(a or b)');
  ok('not a or b', '!a or b');
  ok('level:error');
  ok('level:(a or =b)', 'level:a or level:=b');
  ok('f:[1, 2)', 'f:range[1, 2)');
  ok('f:[1KiB,-2]', 'f:range[1KiB, -2]');
  ok('"f g":!["1", inf)', '!"f g":range[1, inf)');
  ok('f:([1, 2) or =x)', 'f:range[1, 2) or f:=x');
  ok('_msg:[1, 2]', 'range[1, 2]');
  ok('level:(a or b) c', '(level:a or level:b) c');
  ok('level:!error', '!level:error');
  ok('f:(a OR g:=b)', 'f:a or f:"g:=b"');
  ok('"http:status":404');
  ok('user.name:bob');
  ok('_msg:x', 'x');
  ok('f:*');
  ok('err*');
  ok('"a b"*');
  ok('*err*', '* err*');
  ok('f:*err*', 'f:* err*');
  ok('f:=x');
  ok('f:="x y"*');
  ok('f:!=x', '!f:=x');
  ok('f:~"a|b"');
  ok('f:!~`\\d`', '!f:~"\\\\d"');
  ok('re("x")', '~"x"');
  ok('~""', '*');
  ok('f:~".+"', 'f:*');
  ok('f:in(a, "b c", "")');
  ok('f:in(*)', '*');
  ok('f:in()', 'f:in()');
  ok('in', '"in"');
  ok('in:x', '"in":x');
  ok('i (ERR*)', 'i(ERR*)');
  ok('exact(x*)', '=x*');
  ok('f:>10KiB');
  ok('f:>=1h30m');
  ok('f:<"b c"');
  ok('f:range[1, 2)');
  ok('f:range(-inf, 0x1f]');
  ok('range', '"range"');
  ok('string_range(a, b)');
  ok('seq(a, "b c")');
  ok('{app="x",env!="y" or host=~"h[12]"}');
  ok('_stream:{a in ("x","y"),b not_in (z)}', '{a in ("x","y"),b not_in ("z")}');
  ok('{}', '*');
  ok('_time:5m');
  ok('_time:[2026-11-18T10:05Z, now)', '_time:[2026-11-18T10:05Z,now)');
  ok('_time:>1h offset 30m');
  ok('_time:offset -1h');
  ok('_time:day_range[08:00, 18:00) offset 2h');
  ok('_time:week_range[Mon, Fri]');
  ok('AND error', '"AND" error');
  ok('a # comment\n| limit 3', 'a | limit 3');
  ok('options(concurrency=2) a');
  ok('options() a', 'a');
  ok('"limit"');
  ok('a | fields b, "c d", e.*');
  ok('a | keep b', 'a | fields b');
  ok('a | head', 'a | limit 10');
  ok('a | skip 1_000', 'a | offset 1000');
  ok('a | limit 1K', 'a | limit 1000');
  ok('a | sort by (b, c desc) desc limit 5 rank as r', 'a | sort by (b, c desc) desc limit 5 rank as r');
  ok('a | order by (b) | offset 2 | limit 3', 'a | sort by (b) offset 2 limit 3');
  ok('a | sort by (b) partition by (c) limit 1', 'a | sort by (b) partition by (c) limit 1');
  ok(
    'a | stats by (b, _time:5m offset 1m) count() n, sum(c, d) if (e:f)',
    'a | stats by (b, _time:5m offset 1m) count(*) as n, sum(c, d) if (e:f) as "sum(c, d) if (e:f)"',
  );
  ok('a | by (b) count()', 'a | stats by (b) count(*) as "count(*)"');
  ok('a | count() n', 'a | stats count(*) as n');
  ok('a | stats quantile(0.5, b), median(c)', 'a | stats quantile(0.5, b) as "quantile(0.5, b)", median(c) as "median(c)"');
  ok('a | uniq by (b) with hits limit 3', 'a | uniq by (b) with hits limit 3');
  ok('a | top 3 by (b) hits as h rank', 'a | top 3 by (b) hits as h rank as "rank"');
  ok('a | where b:>5', 'a | filter b:>5');
  ok('a | nosuchpipe', 'a | filter nosuchpipe');
  ok('a | (b or c)', 'a | filter b or c');
  ok('x:in(a b | fields c)', 'x:in(a b | fields c)');
});

describe('LogsQL that is refused', () => {
  bad('', 'expected a filter');
  bad('  # nothing', 'expected a filter');
  bad('|', 'expected a filter');
  bad('limit', 'put "limit" in quotes');
  bad('by (a)', 'in quotes');
  bad('a |', 'expected a filter');
  bad('a OR', 'after "or"');
  bad('a AND', 'after "and"');
  bad('(a', 'expected ")"');
  bad('(a)(b)', 'white space');
  bad('foo(a)', 'white space');
  bad('a,b', 'expected a filter');
  bad('err*or', 'expected');
  bad('"open', 'quotes and escapes');
  bad('"\\d"', 'quotes and escapes');
  bad('f:', 'after the field');
  bad('*:a', 'no wildcards');
  bad('nosuch*:a', 'no wildcards');
  bad('~"["', 'RE2');
  bad('~"(?=x)"', 'RE2');
  bad('~"(?:abcdefghijk){1000}"', 'at most 10000 instructions');
  bad('f:range[1, 2', 'expected ")" or "]"');
  bad('f:[1, 2', 'expected ")" or "]"');
  bad('f:[error]', 'expected a number');
  bad('[1, 2]', 'expected a filter');
  bad('(1, 2]', 'expected a filter');
  bad('f:range[x, 2]', 'expected a number');
  bad('{app="x"', 'expected');
  bad('{app}', 'expected "="');
  bad('{app="a" and env="b"}', 'expected ","');
  bad('{app=~"["}', 'RE2');
  bad('level:{a="b"}', '_stream');
  bad('_time:5x', 'duration');
  bad('_time:2026-13-01Z', 'time');
  bad('_time:[2026-11-18Z', 'expected ","');
  bad('_stream_id:abc', '48 hex digits');
  bad('_fingerprint:abc', '64 hex digits');
  bad('_fingerprint:in()', '1 to 1000 fingerprints');
  bad('f:in(a,', 'expected an argument');
  bad('f:in(a | fields b, c)', 'one field');
  bad('a | stats count() x, sum(b) x', 'names that differ');
  bad('a | stats by (x) count() x', 'names that differ');
  bad('a | stats nosuch(b)', 'stats function');
  bad('a | stats quantile(2, b)', 'phi');
  bad('a | sort by (b) partition by (c)', 'limit');
  bad('a | limit -1', 'a number of rows');
  bad('a | fields b c', 'end of the pipe');
  bad('options(x=1) a', 'concurrency');
  bad('options a', 'in quotes');
  bad('a | stream_context', 'before');
  bad('a | limit 1 | stream_context after 1', 'stream_context can only be the first one');
  bad('a | filter b | stream_context after 1', 'stream_context can only be the first one');
  bad('a | stream_context after 1 | stream_context after 1', 'stream_context can only be the first one');
  bad('a | union (b | fields c | stream_context after 1)', 'stream_context can only be the first one');
  bad('a | block_stats', 'looks at the files of VictoriaLogs');
  bad('a | blocks_count as n', 'looks at the files of VictoriaLogs');
  bad('a | sort by (b', 'expected "," or ")"');
  bad('a | fields b | stats by (c', 'expected "," or ")"');
  bad('a | top 0 by (b)', 'above 0; got "0"');
  bad('a | math 1 +', 'a field, a number');
  bad('!'.repeat(200) + 'a', 'levels of nesting');
  bad('('.repeat(200) + 'a', 'levels of nesting');
  bad('a'.repeat(MAX_QUERY_LENGTH + 1), 'characters');

  it('tells where it stopped and what it found', () => {
    expect(syntaxError('error AND (level:=warn')).to.include({ offset: 22, found: '' });
    expect(syntaxError('a | limit x')).to.include({ offset: 10, found: 'x' });
  });
});

describe('limits of queries', () => {
  it('takes 10,000 characters, whatever they are', () => {
    expect(parse('a'.repeat(MAX_QUERY_LENGTH)).toString()).to.have.length(MAX_QUERY_LENGTH);
    expect(parse('😀'.repeat(MAX_QUERY_LENGTH - 2)).toString()).to.be.a('string');
  });
  it('takes deep nesting within bounds, also after a caught fault inside', () => {
    expect(parse(`${'('.repeat(90)}a${')'.repeat(90)}`).toString()).to.equal('a');
    expect(parse(Array.from({ length: 200 }, () => 'x:in(a, b)').join(' ')).filter.fields).to.deep.equal(['x']);
  });
  it('takes a hundred queries inside a query, and no more', () => {
    const unions = (count: number): string => `*${' | union (a)'.repeat(count)}`;
    const subqueries = (count: number): string => Array.from({ length: count }, () => 'x:in(a | fields x)').join(' ');
    for (const make of [unions, subqueries]) {
      expect(syntaxError(make(MAX_QUERIES))).to.equal(null);
      expect(syntaxError(make(MAX_QUERIES + 1))?.message).to.contain('at most 100 queries inside a query');
    }
  });
  it('reads a filter without pipes', () => {
    expect(parseFilter('a b', { now: NOW }).toString()).to.equal('a b');
    expect(() => parseFilter('a | limit 1', { now: NOW })).to.throw('without pipes');
  });
  it('survives lone surrogates', () => {
    const printed = parseQuery('a \ud800 "\udfff"', { now: NOW }).toString();
    expect(parse(printed).toString()).to.equal(printed);
  });
});
