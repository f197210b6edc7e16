import { LOGS } from '../../../../logsql/sql/logs-table.ts';
import { expect } from 'chai';
import fc from 'fast-check';
import { runQuery } from '../../../../api/query/run.ts';
import { StreamDirectory } from '../../../../api/query/streams.ts';
import { filters } from '../../../../logsql/filters/index.ts';
import type { MemoryLimits } from '../../../../logsql/base/memory.ts';
import { evaluate } from '../../../../logsql/evaluation/pipeline.ts';
import { parseQuery } from '../../../../logsql/parser/parser.ts';
import { pipes } from '../../../../logsql/pipes/index.ts';
import type { Query } from '../../../../logsql/base/query.ts';
import { stats } from '../../../../logsql/stats/index.ts';
import { readTime } from '../../../../logsql/values/times.ts';
import { textOf, type LogEntry } from '../../../../pipeline/core/entry.ts';
import { HttpError } from '../../../../pipeline/core/errors.ts';
import { formatTime, parseTime } from '../../../../pipeline/core/time.ts';
import { WINDOW, compareRows, isPresent, loadBase, loadCases, loadEntries } from '../../../logsql/conformance.ts';
import { NOT_BUILT, ODDITIES } from '../../../logsql/not-built.ts';
import { EVERYTHING, NOW, entryOf, memoryFor, nanoseconds, parse, syntaxError, type Plain } from '../../../logsql/support.ts';
import { extent } from '../../../extent.ts';
import { NUMBERS, PIECES } from '../../../equal/entries.ts';
import { LogsqlStore } from '../../logsql-store.ts';

/** Texts that are, or nearly are, numbers, and the missing one. */
const VALUES = ['', ...NUMBERS];

describe('LogsQL in ClickHouse', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let streams: StreamDirectory;
  let tenants = 100;
  before(async () => {
    own = await LogsqlStore.start();
    streams = new StreamDirectory(own.store);
  });
  after(() => own.stop());

  const inStore = async (
    tenantId: number,
    query: Query,
    limit = 10_000,
    window: { readonly start: bigint; readonly end: bigint } = EVERYTHING,
  ): Promise<LogEntry[]> => {
    const options = { tenantId, timeoutMs: 30_000 };
    const plan = { table: LOGS, tenantId, start: window.start, end: window.end, widest: EVERYTHING, memory: EVERYTHING.memory };
    return runQuery(query, plan, { store: own.store, streams, options }, limit);
  };

  /** Entries as they come back: with `_time` a second apart, `_stream` and `_msg`. */
  const complete = (rows: readonly Plain[]): LogEntry[] =>
    rows.map((row, index) => {
      const present = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== ''));
      return entryOf({
        _time: formatTime(nanoseconds('2026-11-18T10:00:00Z') + BigInt(index) * 1_000_000_000n),
        _stream: '{}',
        _msg: '',
        ...present,
      });
    });
  const timeOf = (entry: LogEntry): bigint => parseTime(textOf(entry.get('_time'))) ?? 0n;

  const comparable = (row: LogEntry): string =>
    JSON.stringify(
      [...row]
        .filter(([, value]) => textOf(value) !== '')
        .map(([name, value]) => [name, typeof value === 'string' ? value : { literal: value.text }])
        .sort(),
    );
  const sorted = (rows: readonly LogEntry[]): string[] => rows.map(comparable).sort();

  /** Puts entries under a tenant of their own, and compares what both back ends give for queries. */
  async function agree(entries: readonly LogEntry[], queries: readonly string[]): Promise<void> {
    const tenant = (tenants += 1);
    const oldestFirst = [...entries].sort((a, b) => Number(timeOf(a) - timeOf(b)));
    await own.insert(tenant, oldestFirst);
    const newestFirst = oldestFirst.reverse();
    for (const query of queries) {
      const expected = await evaluate(parse(query), newestFirst, EVERYTHING);
      expect(sorted(await inStore(tenant, parse(query))), query).to.deep.equal(sorted(expected));
    }
  }

  it('gives what memory gives for the examples of all members', async () => {
    const random = new Set(['sample']);
    for (const member of [...filters.members, ...pipes.members, ...stats.members]) {
      if (member.names.some((name) => random.has(name))) continue;
      for (const { query, input } of member.examples) {
        const entries = complete(input);
        const rows = await evaluate(parse(query), [...entries].reverse(), EVERYTHING);
        const names = [...new Set(rows.flatMap((row) => [...row.keys()]))].filter((name) => name !== '_time').map((name) => JSON.stringify(name)); // prettier-ignore
        // what changes rows one by one runs in SQL where something counts them
        const counted = names.length === 0 ? [] : [`${query} | stats by (${names.slice(0, 8).join(', ')}) count() as counted_rows`];
        await agree(entries, [query, ...counted]);
      }
    }
  });

  it('reads numbers out of texts as memory does', async () => {
    const entries = complete(VALUES.map((value) => ({ _msg: 'n', v: value, w: '5' })));
    const ranges = [
      'v:range[-inf, inf]',
      'v:>=0',
      'v:<0',
      'v:>1s',
      'v:>=10KiB',
      'v:range[1, 1000]',
      'v:>1.2.3.3',
      'v:>2026-01-01T00:00:00Z',
      'v:<=0xff',
      'v:ipv4_range("0.0.0.0/0")',
      'v:le_field(w)',
      'v:lt_field(w)',
      'v:>"b"',
      'v:<"b"',
    ];
    const exact = VALUES.filter((value) => value !== '')
      .map((value) => `v:range[${JSON.stringify(value)}, ${JSON.stringify(value)}]`)
      .filter((query) => syntaxError(query) === null);
    await agree(entries, [
      ...ranges,
      ...exact,
      '* | stats sum(v) s, avg(v) a',
      '* | stats min(v) a, max(v) b, median(v) c',
      '* | stats by (v) count() n',
      '* | uniq by (v) with hits',
      '* | top 100 by (v)',
      '* | sort by (v) limit 100 rank as r | fields v, r',
    ]);
  });

  it('counts as memory does, to the last bit', async () => {
    const random = fc.sample(fc.double({ noNaN: true }), { numRuns: 150, seed: 14 }).map(String);
    const decimals = fc.sample(fc.tuple(fc.integer({ min: -1e6, max: 1e6 }), fc.nat({ max: 6 })), { numRuns: 60, seed: 14 });
    const values = [
      ...VALUES,
      ...random,
      ...decimals.map(([digits, places]) => String(digits / 10 ** places)),
      '-0_',
      '-0x0',
      '-0.5',
      '2.5',
    ];
    const pairs = values.flatMap((v, index) => [1, 7, 61].map((step) => ({ v, w: values[(index + step) % values.length] ?? '' })));
    const expressions = [
      ...['v + w', 'v - w', 'v * w', 'v / w', 'v default w', '-v', 'v / 3', '(v + 1.5) / (w - 0.1) * 1KB', 'v + 0.30000000000000004'],
      ...['abs(v)', 'ceil(v)', 'floor(v)', 'round(v)', 'max(v, w)', 'min(v, w)', 'min(w, v, 7, -1e300)', 'max(v)', 'v / now()', 'now()'],
      ...['1 / v', '1 / (-v)', '1 / (0 * v)', '1 / max(v, 0)', '1 / min(0, -v)', '1 / round(v)', '1 / ceil(v)', '1 / (v default -w)'],
      ...['inf - v', '1e-300 * v', '1e-7', '5e-324', '123456789012345678', '1e21 + v', 'v as y, 1 / y', '0 - v as y, y as z, 1 / z'],
    ];
    const isEach = (query: string): string => `* | ${query} | stats by (v, w, x) count() n`;
    await agree(
      complete(pairs),
      expressions.map((text) => isEach(`math ${text} as x`)),
    );
    const whole = complete(pairs.filter(({ v, w }) => [v, w].every((text) => /^(?:[-+]?[0-9]{0,15}|inf|nan|[0-9]+[smKMB])$/.test(text))));
    await agree(
      whole,
      ['v % w', '1 / (v % w)', 'w % -5', 'v % 0', 'v % inf', '(v + w) % 7'].map((text) => isEach(`math ${text} as x`)),
    );
  });

  it('matches words, phrases, prefixes and cases as memory does, for any text', async () => {
    const piece = fc.constantFrom(...PIECES);
    const text = fc.array(piece, { maxLength: 6 }).map((parts) => parts.join(''));
    const quoted = text.filter((value) => !value.includes('\0')).map((value) => JSON.stringify(value));
    const filter = fc.oneof(
      quoted,
      quoted.map((value) => `${value}*`),
      quoted.map((value) => `i(${value})`),
      quoted.map((value) => `i(${value}*)`),
      quoted.map((value) => `f:${value}`),
      quoted.map((value) => `f:${value}*`),
      quoted.map((value) => `f:i(${value})`),
      quoted.map((value) => `=${value}`),
      quoted.map((value) => `f:=${value}`),
      quoted.map((value) => `f:!=${value}*`),
      fc.tuple(quoted, quoted).map(([a, b]) => `seq(${a}, ${b})`),
      fc.tuple(quoted, quoted).map(([a, b]) => `f:in(${a}, ${b})`),
      fc.tuple(quoted, quoted).map(([a, b]) => `f:string_range(${a}, ${b})`),
      fc.tuple(quoted, quoted).map(([a, b]) => `(${a} or !f:${b})`),
      fc.tuple(quoted, quoted).map(([a, b]) => `* | stats count() if (${a}) a, count() if (f:=${b}) b`),
    );
    const entries = complete(fc.sample(fc.record({ _msg: text, f: text }), { numRuns: 400, seed: 7 }).map((row) => ({ ...row })));
    await agree(entries, ['~"(?i)foo"', '~"^.$"', '~"(?s)^.*b"', '!~"a"', ...fc.sample(filter, { numRuns: extent(150, 400), seed: 11 })]);
  });

  it('takes any text of users for what it is', async () => {
    const texts = [`' OR 1=1 --`, `"; DROP TABLE logs`, '\\', '`', '{p0:String}', '\0\n\t\r', 'é’', '%', "\\'", 'a\\nb'];
    const entries = complete(
      texts.map((value, index) => ({
        _msg: value,
        [`f${value}`]: value,
        n: index,
        _stream: `{${JSON.stringify(`l${value}`)}=${JSON.stringify(value)}}`,
      })),
    );
    const queries = texts.flatMap((value) => {
      const text = JSON.stringify(value);
      const field = JSON.stringify(`f${value}`);
      return [
        text,
        `=${text}`,
        `${field}:=${text}`,
        `${field}:${text}`,
        `${field}:*`,
        `{${JSON.stringify(`l${value}`)}=${text}}`,
        `* | stats by (${field}) count() n`,
        `* | uniq by (${field}, n)`,
        `* | fields ${field}, n`,
        `${field}:in(${text}, x)`,
        `i(${text})`,
        `* | stats count() if (${field}:=${text}) n`,
      ];
    });
    await agree(
      entries,
      queries.filter((query) => syntaxError(query) === null),
    );
  });

  it('answers queries that are too big for one statement, in memory', async () => {
    const entries = complete(
      Array.from({ length: 50 }, (_none, index) => ({ _msg: `w${String(index)} ab cd`, f: `v${String(index)}`, n: index })),
    );
    const fill = (make: (index: number) => string, separator: string): string => {
      const parts: string[] = [];
      for (let size = 0; size < 9700; size += (parts.at(-1)?.length ?? 0) + separator.length) parts.push(make(parts.length));
      return parts.join(separator);
    };
    const number = String;
    await agree(entries, [
      fill((index) => `w${number(index + 40)}`, ' or '),
      fill((index) => `!w${number(index + 20)}`, ' '),
      fill((index) => `n:>${number(index + 30)}`, ' or '),
      fill((index) => `f:v${number(index + 30)}`, ' or '),
      `f:in(${fill((index) => `v${number(index + 30)}`, ',')})`,
      `contains_any(${fill((index) => `w${number(index + 30)}`, ',')})`,
      `f:in(${'"' + 'x'.repeat(3000) + '"'}, v7)`,
      `* | stats ${fill((index) => `count() if (n:>${number(index)}) c${number(index)}`, ', ')}`,
      `* | stats by (n) ${fill((index) => `sum(n) s${number(index)}`, ', ')}`,
      `* | uniq by (n, ${fill((index) => `f${number(index)}`, ', ')})`,
    ]);
    const many = complete(Array.from({ length: 6000 }, (_none, index) => ({ _msg: 'many', k: `${'key'.repeat(20)}${String(index)}` })));
    await agree(many, ['k:in(many | fields k) | stats count() n', 'contains_any(many | fields _msg) | stats count() n']);
  });

  it('takes no more values of a query inside than the query may hold', async () => {
    const tenant = (tenants += 1);
    const rows = Array.from({ length: 200 }, (_none, index) => ({ _msg: 'm', k: String(index % 150), few: String(index % 3) }));
    await own.insert(tenant, complete(rows));
    const ask = async (query: string, limits: Partial<MemoryLimits>): Promise<readonly LogEntry[] | string> => {
      const plan = { table: LOGS, tenantId: tenant, ...EVERYTHING, widest: EVERYTHING, memory: memoryFor(limits) };
      const runner = { store: own.store, streams, options: { tenantId: tenant, timeoutMs: 30_000 } };
      return runQuery(parse(query), plan, runner).catch((error: unknown) => (error instanceof HttpError ? `${String(error.status)} ${error.message}` : String(error))); // prettier-ignore
    };
    const count = async (query: string, limits: Partial<MemoryLimits>): Promise<unknown> => {
      const found = await ask(`${query} | stats count() n`, limits);
      return typeof found === 'string' ? found : textOf(found[0]?.get('n'));
    };
    const refused = '504 A query inside another one would hold more values than the query may have; narrow the query or its time range.';
    expect(await count('k:in(m | fields k)', { maxRows: 160 })).to.equal('200');
    expect(await count('k:in(m | fields few)', { maxRows: 100 })).to.equal('6');
    expect(await count('k:in(m | fields k)', { maxRows: 100 })).to.equal(refused);
    expect(await count('n:in(k:in(m | fields k) | fields n)', { maxRows: 100 })).to.equal(refused);
    expect(await count('k:in(m | fields k)', { maxBytes: 3000 })).to.equal(refused);
    expect(await count('_msg:contains_any(m | fields k)', { maxRows: 100 })).to.contain(
      'A query inside another one would hold more than 100 rows',
    );
  });

  it('gives a query inside no more than its tenant’s entries, with and without the row filter', async () => {
    const [one, two] = [(tenants += 1), (tenants += 1)];
    await own.insert(one, complete([{ _msg: 'own', k: 'a' }, { _msg: 'own', k: 'b', m: 'a' }])); // prettier-ignore
    await own.insert(two, complete([{ _msg: 'foreign', k: 'b', m: 'b' }]));
    const unfiltered = own.withoutRowFilter();
    for (const store of [own.store, unfiltered])
      for (const [query, expected] of [
        ['k:in(* | fields m)', ['a']],
        ['k:in(foreign | fields k)', []],
        ['k:in(k:in(* | fields m) or foreign | uniq by (k))', ['a']],
        ['options(ignore_global_time_filter=true) !k:in(_time:>1970 | stats by (m) count() n | fields m)', ['b']],
        ['k:in(* | copy m as x | fields x) | uniq by (k)', ['a']],
      ] as const) {
        const plan = { table: LOGS, tenantId: one, ...EVERYTHING, widest: EVERYTHING, memory: EVERYTHING.memory };
        const runner = { store, streams, options: { tenantId: one, timeoutMs: 30_000 } };
        const found = await runQuery(parse(query), plan, runner);
        expect(
          found.map((row) => textOf(row.get('k'))),
          query,
        ).to.deep.equal(expected);
      }
    await unfiltered.close();
  });

  it('agrees where random queries once found differences', async () => {
    const entries = complete([
      { _time: '1955-06-15T08:30:00.5Z', _msg: 'ошибк', v: '2026-02-30T00:00:00Z', n: 'inf', s: '1.50' },
      { _time: '2199-12-31T23:59:59Z', _msg: 'ошибки 𝒜', v: '1700-01-01T00:00:00Z', n: '1', s: '1.5' },
      { _time: '2199-12-31T23:59:59Z', _msg: 'xy日', v: '0x7fffffffffffffff', n: '1e308', s: '_1' },
      { _time: '2026-11-18T10:00:00Z', _msg: '\\Qa', v: '0x_', n: '1e308', s: '1KB2.0' },
      { _time: '2026-11-18T10:00:00.5Z', _msg: '', v: '0xffffffffffffffff', s: '_._' },
    ]);
    await agree(entries, [
      '~"ошибки?"',
      '~"^ошибки?$"',
      '~"(?s)𝒜?"',
      '~"xy日{0,1}"',
      '~"[日?]"',
      '~"\\\\Qош?\\\\E?"',
      '_time:week_range[Sun, Wed]',
      '_time:day_range[08:00, 09:00]',
      '* | stats by (_time:month) count() n',
      '* | stats by (_time:year) count() n',
      '* | stats sum(n) s, avg(n) a',
      '* | filter _time:2026-11 | stats rate() r',
      '{a="1"} | stats count() if (v:*) n, count_uniq(m) if (x) u',
      '* | top 3 by (_time)',
      '* | top 3 by (s, _time)',
      '* | sort by (_time desc) limit 1',
      '* | stats row_max(n) r, json_values(*) j, values(*) v',
      ...['v:>0', 'v:>12345678901234567', 'v:<2', 's:>=_1', 's:>1000', 's:<1', 's:le_field(v)', 's:lt_field(n)'],
    ]);
  });

  it('agrees on what differed from VictoriaLogs', async () => {
    const entries = complete([
      { _msg: 'panic: x\n\tat main.go:7', size: '700B', a: 'x', app: 'q', _stream: '{app="q"}' },
      { _msg: 'a\nb', size: '3MiB', b: 'y' },
      { _msg: '', size: '10KB', a: 'z', b: 'z' },
      { _msg: 'b', size: '1.5KiB', n: 1 },
      { _msg: '1_000', size: '1536B', n: 2 },
      { _msg: 'ab', n: '1.5' },
    ]);
    const regexps = ['.', 'panic.*main', '(?-s)panic.*main', '^a.b$', 'a(?-s:.)b', 'a.?b', 'x$', '.\\z'];
    const after = [
      'a:x',
      'a:""',
      '!a:x',
      'b:eq_field(a)',
      '{app="q"}',
      '_time:2026-11-18Z',
      'a:in(x, "")',
      '_msg:~".+"',
      'b:y',
      'a:in(* | fields a)',
    ];
    await agree(entries, [
      ...regexps.map((regexp) => `~"${regexp.replaceAll('\\', '\\\\')}"`),
      ...['""', 'a, ""', '"", nosuch', 'a', '* | fields b'].flatMap((list) => [`contains_any(${list})`, `a:contains_any(${list})`]),
      ...after.flatMap((filter) => [
        `* | fields b | filter ${filter}`,
        `* | fields b, size | filter ${filter} | stats count() n, count(a) a`,
        `* | fields b* | filter ${filter} | uniq by (b) with hits`,
        `* | delete a | filter ${filter} | fields b`,
      ]),
      ...['size', 'size, n', 's*', 'nosuch', 'n'].flatMap((list) => [
        `* | stats min(${list}) mn, max(${list}) mx, median(${list}) md`,
        `size:* | stats by (b) min(${list}) mn, max(${list}) mx, quantile(0.9, ${list}) q`,
        `* | stats min(${list}) if (size:*) mn, max(${list}) if (size:>1KB) mx`,
      ]),
      'n:[1, 2)',
      'size:[700B, 3MiB)',
      '!size:["1KiB", inf)',
      '* | collapse_nums | fields _msg',
      '* | pack_logfmt fields (a, b, nosuch) j | fields j',
      ...['1s', '5m', 'month', 'year', 'week', '2s offset 1s'].map((bucket) => `* | stats by (_time:${bucket}) rate() r, rate_sum(n) s`),
    ]);
  });

  it('agrees on rates at the ends of the window', async () => {
    const tenant = (tenants += 1);
    const entries = complete(Array.from({ length: 120 }, (_none, index) => ({ _msg: 'm', n: index % 7 })));
    await own.insert(tenant, entries);
    const window = { ...EVERYTHING, start: nanoseconds('2026-11-18T10:00:20Z'), end: nanoseconds('2026-11-18T10:01:29.999999999Z') };
    for (const bucket of ['1m', '50s', '1h', '1s', 'month', '7s offset 3s'])
      for (const filter of ['*', '_time:>2026-11-18T10:00:30Z', 'n:>2']) {
        const query = `${filter} | stats by (_time:${bucket}) rate() r, rate_sum(n) s`;
        const expected = await evaluate(parse(query), entries.toReversed(), window);
        expect(sorted(await inStore(tenant, parse(query), 10_000, window)), query).to.deep.equal(sorted(expected));
      }
    const rates = await evaluate(parse('* | stats by (_time:1m) rate() r | fields r'), entries.toReversed(), window);
    expect(rates.map((row) => textOf(row.get('r')))).to.deep.equal(['0.6666666666666666', '0.5']);
  });

  it('fills an answer also where most entries lack the only field that is left', async () => {
    const tenant = (tenants += 1);
    await own.insert(
      tenant,
      complete(Array.from({ length: 200 }, (_none, index) => ({ _msg: 'm', ...(index % 50 === 0 ? { rare: index } : {}) }))),
    );
    const texts = async (query: string, limit: number): Promise<string[]> =>
      (await inStore(tenant, parse(query), limit)).map((row) => textOf(row.get('rare')));
    expect(await texts('* | fields rare', 3)).to.deep.equal(['150', '100', '50']);
    expect(await texts('* | fields rare', 4)).to.deep.equal(['150', '100', '50', '0']);
    expect(await texts('* | limit 60 | fields rare', 4)).to.deep.equal(['150']);
  });

  it('knows streams by their ids', async () => {
    const tenant = (tenants += 1);
    await own.insert(
      tenant,
      complete([
        { _stream: '{a="1"}', _msg: 'x' },
        { _stream: '{a="2"}', _msg: 'y' },
      ]),
    );
    const [row] = await inStore(tenant, parse('x | fields _stream_id'));
    const id = textOf(row?.get('_stream_id'));
    expect(id).to.match(/^[0-9a-f]{48}$/);
    expect((await inStore(tenant, parse(`_stream_id:${id}`))).map((found) => found.get('_msg'))).to.deep.equal(['x']);
    expect((await inStore(tenant, parse('_stream_id:in(y | fields _stream_id)'))).map((found) => found.get('_msg'))).to.deep.equal(['y']);
  });

  it('keeps the types of values', async () => {
    const entries = complete([{ a: 18446744073709, b: true, c: '5', trace_id: 77, span_id: 'x' }]);
    await agree(entries, [
      '*',
      '* | fields a, b, c, trace_id',
      'trace_id:=77',
      'a:=18446744073709 b:=true',
      '* | fields trace_id, span_id',
    ]);
  });

  it('answers the conformance cases, as expected and as memory does', async function () {
    if (!isPresent) expect.fail('THE CONFORMANCE DATA IS ABSENT: set LOGWEIR_SHARED');
    const base = loadBase();
    const entries = loadEntries();
    const tenant = (tenants += 1);
    await own.insert(tenant, entries);
    const faults: string[] = [];
    const oneIn = extent(6, 1);
    for (const [index, test] of loadCases().entries()) {
      if (index % oneIn !== 0) continue;
      if (test.kind !== 'search' || test.expect.error === true || ODDITIES.has(test.id) || NOT_BUILT.has(test.feature)) continue;
      const start = readTime(test.start ?? WINDOW.start, NOW)?.start ?? 0n;
      const end = readTime(test.end ?? WINDOW.end, NOW) ?? { start: 0n, end: 0n };
      const rows = await inStore(tenant, parseQuery(test.query, { now: end.start }), test.limit ?? 10_000, { start, end: end.end });
      const fault = compareRows(test, rows, base);
      if (fault !== null) faults.push(`${test.id} ${test.query}\n    ${fault}`);
    }
    expect(faults, faults.join('\n')).to.deep.equal([]);
  });
});
