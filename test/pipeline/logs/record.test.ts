import { expect } from 'chai';
import fc from 'fast-check';
import type { IHeaders, KafkaMessage } from 'kafkajs';
import { decodeBilled, readRecord } from '../../../pipeline/bus/records/record.ts';
import { logsSignal } from '../../../pipeline/logs/logs-signal.ts';
import { NDJSON, type LogRecord } from '../../../pipeline/logs/record.ts';
import { plainHeaders } from '../../fakes/log-record.ts';
import { checkLog } from '../../../pipeline/logs/record-check.ts';

const info = { tenantId: 7, retentionDays: 30, count: 1, bytes: 99 };
const headersOf = plainHeaders(info, ['5', '{app="x,y"}', -1, 20_777], ['6', '{}', 3]);
const message = (headers: IHeaders = {}, value: Buffer | null = Buffer.from('x')): KafkaMessage => ({
  key: null,
  value,
  headers: { ...headersOf, ...headers },
  offset: '12',
  timestamp: '5',
  attributes: 0,
});

describe('a record of logs.v1', () => {
  it('is read as it was written', () => {
    const record = readRecord(logsSignal, 3, message());
    expect(record).to.include({ ...info, encoding: NDJSON, partition: 3, offset: 12, timestamp: 5, replayOf: null, fault: null });
    const { streams } = record as LogRecord;
    expect([...streams.toMap()]).to.deep.equal([
      ['5', { text: '{app="x,y"}', days: [-1, 20_777] }],
      ['6', { text: '{}', days: [3] }],
    ]);
    expect(streams).to.include({ count: 2, firstDay: -1 });
  });

  for (const [what, headers, reason] of [
    ['another encoding', { encoding: 'avro' }, 'foreign'],
    ['another version', { sv: '1' }, 'version'],
    ['another signal', { signal: 'spans' }, 'foreign'],
    ['no tenant', { tenant: '' }, 'headers'],
    ['a tenant beyond the column, which would be another one', { tenant: '4294967303' }, 'headers'],
    ['a retention beyond the column', { retention: '65536' }, 'headers'],
    ['a negative count', { count: '-1' }, 'headers'],
    ['a count that is no integer', { count: '1.5' }, 'headers'],
    ['days that are none', { streams: '[["5","{}","x"]]' }, 'headers'],
    ['endless days', { streams: '[["5","{}",1,99999999]]' }, 'headers'],
    ['a stream without a day', { streams: '[["5","{}"]]' }, 'headers'],
    ['half a day', { streams: '[["5","{}",1.5]]' }, 'headers'],
    ['streams that are no list', { streams: '{}' }, 'headers'],
    ['streams that are a number', { streams: '5' }, 'headers'],
    ['a stream without labels', { streams: '[["5"]]' }, 'headers'],
    ['a stream whose id is a number', { streams: '[[5,"{}",1]]' }, 'headers'],
    ['a stream whose id is too large', { streams: '[["18446744073709551616","{}",1]]' }, 'headers'],
    ['a stream whose labels are none', { streams: '[["5","app=x",1]]' }, 'headers'],
  ] as const)
    it(`is not read with ${what}`, () => {
      expect(readRecord(logsSignal, 3, message(headers)).fault).to.include({ reason });
    });

  it('is not read with labels that are none the second time either, and is with the largest id', () => {
    const bad = message({ streams: '[["5","app=x",1]]' });
    for (let i = 0; i < 2; i++) expect(readRecord(logsSignal, 3, bad).fault).to.include({ reason: 'headers' });
    const good = message({ streams: '[["18446744073709551615","{app=\\"x\\"}",1]]' });
    for (let i = 0; i < 2; i++) expect(readRecord(logsSignal, 3, good)).to.have.nested.property('streams.count', 1);
  });

  it('is not read without a value', () => {
    expect(readRecord(logsSignal, 3, message({}, null)).fault).to.include({ reason: 'foreign' });
  });

  it('is read or has a fault, whatever its headers are', () => {
    const header = fc.oneof(fc.string(), fc.json(), fc.constantFrom('ndjson', 'logs', '2', '7', '[]', '3:4'));
    const names = ['encoding', 'signal', 'sv', 'tenant', 'retention', 'count', 'bytes', 'streams', 'replayed_from', 'arrived'] as const;
    fc.assert(
      fc.property(fc.record(Object.fromEntries(names.map((name) => [name, header])), { requiredKeys: [] }), (headers) => {
        const record = readRecord(logsSignal, 3, message(headers));
        expect(record.offset).to.equal(12);
        if (record.fault !== null) expect(record.count).to.equal(0);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('what a record counts', () => {
  it('is told by its headers alone', () => {
    expect(decodeBilled(message())).to.deep.equal({ tenantId: 7, bytes: 99, timestamp: 5 });
  });

  it('is nothing where it is none of ours, or no bytes are in it', () => {
    for (const headers of [{}, { tenant: '1' }, { tenant: '1', bytes: '0' }, { tenant: '0', bytes: '5' }, { tenant: '1', bytes: '-5' }])
      expect(decodeBilled({ timestamp: '5', headers })).to.equal(null);
  });
});

describe('the rows of a record of the encoding ndjson', () => {
  const row = '{"_time":"1","_stream_id":"5","_msg":"x"}\n';
  const fault = (value: string, count: number): string | undefined =>
    checkLog({ encoding: NDJSON, value: Buffer.from(value), count })?.detail;

  for (const [what, value, count] of [
    ['nothing', '', 0],
    ['one', row, 1],
    ['three', row.repeat(3), 3],
    ['one without a stream and a message', '{"_time":"1"}\n', 1],
    [
      'one with all it can have',
      `{"_time":"-1","_stream_id":"18446744073709551615","level":"a","service":"b","trace_id":"c","span_id":"d","severity":6,"_msg":"","fields":{"__proto__":"x"},"numbers":{"n":12345678901234567890,"b":true}}\n`,
      1,
    ],
  ] as const)
    it(`are taken: ${what}`, () => expect(fault(value, count)).to.equal(undefined));

  for (const [what, value, count, says] of [
    ['fewer than the header says', row, 2, /has 1 rows, and its header count is 2/],
    ['more than the header says', row.repeat(2), 1, /has 2 rows/],
    ['some where there should be none', row, 0, /has a value/],
    ['the last one cut off', row + row.slice(0, 20), 2, /line 2 of its value is cut off/],
    ['the last one without a line feed', row.trimEnd(), 1, /cut off/],
    ['an empty line', `${row}\n${row}`, 3, /line 2/],
    ['an array', `[${row.trim()}]\n`, 1, /line 1 of its value is not a JSON object/],
    ['a row over two lines', '{"_time":"1",\n"_msg":"x"}\n', 2, /line 1 of its value is not JSON/],
    ['two rows in a line', `${row.trim()}${row}`, 1, /is not JSON/],
    ['no time', '{"_msg":"x"}\n', 1, /has no _time/],
    ['a time that is a number', '{"_time":1}\n', 1, /has no _time/],
    ['a time before 1900', '{"_time":"-2208988800000000001"}\n', 1, /has no _time/],
    ['a time after 2262', '{"_time":"9223372036854775808"}\n', 1, /has no _time/],
    ['a stream id that is too large', '{"_time":"1","_stream_id":"18446744073709551616"}\n', 1, /_stream_id/],
    ['a severity that is none', '{"_time":"1","severity":7}\n', 1, /severity/],
    ['a level that is a number', '{"_time":"1","level":7}\n', 1, /level, service, trace_id, span_id/],
    ['a message that is an object', '{"_time":"1","_msg":{}}\n', 1, /_msg/],
    ['fields that are a list', '{"_time":"1","fields":[]}\n', 1, /fields/],
    ['a field that is a number', '{"_time":"1","fields":{"a":1}}\n', 1, /not a string: "a"/],
    ['numbers that are a list', '{"_time":"1","numbers":[1]}\n', 1, /numbers/],
    ['a number that is a string', '{"_time":"1","numbers":{"a":"1"}}\n', 1, /numbers/],
    ['numbers before other members', '{"_time":"1","numbers":{"a":1},"_msg":"x"}\n', 1, /numbers/],
    ['garbage', '\u0000\u0001', 1, /line 1/],
  ] as const)
    it(`are not taken: ${what}`, () => expect(fault(value, count)).to.match(says));
});
