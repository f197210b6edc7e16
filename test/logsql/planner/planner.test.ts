import { renderSql } from '../../../pipeline/core/sql.ts';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { AggregatePlan } from '../../../logsql/planner/plan.ts';
import type { PlanOptions } from '../../../logsql/planner/planner.ts';
import { NOW, planAs, planOf, sqlOf } from '../support.ts';

const schema = (name: string): string =>
  readFileSync(path.join(import.meta.dirname, '../../../pipeline/store/schema', name), 'utf8').replace(/\s+/g, ' ');
const WORDS_INDEX = schema('012_short_words.sql');
const whole = (name: string): string => `if(length(f_${name}) > 256, l_${name}, f_${name})`;
const STREAMS = new Map([['5', '{app="x"}']]);
const columns = (query: string): string => /^SELECT (.*?) FROM/.exec(sqlOf(query).text)?.[1] ?? '';
const where = (query: string): string => /(?:PREWHERE|WHERE) (.*?)(?: GROUP BY| ORDER BY|$)/.exec(sqlOf(query).text)?.[1] ?? '';

/** The plan of one statement for data that another one does not hold for. */
function next({ otherwise }: AggregatePlan): AggregatePlan {
  if (otherwise.kind !== 'aggregate') throw new Error('There is no other statement.');
  return otherwise;
}

describe('the LogsQL planner', () => {
  it('always asks for one tenant and one window', () => {
    const { text, values } = sqlOf('*');
    expect(text).to.include(
      "WHERE tenant_id = {p0:UInt32} AND _time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC') AND _time <= fromUnixTimestamp64Nano({p2:Int64}, 'UTC')",
    );
    expect(values.slice(0, 3).map(String)).to.deep.equal(['7', '1794996000000000000', '1794999600000000000']);
    for (const query of [
      'a',
      '* | stats count()',
      '* | uniq by (a)',
      '* | top 3 by (a)',
      '* | field_names',
      '* | stats by (a) sum(b)',
      '* | sort by (_time)',
    ]) {
      expect(sqlOf(query).text, query).to.match(/FROM logs (?:PREWHERE|WHERE) tenant_id = \{p\d+:UInt32\} AND _time >= .* AND _time <= /);
    }
  });

  it('narrows the window by time filters, and never widens it', () => {
    expect(sqlOf('_time:5m').values.slice(1, 3).map(String)).to.deep.equal(['1794999300000000000', '1794999600000000000']);
    expect(sqlOf('_time:1d').values.slice(1, 3).map(String)).to.deep.equal(['1794996000000000000', '1794999600000000000']);
    expect(sqlOf('_time:5m or a').values.slice(1, 3).map(String)).to.deep.equal(['1794996000000000000', '1794999600000000000']);
  });

  it('never looks beyond what the tenant may see, whatever is asked for', () => {
    const widest = { start: NOW - 600_000_000_000n, end: NOW - 60_000_000_000n };
    const seen = ['1794999000000000000', '1794999540000000000'];
    for (const query of ['*', '_time:1d', 'options(ignore_global_time_filter=true) *', '* | stats by (app) count()', '{app="x"}'])
      expect(sqlOf(query, 10, { widest }).values.slice(1).map(String), query).to.include.members(seen);
  });

  it('reads only the columns that are needed', () => {
    expect(columns('* | fields a')).to.equal('fields[{p0:String}], json_keys');
    expect(columns('* | fields app, status')).to.equal(`${whole('app')}, ${whole('status')}, json_keys`);
    expect(columns('* | fields _time, level')).to.match(/^_time, level, toUnixTimestamp64Nano/);
    expect(columns('* | fields _msg | filter x')).to.equal('_msg');
    expect(columns('*')).to.match(/^_time, stream_id, _msg, level, service, trace_id, span_id, fields, json_keys, /);
    expect(columns('* | delete _msg')).to.not.include('_msg');
    expect(columns('* | extract "<a>x" from b | fields a')).to.equal('fields[{p0:String}], json_keys');
    expect(columns(`* | fields ${'abcdefghij'.split('').join(', ')}`)).to.equal('fields, json_keys');
    expect(columns('* | stats count()')).to.equal('count()');
  });

  it('reads the newest entries in the order of the sort key', () => {
    expect(sqlOf('a', 11).text).to.match(
      /ORDER BY _time DESC, arrived DESC, kafka_part DESC, kafka_off DESC, kafka_idx DESC LIMIT \{p\d+:UInt32\}$/,
    );
    expect(sqlOf('a | sort by (_time) offset 2 limit 3', null).text).to.match(
      /ORDER BY _time, arrived, .* LIMIT \{p\d+:UInt32\} OFFSET \{p\d+:UInt32\}$/,
    );
    expect(planOf('a | sort by (_time) limit 3').pipes).to.have.length(0);
    expect(planOf('a | limit 3 | offset 1').pipes).to.have.length(0);
    for (const text of ['sort by (b) limit 3', 'sort by (b, c) limit 3', 'sort by (b, _time desc) limit 3 rank as r'])
      expect(planOf(`a | ${text}`).kind, text).to.equal('gather');
    // of streams the table has ids alone, and of so many rows whole entries are read
    for (const text of [
      'sort by (_stream, b) limit 3',
      'sort by (b, c) limit 1001',
      'sort by (b, c)',
      'sort by (b) partition by (c) limit 1',
    ])
      expect(planOf(`a | ${text}`).pipes, text).to.have.length(1);
  });

  it('goes on after a place among equal times', () => {
    const before = { time: '1794996000000000000', arrived: '1', part: '2', offset: '18446744073709551615', index: '4' };
    expect(sqlOf('a', 1, { before }).text).to.include('(_time, arrived, kafka_part, kafka_off, kafka_idx) < (');
    expect(sqlOf('a', 1, { before: 1_794_995_000_000_000_000n }).values.map(String)).to.include('1794994999999999999');
  });

  it('answers words without digits from their index, and asks for fields in a form that their filter knows', () => {
    expect(where('foo')).to.match(/ AND has\(arrayFilter\(.*\), \{p3:String\}\)$/);
    expect(where('foo')).to.not.include('match(');
    expect(where('foo7')).to.match(/ AND \(+position\(_msg, \{p3:String\}\) > 0 AND /);
    expect(where('"at 7 foo"').match(/has\(arrayFilter/g)).to.have.length(2);
    expect(where('f:=x')).to.match(/AND \(fields\[\{p3:String\}\] = \{p4:String\}\)$/);
    expect(where('f:in(a, b)')).to.match(/AND \(fields\[\{p3:String\}\] IN \{p4:Array\(String\)\}\)$/);
    expect(where('status:=500')).to.match(/AND \(f_status = \{p3:String\}\)$/);
    expect(where('level:=x')).to.include('level = {p3:String}');
    expect(where('trace_id:=x')).to.include('trace_id = {p3:String}');
    expect(sqlOf('f:=x').values.slice(3, 5)).to.deep.equal(['f', 'x']);
  });

  it('aggregates in SQL, with filters in countIf as plain comparisons', () => {
    expect(sqlOf('* | stats by (a) count() if (f:=x) n').text).to.include('countIf((fields[{p1:String}] = {p2:String}))');
    expect(sqlOf('f:word | stats count()').text).to.match(/FROM logs PREWHERE .* WHERE .*fields\[/);
    expect(sqlOf('* | filter a | filter b | stats count()').text).to.match(/^SELECT count\(\) FROM logs WHERE .*has.*has/);
    expect(planOf('* | stats count() | limit 5').pipes).to.have.length(1);
    expect(planOf('* | limit 5 | stats count()').kind).to.equal('reshaped');
    expect(sqlOf('* | limit 5 | stats count()', null).text).to.match(/ORDER BY .* LIMIT/);
    expect(sqlOf('* | fields a | stats count(b)', null).text).to.not.include('countIf');
  });

  it('leaves to memory what SQL cannot say exactly, and keeps the rest in SQL', () => {
    const plan = planAs('entries', 'a f:value_type(uint8)');
    expect(plan.pipes).to.have.length(1);
    expect(plan.keepsAll).to.equal(false);
    expect(where('a f:value_type(uint8)')).to.include('has(arrayFilter(');
    expect(planOf('f:value_type(uint8) | stats count()').kind).to.equal('reshaped');
  });

  it('asks once more in another way where one does not hold, and then leaves it to memory', () => {
    const max = planAs('aggregate', '* | stats max(a)');
    const second = next(max);
    expect(max.decode(['7', '0', ['5KiB', '900']], STREAMS)).to.deep.equal(new Map([['max(a)', '5KiB']]));
    expect(max.decode(['7', '0', ['x'.repeat(65)]], STREAMS)).to.equal(null);
    expect(max.decode(['7', '0', Array.from({ length: 1001 }, (_none, at) => `${String(at)}s`)], STREAMS)).to.equal(null);
    expect(second.decode(['5KiB', '2', '0'], STREAMS)).to.deep.equal(new Map([['max(a)', '5KiB']]));
    expect(second.decode(['5KiB', '2', '1'], STREAMS)).to.equal(null);
    expect(second.otherwise.kind).to.equal('reshaped');
    expect(second.otherwise.pipes.map(String)).to.deep.equal(['stats max(a) as "max(a)"']);
    const median = planAs('aggregate', '* | stats median(a) m');
    const third = next(next(median));
    expect(median.decode(['1', '3', '1'], STREAMS)).to.equal(null);
    expect(
      next(median).decode(
        [
          [
            ['1s', '1'],
            ['2', '5'],
            ['x', '3'],
          ],
        ],
        STREAMS,
      ),
    ).to.deep.equal(new Map([['m', '2']]));
    expect(third.decode([['1.5s', '9'], '0'], STREAMS)).to.deep.equal(new Map([['m', '1.5s']]));
    expect(third.decode([['1.5s', '9'], '1'], STREAMS)).to.equal(null);
    expect(third.otherwise.kind).to.equal('reshaped');
  });

  const GROUPS = '* | stats by (a, _time:5m) count() n, count_uniq(b) u, max(b) m';
  /** The end of the statement behind its groups, and what is left to memory. */
  const cutOf = (pipes: string): readonly [string, readonly string[]] => {
    const plan = planAs('aggregate', `${GROUPS} | ${pipes}`);
    const { text } = renderSql(plan.statement);
    return [text.replace(/\{p\d+:(\w+)\}/g, '{$1}').replace(/^.* GROUP BY [^()]*(?:\([^()]*\)[^()]*)*\)/s, ''), plan.pipes.map(String)];
  };

  it('cuts groups in SQL where what follows keeps the first ones alone', () => {
    for (const [pipes, end, size] of [
      ['limit 3', ' ORDER BY g0, g1 LIMIT {UInt32}', 0],
      ['offset 2 | limit 3 | limit 1', ' ORDER BY g0, g1 LIMIT {UInt32} OFFSET {UInt32}', 1],
      ['sort by (n desc) limit 3', ' ORDER BY r0 DESC, g0, g1 LIMIT {UInt32}', 0],
      ['first 3 by (u) | fields n', ' ORDER BY r1, g0, g1 LIMIT {UInt32}', 1],
      ['sort by (n, _time, u desc) desc offset 1 limit 3', ' ORDER BY r0 DESC, g1 DESC, r1, g0, g1 LIMIT {UInt32} OFFSET {UInt32}', 0],
      ['sort by (n, _time, u desc) desc offset 1 limit 3 rank as r', ' ORDER BY r0 DESC, g1 DESC, r1, g0, g1 LIMIT {UInt32}', 1],
      ['rename n as m | sort by (m) limit 3', ' ORDER BY r0, g0, g1 LIMIT {UInt32}', 1],
      // of those equal to the last one memory chooses
      ['sort by (n desc, a) limit 3', ' ORDER BY r0 DESC LIMIT {UInt32} WITH TIES) ORDER BY g0, g1', 1],
    ] as const) {
      const [text, left] = cutOf(pipes);
      expect(text, pipes).to.satisfy((text: string) => text.endsWith(end));
      expect(left, pipes).to.have.length(size);
    }
  });

  it('leaves groups out in SQL that a filter behind them drops', () => {
    for (const [pipes, left] of [
      ['filter n:>3', []],
      ['filter a:~"x.*y" or u:5 | limit 3', []],
      ['math n * 2 / u as r | filter r:>1.5 | sort by (r desc) limit 3', ['math n * 2 / u as r']],
      ['copy n as c | delete n | filter c:5', ['copy n as c', 'delete n']],
      ['filter m:>3 | filter n:>3', ['filter m:>3']],
    ] as const) {
      const [text, memory] = cutOf(pipes);
      expect(text, pipes).to.include(' WHERE ');
      expect(memory, pipes).to.deep.equal(left);
    }
    expect(cutOf('math n / u as r | sort by (r) limit 3')[0]).to.match(/ ORDER BY isNaN\(c\d+\), c\d+, g0, g1 LIMIT \{UInt32\}$/);
    const byStream = planAs('aggregate', '* | stats by (_stream) count() n | filter n:>3 | sort by (n) limit 3');
    expect(byStream.statement.strings.join(''))
      .to.match(/ WHERE /)
      .and.not.match(/LIMIT|ORDER BY/);
    expect(byStream.pipes.map(String)).to.deep.equal(['order of groups by (_stream)', 'sort by (n) limit 3']);
  });

  it('leaves groups to memory that SQL cannot tell apart as memory does', () => {
    for (const pipes of [
      'sort by (m) limit 3',
      'sort by (a) limit 3',
      'sort by (n)',
      'math n / u as r | sort by (r)',
      'sort by (n) partition by (a) limit 3',
      'filter m:>3 | limit 3',
      'filter _time:>2026-11-18 | limit 3',
      'filter n:value_type(uint8)',
      'math n % u as r | filter r:1',
      'math n ^ u as r | filter r:1',
      'rename m as x | filter x:1',
      'sort by (n) limit 1000000',
    ])
      expect(sqlOf(`${GROUPS} | ${pipes}`).text, pipes).to.not.match(/ g0|LIMIT/);
  });

  it('leaves out groups where something may be in doubt, but none where it is', () => {
    const inDoubt = '* | extract "took <t>ms" | stats by (t) count() n | filter n:>5';
    expect(sqlOf(`${inDoubt} | sort by (n) limit 3`).text).to.match(
      /^SELECT g0, r0, d FROM \(SELECT \*, d > 0 AS c0 FROM \(SELECT .*sum\(countIf\(.*\)\) OVER \(\) AS d FROM .*\)\) WHERE \(\(c0 > 0\) OR .* LIMIT \{p\d+:UInt32\}$/,
    );
    expect(sqlOf(`${inDoubt} | offset 2 | limit 3`).text).to.not.include('LIMIT');
  });

  it('gives groups by their keys, one after another', () => {
    expect(sqlOf('* | stats by (a, _time:5m) count()').text).to.match(/ ORDER BY fields\[.*\], toUnixTimestamp64Nano\(_time\) - [^ ]+/);
    expect(sqlOf('* | uniq by (a) limit 5').text).to.match(/ ORDER BY fields\[\{p\d+:String\}\] LIMIT \{p\d+:UInt32\}$/);
    const plan = planAs('aggregate', '* | uniq by (_stream, a) limit 5 | limit 1');
    expect(plan.statement.strings.join('')).to.not.match(/ORDER BY|LIMIT/);
    expect(plan.pipes.map(String)).to.deep.equal(['order of groups by (_stream, a)', 'limit 1']);
  });

  it('works out fields in a subquery where a pipe that groups follows', () => {
    const { text, values } = sqlOf('* | extract "took <plain:t>ms" | filter t:>5 | copy a as b | stats by (b) max(t)');
    expect(text).to.match(
      / FROM \(SELECT tenant_id, .*, f_status, .* AS c0, .* AS c4 FROM logs WHERE .*\)+ WHERE .*c\d.* GROUP BY (c\d) ORDER BY \1$/s,
    );
    expect(text).to.not.include('took');
    expect(values).to.include.members(['took ', 'ms']);
    expect(planAs('aggregate', '* | extract "took <t>ms" | stats by (t) count()').decode(['7', '5', '0'], STREAMS)).to.not.equal(null);
    expect(planAs('aggregate', '* | extract "took <t>ms" | stats by (t) count()').decode(['7', '5', '1'], STREAMS)).to.equal(null);
    for (const query of [
      'math ln(a) as b | stats by (b) count()',
      'copy a as _time | stats by (_time:5m) count()',
      'delete _stream | uniq by (_stream)',
      'fields a | len(a) as b | stats max(_time)',
      'rename a* as b* | stats count(b)',
      'replace ("a", "b") limit 2 | uniq by (_msg)',
      'copy a as b | field_names',
      'copy a as b | limit 5 | stats count(b)',
      'unpack_json | stats count(a)',
      'unpack_json fields (a, b*) | stats count(a)',
      'unpack_json fields (a.b.c.d) | stats count(a)',
      'unpack_json fields ("a\\"") | stats count(a)',
      'unpack_json if (a:value_type(int64)) fields (a) | stats count(a)',
      'unpack_json from _stream fields (a) | stats count(a)',
      'unpack_json fields (_stream) | stats by (_stream) count()',
      'unpack_logfmt fields (a) | stats count(a)',
      'copy _stream as b | stats count(b)',
      `${'len(a) as a | '.repeat(21)}stats count(a)`,
      `copy a as b | filter ${'b:x or '.repeat(200)} b:y | stats count(b)`,
    ])
      expect(planOf(`* | ${query}`).kind, query).to.equal('reshaped');
  });

  it('counts before a pipe that groups where SQL counts to the last bit', () => {
    const { text, values } = sqlOf('* | math (a + b) / 2 as x, x - now() as y | filter y:<0 | stats by (app) avg(x), max(y)');
    expect(text).to.match(
      /^SELECT f_app, .* FROM \(SELECT .*FROM \(SELECT tenant_id, .* AS c0, .* AS c1 FROM logs .* GROUP BY f_app ORDER BY f_app$/,
    );
    expect(values).to.include.members([2, Number(NOW)]);
    for (const text of [
      'a',
      '-a',
      'a + 1KB - b * c / d',
      'a default b',
      'abs(a)',
      'ceil(a)',
      'floor(a)',
      'round(a)',
      'max(a, b)',
      'min(a)',
      '7',
    ])
      expect(planOf(`* | math ${text} as x | stats avg(x)`).kind, text).to.equal('aggregate');
    for (const text of [
      'a ^ 2',
      'a & b',
      'a or b',
      'a xor b',
      'exp(a)',
      'ln(a)',
      'rand()',
      'round(a, 0.1)',
      '_stream + 1',
      'max(a, b ^ 2)',
      '-exp(a)',
      'a + ln(b)',
    ])
      expect(planOf(`* | math ${text} as x | stats avg(x)`).kind, text).to.equal('reshaped');
    const remainder = planAs('aggregate', '* | math a % 5 as x | stats by (x) count()');
    expect(remainder.decode(['7', '5', '0'], STREAMS)).to.not.equal(null);
    expect(remainder.decode(['7', '5', '1'], STREAMS), 'not of whole numbers').to.equal(null);
    expect(planOf('* | math 1 as _time | stats by (_time:1h) count()').kind).to.equal('reshaped');
    expect(planOf('* | math a + 1 as x | sort by (x) limit 3').kind).to.equal('reshaped');
  });

  it('takes named fields out of JSON before a pipe that groups', () => {
    const { text, values } = sqlOf(
      '* | unpack_json if (x) from j fields (a, b.c) result_prefix "j." keep_original_fields | stats by (j.a) count(j.b.c)',
    );
    expect(text).to.match(/^SELECT c\d+, .* GROUP BY (c\d+) ORDER BY \1$/);
    expect(values).to.include.members(['j', 'j.a', 'j.b.c']);
    for (const name of ['a', 'b\\.c', 'c'])
      expect(
        values.some((value) => String(value).includes(`"${name}"[ \\t\\n\\r]*:`)),
        name,
      ).to.equal(true);
    const plan = planAs('aggregate', '* | unpack_json fields (a) | stats by (a) count()');
    expect(plan.pipes).to.deep.equal([]);
    expect(plan.decode(['7', '5', '0'], STREAMS)).to.not.equal(null);
    expect(plan.decode(['7', '5', '1'], STREAMS), 'of a text that is no plain JSON').to.equal(null);
  });

  it('reads rows back as entries', () => {
    const plan = planAs('entries', '*');
    const row = [
      '2026-11-18 10:00:00.120000000',
      '5',
      'hi',
      'info',
      '',
      '77',
      '',
      { a: '1.50', b: 'x', trace_id: '77' },
      ['a', 'trace_id'],
      '1',
      '2',
      '3',
      '4',
      '5',
    ];
    const entry = plan.decode(row, STREAMS) as Map<string, unknown>;
    expect([...entry.keys()]).to.deep.equal(['_time', '_stream', '_msg', 'level', 'trace_id', 'a', 'b']);
    expect(entry.get('_time')).to.equal('2026-11-18T10:00:00.12Z');
    expect(entry.get('a')).to.deep.equal({ text: '1.50' });
    expect(entry.get('trace_id')).to.deep.equal({ text: '77' });
    expect(plan.position(row)).to.deep.equal({ time: '1', arrived: '2', part: '3', offset: '4', index: '5' });
  });

  it('pages entries only', () => {
    expect(planOf('a | fields _time, b').kind).to.equal('entries');
    expect(planOf('a | extract "<x>y" | filter x:z').kind).to.equal('entries');
    for (const query of [
      'a | fields b',
      'a | delete _time',
      'a | rename _time as t',
      'a | sort by (_time)',
      'a | limit 3',
      'a | uniq by (_time)',
      'a | unroll by (b)',
      'a | math 1 as _time',
    ])
      expect(planOf(query).kind, query).to.not.equal('entries');
  });
});

describe('the hourly counts', () => {
  const HOUR = 3_600_000_000_000n;
  const day = { start: NOW - 24n * HOUR - 1n, end: NOW };
  it('answer whole hours, and the entries the rest', () => {
    const { text, values } = sqlOf('level:=error | stats by (app) count() n', null, day);
    expect(text).to.match(
      /^SELECT f_app, sum\(entries\), sum\(countIf\(in_doubt\)\) OVER \(\) FROM \(SELECT f_app, in_doubt, entries FROM \(SELECT .* UNION ALL SELECT .*\)\) GROUP BY f_app ORDER BY f_app$/,
    );
    const bounds = values.map(String).filter((value) => /^1\d{18}$/.test(value));
    expect(bounds).to.deep.equal([NOW - 24n * HOUR, NOW, day.start, NOW - 24n * HOUR, NOW, NOW].map(String));
    expect(sqlOf('* | uniq by (app)', null, { start: NOW - 24n * HOUR, end: NOW - 1n }).text).to.not.include('UNION');
  });
  it('are asked for two whole hours or more, and not by pages', () => {
    const isCounted = (options: Partial<PlanOptions>): boolean => sqlOf('* | uniq by (app)', null, options).text.includes('entries');
    expect(isCounted({ start: NOW - 2n * HOUR, end: NOW })).to.equal(true);
    expect(isCounted({ start: NOW - 2n * HOUR + 1n, end: NOW })).to.equal(false);
    expect(isCounted({ ...day, before: { time: '1794996000000000000', arrived: '1', part: '2', offset: '3', index: '4' } })).to.equal(
      false,
    );
  });
});

describe('the expression of the index of words', () => {
  // An index answers only a query that has, letter for letter, its expression.
  const expression = /i_short_words (.*?) TYPE text/.exec(WORDS_INDEX)?.[1] ?? 'absent';
  it('is that of statements', () => {
    expect(sqlOf('foo').text).to.include(`has(${expression}, {`);
  });
});
