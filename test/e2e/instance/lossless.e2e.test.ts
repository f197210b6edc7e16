import { expect } from 'chai';
import { gzipSync } from 'node:zlib';
import { bytesField, fixed64Field } from '../../pipeline/normalizers/protobuf-writer.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';

/** What one log must bring back. `fields` by name; a number stands for a JSON number of exactly this text. */
type Case = { readonly name: string; readonly message: string; readonly value: string };

const CASES: readonly Case[] = [
  { name: 'unicode', message: 'héllo 東京 😀 \u200d\u0301', value: '\u{10ffff} \u00a0' },
  { name: 'control characters', message: 'tab\tbell\u0007escape\u001b[31m', value: 'a\u0000b\u007f' },
  { name: 'quotes and backslashes', message: 'say "x" \\ \\n \'y\' `z` {"a":1} %s', value: '\\"' },
  { name: 'SQL and markup', message: "'; DROP TABLE logs; -- <script>", value: '{p:String}' },
  { name: 'spaces at the ends', message: '  two before and after  ', value: ' x ' },
  { name: 'a line of 1 MB', message: `long ${'0123456789abcdef'.repeat(65_000)} end`, value: 'y' },
];
/** Messages with line ends, for formats that do not end an entry with them. */
const MULTILINE: Case = { name: 'several lines', message: 'line 1\r\nline 2\n\tat x', value: 'a\nb' };

/** 2026-11-20T23:16:49.889144952Z and its like: every digit counts. */
const NS = 1_795_216_609_889_144_952n;
const BIG = '18446744073709551615';

type Sent = { readonly path: string; readonly body: string | Buffer; readonly headers?: Readonly<Record<string, string>> };

/** A format: how one log is sent, and what of it comes back. */
type Format = {
  readonly name: string;
  readonly multiline: boolean;
  /** Which fields come back: of any type, text alone, or none since the format has no fields. */
  readonly fields: 'all' | 'text' | null;
  readonly time: 'ns' | 'none';
  send(log: Case): Sent;
};

const text = (value: string): string => JSON.stringify(value);
const members = (log: Case): string => `"value":${text(log.value)},"big":${BIG},"__proto__":"p","same":1,"same":"last"`;
const attribute = (key: string, ...value: Buffer[]): Buffer => bytesField(6, bytesField(1, key), bytesField(2, ...value));

const FORMATS: readonly Format[] = [
  {
    name: 'bulk',
    multiline: true,
    fields: 'all',
    time: 'ns',
    send: (log) => ({
      path: '/_bulk',
      body: `{"create":{}}\r\n{"_time":"${String(NS)}","_msg":${text(log.message)},${members(log)}}\r\n`,
    }),
  },
  {
    name: 'JSON with a byte order mark, gzip',
    multiline: true,
    fields: 'all',
    time: 'ns',
    send: (log) => ({
      path: '/api/v1/ingest',
      body: gzipSync(`\ufeff[{"_time":${String(NS)},"_msg":${text(log.message)},${members(log)}}]`),
      headers: { 'Content-Encoding': 'gzip' },
    }),
  },
  {
    name: 'Loki JSON',
    multiline: true,
    fields: 'text',
    time: 'ns',
    send: (log) => ({
      path: '/loki/api/v1/push',
      body: `{"streams":[{"stream":{"app":"a"},"values":[["${String(NS)}",${text(log.message)},{"value":${text(log.value)},"__proto__":"p"}]]}]}`,
      headers: { 'Content-Type': 'application/json' },
    }),
  },
  {
    name: 'OTLP JSON',
    multiline: true,
    fields: 'all',
    time: 'ns',
    send: (log) => ({
      path: '/v1/logs',
      body: `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"${String(NS)}","body":{"stringValue":${text(log.message)}},"attributes":[{"key":"value","value":{"stringValue":${text(log.value)}}},{"key":"big","value":{"intValue":${BIG}}},{"key":"__proto__","value":{"stringValue":"p"}}]}]}]}]}`,
      headers: { 'Content-Type': 'application/json' },
    }),
  },
  {
    name: 'OTLP protobuf',
    multiline: true,
    fields: 'text',
    time: 'ns',
    send: (log) => ({
      path: '/v1/logs',
      body: bytesField(
        1,
        bytesField(
          2,
          bytesField(
            2,
            fixed64Field(1, NS),
            bytesField(5, bytesField(1, log.message)),
            attribute('value', bytesField(1, log.value)),
            attribute('__proto__', bytesField(1, 'p')),
          ),
        ),
      ),
      headers: { 'Content-Type': 'application/x-protobuf' },
    }),
  },
  {
    name: 'syslog, octet counted',
    multiline: true,
    fields: null,
    time: 'none',
    send: (log) => {
      const frame = `<14>1 - h app - - - ${log.message}`;
      return { path: '/api/v1/syslog', body: `${String(Buffer.byteLength(frame))} ${frame}` };
    },
  },
  {
    name: 'Fluent Bit JSON',
    multiline: true,
    fields: 'all',
    time: 'ns',
    send: (log) => ({ path: '/api/v1/fluent', body: `[{"date":${String(NS)},"log":${text(log.message)},${members(log)}}]` }),
  },
  {
    name: 'Splunk HEC event',
    multiline: true,
    fields: 'all',
    time: 'ns',
    send: (log) => ({
      path: '/services/collector/event',
      body: `{"time":"1795216609.889144952","event":{"message":${text(log.message)},${members(log)}}}`,
    }),
  },
  {
    name: 'GELF',
    multiline: true,
    fields: 'all',
    time: 'ns',
    send: (log) => ({
      path: '/gelf',
      body: `{"version":"1.1","host":"h","short_message":${text(log.message)},"timestamp":1795216609.889144952,"_value":${text(log.value)},"_big":${BIG},"___proto__":"p"}`,
    }),
  },
  {
    name: 'generic drain',
    multiline: false,
    fields: null,
    time: 'none',
    send: (log) => ({ path: '/api/v1/drain', body: `${log.message}\r\n`, headers: { 'Content-Type': 'text/plain' } }),
  },
  {
    name: 'Splunk HEC raw',
    multiline: false,
    fields: null,
    time: 'none',
    send: (log) => ({ path: '/services/collector/raw', body: log.message, headers: { 'Content-Type': 'text/plain' } }),
  },
];

describe('what was accepted comes back as it was', function () {
  this.timeout(600_000);
  let instance: Instance;

  before(async () => {
    instance = await sharedInstance();
  });

  for (const format of FORMATS) {
    it(format.name, async () => {
      const tenant = await newTenant(instance);
      const auth = { Authorization: `Bearer ${tenant.key}` };
      const cases = format.multiline ? [...CASES, MULTILINE] : CASES;
      for (const log of cases) {
        const { path, body, headers } = format.send(log);
        const answer = await instance.call('POST', `${instance.ingest}${path}`, body, { ...auth, ...headers });
        expect(answer.status, `${log.name}: ${JSON.stringify(answer.body)}`).to.be.oneOf([200, 202, 204]);
      }
      const answer = await until(
        'all entries',
        () => search(instance, tenant),
        (raw) => (JSON.parse(raw) as { count: number }).count >= cases.length,
      );
      const { logs } = JSON.parse(answer) as { logs: Record<string, unknown>[] };
      expect(logs).to.have.length(cases.length);
      for (const log of cases) {
        const entry = logs.find(({ _msg }) => _msg === log.message);
        expect(entry, `${log.name}: no entry has its message`).to.not.equal(undefined);
        check(format, log, entry ?? {});
      }
      // JSON.parse would round it
      if (format.fields === 'all') expect(answer.split(`"big":${BIG}`)).to.have.length(cases.length + 1);
    });
  }
});

/** The answer of a search for everything, as text. */
async function search(instance: Instance, tenant: { readonly id: number; readonly key: string }): Promise<string> {
  const response = await fetch(`${instance.app}/api/v1/tenants/${String(tenant.id)}/search`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: '*', start: '-30d', limit: 100 }),
  });
  return response.text();
}

function check(format: Format, log: Case, entry: Record<string, unknown>): void {
  if (format.time === 'ns') expect(entry['_time'], log.name).to.equal('2026-11-20T23:16:49.889144952Z');
  if (format.fields === null) return;
  expect(entry['value'], log.name).to.equal(log.value);
  if ('same' in entry) expect(entry['same'], log.name).to.equal('last');
  expect(Object.getOwnPropertyDescriptor(entry, '__proto__')?.value, log.name).to.equal('p');
}
