import { expect } from 'chai';
import fc from 'fast-check';
import { compileFilter } from '../../../api/live/match/row-test.ts';
import { liveRecordOf } from '../../../api/live/match/live-record.ts';
import type { LiveRecord } from '../../../api/live/match/live-record.ts';
import { encodeColumns } from '../../../pipeline/logs/columns/column-encoder.ts';
import { LogColumns } from '../../../pipeline/logs/columns/log-columns.ts';
import { addPlainRow, readPlainRow } from '../../../pipeline/logs/columns/plain-rows.ts';
import { WordTable } from '../../../pipeline/rows/words.ts';
import { Names } from '../../../pipeline/logs/names.ts';
import { NDJSON, type LogRecord } from '../../../pipeline/logs/record.ts';
import { COLUMNS } from '../../../pipeline/rows/native.ts';
import { streamsOf } from '../../fakes/log-record.ts';
import { loadCases, isPresent } from '../../logsql/conformance.ts';
import { parse } from '../../logsql/support.ts';

const WORDS = ['error', 'timeout', 'GET', '/api/v1', 'user=42', 'Ünïcode', 'a.b.c', '10.0.0.1', '', '{"a":1}', 'panic:'];
const words = { names: new Names(), levels: new WordTable(), services: new WordTable() };

type Row = {
  level: string;
  service: string;
  stream: number;
  message: string;
  fields: Record<string, string>;
  numbers: Record<string, string>;
};
const row: fc.Arbitrary<Row> = fc.record({
  level: fc.constantFrom('', 'error', 'info', 'warn'),
  service: fc.constantFrom('', 'api', 'web'),
  stream: fc.constantFrom(5, 6, 7),
  message: fc.array(fc.constantFrom(...WORDS), { maxLength: 4 }).map((parts) => parts.join(' ')),
  fields: fc.dictionary(fc.constantFrom('status', 'user.id', '__proto__', 'n'), fc.constantFrom('200', '500', 'x y', '12ms', '3')),
  numbers: fc.dictionary(fc.constantFrom('took', 'ok'), fc.constantFrom('1', '2.5', 'true')),
});

const STREAMS = streamsOf(['5', '{app="a"}', 20_776], ['6', '{app="b",env="prod"}', 20_776], ['7', '{}', 20_776]);

function lineOf({ level, service, stream, message, fields, numbers }: Row, index: number): string {
  const own = JSON.stringify(fields);
  return `{"_time":"${String(1_795_000_000_000_000_000n + BigInt(index) * 1_000_000n)}","_stream_id":"${String(stream)}","level":${JSON.stringify(level)},"service":${JSON.stringify(service)},"severity":0,"_msg":${JSON.stringify(message)},"fields":${own},"numbers":${JSON.stringify(numbers).replace(/:"([^"]*)"/g, ':$1')}}`;
}

/** The same rows as both encodings. */
function recordsOf(rows: readonly Row[]): LiveRecord[] {
  const lines = rows.map(lineOf);
  const columns = new LogColumns({ ...words, names: words.names.ids }, 1);
  for (const line of lines) {
    const read = readPlainRow(line);
    if (typeof read === 'string') throw new Error(`${read}: ${line}`);
    addPlainRow(columns, read, words);
  }
  const common = { tenantId: 7, count: rows.length, streams: STREAMS };
  const made = [
    { ...common, encoding: NDJSON, value: Buffer.from(lines.map((line) => `${line}\n`).join('')) },
    { ...common, encoding: COLUMNS, value: encodeColumns(columns) },
  ].map((record) => liveRecordOf(record as unknown as LogRecord));
  return made.map((record) => record ?? expect.fail('cannot be read'));
}

describe('filters compiled to columns', () => {
  const queries = [
    '*',
    'error',
    'level:error',
    'level:error or service:web',
    '!level:error timeout',
    'service:in(api,web) -panic',
    '{app="a"}',
    '{app="b"} error',
    '_stream_id:in(000000000000000700000000000000000000000000000005)',
    'nosuchfield:x',
    '!nosuchfield:x',
    'nosuchfield:""',
    'status:>200',
    'user.id:x',
    'took:>=2',
    'ok:true',
    '~"tim.*t"',
    '"user=42"',
    'erro*',
    'i(ERROR)',
    '_msg:"" or level:=info',
    '_time:>2020-01-01',
    'status:eq_field(n)',
    '"__proto__":x',
    'level:""',
  ].map((text) => [text, parse(text).filter] as const);
  const conformance = isPresent ? loadCases().flatMap(({ query }) => filterOf(query)) : [];

  it('match exactly the entries that the filter matches, whatever encoding the record has', () => {
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 12 }), (rows) => {
        const [plain, own] = recordsOf(rows);
        for (const [text, filter] of queries) {
          const wanted = rows.flatMap((_row, index) => (filter.matches(plain!.look(index)) ? [index] : []));
          expect([...compileFilter(filter)(own!)], text).to.deep.equal(wanted);
          expect([...compileFilter(filter)(plain!)], text).to.deep.equal(wanted);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('the public LogsQL queries too', () => {
    if (!isPresent) throw new Error('THE CONFORMANCE DATA IS ABSENT: set LOGWEIR_SHARED');
    expect(conformance.length).to.be.greaterThan(500);
    fc.assert(
      fc.property(fc.array(row, { minLength: 4, maxLength: 12 }), (rows) => {
        const [plain, own] = recordsOf(rows);
        for (const [text, filter] of conformance)
          expect([...compileFilter(filter)(own!)], text).to.deep.equal(
            rows.flatMap((_row, index) => (filter.matches(plain!.look(index)) ? [index] : [])),
          );
      }),
      { numRuns: 5 },
    );
  });

  it('give the texts that the entries have', () => {
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 6 }), fc.boolean(), (rows, withId) => {
        const [plain, own] = recordsOf(rows);
        for (const index of rows.keys()) expect(JSON.parse(own!.text(index, withId))).to.deep.equal(JSON.parse(plain!.text(index, withId)));
      }),
    );
  });

  it('stop where they are told to', () => {
    const [, own] = recordsOf(
      Array.from({ length: 5 }, () => ({ level: '', service: '', stream: 5, message: 'm', fields: {}, numbers: {} })),
    );
    expect([...compileFilter(parse('*').filter)(own!, (at) => at < 3)]).to.deep.equal([0, 1, 2]);
  });
});

/** The filter of a query, unless it has a query inside or cannot be read. */
function filterOf(text: string): (readonly [string, ReturnType<typeof parse>['filter']])[] {
  try {
    const { filter } = parse(text);
    const has = (one: typeof filter): boolean => one.subquery !== undefined || (one.parts ?? []).some(has);
    return has(filter) ? [] : [[text, filter]];
  } catch {
    return [];
  }
}
