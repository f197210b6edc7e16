import { expect } from 'chai';
import { otlpLogs } from '../../../../pipeline/normalizers/otlp-logs.ts';
import { messages, normalize } from '../normalize.ts';

const JSON_TYPE = { contentType: 'application/json' };
const NS = 1_795_217_398_098_000_000n;
const record = (text: string): string => `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${text}]}]}]}`;

describe('OTLP in JSON', () => {
  const ok = (name: string, text: string, field: string, expected: unknown): void => {
    it(name, () => {
      const result = normalize(otlpLogs, record(text), JSON_TYPE);
      if (!('entries' in result)) throw new Error(result.detail);
      expect(result.rejected).to.deep.equal([]);
      const value = result.entries[0]?.get(field);
      expect(typeof value === 'object' ? { json: value.text } : value).to.deep.equal(expected);
    });
  };
  const time = '2026-11-20T23:29:58.098Z';
  ok('takes times as numbers', '{"timeUnixNano":1795217398098000000,"body":{"stringValue":"a"}}', '_time', time);
  ok('takes times in scientific notation', '{"timeUnixNano":1.795217398098e18,"body":{"stringValue":"a"}}', '_time', time);
  ok(
    'takes times as old JavaScript SDKs write them',
    `{"timeUnixNano":{"low":${String(BigInt.asIntN(32, NS))},"high":${String(NS >> 32n)}},"body":{"stringValue":"a"}}`,
    '_time',
    '2026-11-20T23:29:58.098Z',
  );
  ok(
    'takes times of zero for none',
    '{"timeUnixNano":"0","observedTimeUnixNano":"1795217398098000000","body":{"stringValue":"a"}}',
    '_time',
    time,
  );
  ok('takes null and empty times for none', '{"timeUnixNano":null,"observedTimeUnixNano":""}', '_time', '2026-11-21T14:00:00Z');
  ok(
    'takes snake_case',
    '{"time_unix_nano":"1795217398098000000","severity_text":"INFO","body":{"string_value":"a"}}',
    'severity_text',
    'INFO',
  );
  ok('takes names with escapes', '{"\\u0062ody":{"stringValu\\u0065":"a"}}', '_msg', 'a');
  ok('takes white space', ' {\n"body" : { "stringValue" : "a" }\r\n,\t"severityNumber" : 9 } ', 'level', 'info');
  ok('takes a severity number that is text', '{"severityNumber":"17","body":{"stringValue":"a"}}', 'level', 'error');
  ok(
    "takes a severity number by its enum's name",
    '{"severityNumber":"SEVERITY_NUMBER_DEBUG3","body":{"stringValue":"a"}}',
    'severity_number',
    { json: '7' },
  );
  ok('takes lone surrogates for U+FFFD', '{"body":{"stringValue":"a\\ud83d"}}', '_msg', 'a\uFFFD');
  ok('takes the last of equal names', '{"body":{"stringValue":"a"},"body":{"stringValue":"b"}}', '_msg', 'b');
  ok('passes over names that it does not know', '{"x":[{"y":[1]}],"flags":1,"body":{"stringValue":"a","z":{}}}', '_msg', 'a');
  ok('takes a number for an integer', '{"attributes":[{"key":"n","value":{"intValue":18446744073709551615}}]}', 'n', {
    json: '18446744073709551615',
  });
  ok('takes text for an integer', '{"attributes":[{"key":"n","value":{"intValue":"-7"}}]}', 'n', { json: '-7' });
  ok('keeps text that is no integer', '{"attributes":[{"key":"n","value":{"intValue":"07"}}]}', 'n', '07');
  ok('takes an integer in two halves', '{"attributes":[{"key":"n","value":{"intValue":{"low":-1,"high":-1,"unsigned":false}}}]}', 'n', {
    json: '-1',
  });
  ok('takes text for a double', '{"attributes":[{"key":"n","value":{"doubleValue":"1.5e3"}}]}', 'n', { json: '1.5e3' });
  ok('takes a value before its key', '{"attributes":[{"value":{"stringValue":"v"},"key":"n"}]}', 'n', 'v');
  ok(
    'drops null values',
    '{"body":{"stringValue":"a"},"attributes":[{"key":"n","value":null},{"key":"m","value":{"stringValue":null}}]}',
    'n',
    undefined,
  );
  ok(
    'keeps ids that are no hexadecimal',
    '{"traceId":"W47/95gDgQPSabYzgT/GDA==","body":{"stringValue":"a"}}',
    'trace_id',
    'W47/95gDgQPSabYzgT/GDA==',
  );
  ok('takes attributes that are null', '{"attributes":null,"body":{"stringValue":"a"}}', '_msg', 'a');
  it('finds the resource and the scope behind the records', () => {
    const body =
      '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"a"}}],"scope":{"name":"s"}}],' +
      '"resource":{"attributes":[{"key":"r","value":{"stringValue":"1"}}]}}]}';
    const result = normalize(otlpLogs, body, JSON_TYPE);
    expect('entries' in result && Object.fromEntries(result.entries[0] ?? [])).to.include({
      _stream: '{r="1"}',
      r: '1',
      'scope.name': 's',
      _msg: 'a',
    });
  });
  it('takes empty requests', () => {
    for (const body of [
      '{}',
      '{"resourceLogs":[]}',
      '{"resourceLogs":null}',
      '{"resourceLogs":[{}]}',
      '{"resourceLogs":[{"scopeLogs":[{"logRecords":[]}]}]}',
    ])
      expect(messages(normalize(otlpLogs, body, JSON_TYPE)), body).to.deep.equal([]);
  });

  const rejected = (name: string, text: string, reason: RegExp): void => {
    it(name, () => {
      const result = normalize(otlpLogs, record(`${text},{"body":{"stringValue":"b"}}`), JSON_TYPE);
      expect(messages(result)).to.deep.equal(['b']);
      expect('rejected' in result && result.rejected.map(({ reason }) => reason)).to.match(reason);
    });
  };
  rejected('rejects a record that is no object', '5', /^not a JSON object$/);
  rejected('rejects a time that is none', '{"timeUnixNano":"soon"}', /^_time is not a time: timeUnixNano is not a number/);
  rejected('rejects a negative time', '{"timeUnixNano":-1}', /^_time is not a time/);
  rejected('rejects attributes that are no list', '{"attributes":{"a":1}}', /^attributes is not an array$/);
  rejected('rejects an attribute that is no object', '{"attributes":[7]}', /^an attribute is not an object$/);
  rejected('rejects a severity text that is no text', '{"severityText":[]}', /^severity_text is not a string$/);

  const bad = (name: string, body: string, detail: RegExp): void => {
    it(name, () => {
      const result = normalize(otlpLogs, body, JSON_TYPE);
      expect('status' in result && result.status).to.equal(400);
      expect('status' in result && result.detail).to.match(detail);
    });
  };
  bad('refuses an empty body', ' ', /^The body is empty/);
  bad('refuses what is no JSON, and says where', '{"resourceLogs":[{"x":tru}]}', /unexpected "tru}\]}" at byte 22/);
  bad('refuses a record that breaks off', record('{"body":{"stringValue":"a"').slice(0, -13), /unexpected end/);
  bad(
    'refuses an attribute that breaks off',
    '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"attributes":[{"key":"a","value":{"stringValue":"',
    /unexpected end/,
  );
  bad('refuses text behind the request', '{} {}', /^After the request, at byte 3/);
  bad('refuses resourceLogs that are no list', '{"resourceLogs":{}}', /^resourceLogs is not an array/);
  bad('refuses resourceLogs of something else', '{"resourceLogs":[1]}', /^An element of resourceLogs is not an object/);
  bad('refuses scopeLogs that are no list', '{"resourceLogs":[{"resource":{},"scopeLogs":1}]}', /^scopeLogs is not an array/);
  bad('refuses logRecords that are no list', '{"resourceLogs":[{"scopeLogs":[{"logRecords":1}]}]}', /^logRecords is not an array/);
  bad('refuses deep nesting without an end', `{"x":${'['.repeat(1e6)}`, /unexpected end/);
});
