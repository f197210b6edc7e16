import { gzipSync } from 'node:zlib';
import type { RequestOptions } from '../../test/pipeline/normalizers/normalize.ts';
import { benchLogs, type BenchLog } from './logs.ts';
import { bytesField, fixed64Field, varintField } from '../../test/pipeline/normalizers/protobuf-writer.ts';

/** One body of a format, as its shippers send it. */
export type WireBody = { readonly normalizer: string; readonly label: string; readonly body: Buffer; readonly envelope?: RequestOptions };

const iso = (ms: number): string => new Date(ms).toISOString();
const lines = (items: readonly string[]): Buffer => Buffer.from(`${items.join('\n')}\n`);
const fieldsOf = (log: BenchLog): object => ({
  status: log.status,
  duration_ms: log.durationMs,
  user_id: log.userId,
  trace_id: log.traceId,
  ip: log.ip,
});
const entryOf = (log: BenchLog): object => ({
  _time: iso(log.ms),
  _msg: log.message,
  service: log.service,
  host: log.host,
  env: log.env,
  level: log.level,
  ...fieldsOf(log),
});
/** What a service prints: the message and its fields as logfmt. */
const lineOf = (log: BenchLog): string =>
  `level=${log.level} status=${String(log.status)} duration_ms=${String(log.durationMs)} user_id=${log.userId} trace_id=${log.traceId} ip=${log.ip} msg="${log.message}"`;

function byStream(logs: readonly BenchLog[]): Map<string, BenchLog[]> {
  const streams = new Map<string, BenchLog[]>();
  for (const log of logs) {
    const key = `${log.service} ${log.host}`;
    streams.set(key, [...(streams.get(key) ?? []), log]);
  }
  return streams;
}

function lokiJson(logs: readonly BenchLog[]): Buffer {
  const streams = [...byStream(logs).values()].map((group) => ({
    stream: { service: group[0]?.service, host: group[0]?.host, env: group[0]?.env },
    values: group.map((log) => [`${String(log.ms)}000000`, lineOf(log)]),
  }));
  return Buffer.from(JSON.stringify({ streams }));
}

function lokiProtobuf(logs: readonly BenchLog[]): Buffer {
  const streams = [...byStream(logs).values()].map((group) =>
    bytesField(
      1,
      bytesField(1, `{env="${group[0]?.env ?? ''}", host="${group[0]?.host ?? ''}", service="${group[0]?.service ?? ''}"}`),
      ...group.map((log) =>
        bytesField(
          2,
          bytesField(1, varintField(1, Math.floor(log.ms / 1000)), varintField(2, (log.ms % 1000) * 1_000_000)),
          bytesField(2, lineOf(log)),
        ),
      ),
    ),
  );
  return Buffer.concat(streams);
}

const SEVERITIES = { debug: 5, info: 9, warn: 13, error: 17 } as const;

function otlpJson(logs: readonly BenchLog[]): Buffer {
  const text = (key: string, value: string): object => ({ key, value: { stringValue: value } });
  const number = (key: string, value: number): object => ({ key, value: { intValue: String(value) } });
  const resourceLogs = [...byStream(logs).values()].map((group) => ({
    resource: {
      attributes: [
        text('service.name', group[0]?.service ?? ''),
        text('host.name', group[0]?.host ?? ''),
        text('deployment.environment.name', group[0]?.env ?? ''),
      ],
    },
    scopeLogs: [
      {
        scope: { name: 'bench' },
        logRecords: group.map((log) => ({
          timeUnixNano: `${String(log.ms)}000000`,
          severityNumber: SEVERITIES[log.level],
          severityText: log.level.toUpperCase(),
          body: { stringValue: log.message },
          attributes: [
            number('http.response.status_code', log.status),
            number('duration_ms', log.durationMs),
            text('user.id', log.userId),
            text('client.address', log.ip),
            text('thread.name', 'main'),
          ],
          traceId: log.traceId,
          spanId: log.traceId.slice(0, 16),
        })),
      },
    ],
  }));
  return Buffer.from(JSON.stringify({ resourceLogs }));
}

function otlpProtobuf(logs: readonly BenchLog[]): Buffer {
  const text = (field: number, key: string, value: string): Buffer =>
    bytesField(field, bytesField(1, key), bytesField(2, bytesField(1, value)));
  const number = (field: number, key: string, value: number): Buffer =>
    bytesField(field, bytesField(1, key), bytesField(2, varintField(3, value)));
  const groups = [...byStream(logs).values()].map((group) => {
    const records = group.map((log) =>
      bytesField(
        2,
        fixed64Field(1, BigInt(log.ms) * 1_000_000n),
        varintField(2, SEVERITIES[log.level]),
        bytesField(3, log.level.toUpperCase()),
        bytesField(5, bytesField(1, log.message)),
        number(6, 'http.response.status_code', log.status),
        number(6, 'duration_ms', log.durationMs),
        text(6, 'user.id', log.userId),
        text(6, 'client.address', log.ip),
        text(6, 'thread.name', 'main'),
        bytesField(9, Buffer.from(log.traceId, 'hex')),
        bytesField(10, Buffer.from(log.traceId.slice(0, 16), 'hex')),
        fixed64Field(11, BigInt(log.ms) * 1_000_000n),
      ),
    );
    const resource = bytesField(
      1,
      text(1, 'service.name', group[0]?.service ?? ''),
      text(1, 'host.name', group[0]?.host ?? ''),
      text(1, 'deployment.environment.name', group[0]?.env ?? ''),
    );
    return bytesField(1, resource, bytesField(2, bytesField(1, bytesField(1, 'bench')), ...records));
  });
  return Buffer.concat(groups);
}

const PRIORITIES = { debug: 7, info: 6, warn: 4, error: 3 } as const;
const priority = (log: BenchLog): string => `<${String(16 * 8 + PRIORITIES[log.level])}>`;

const rfc5424 = (log: BenchLog): string =>
  `${priority(log)}1 ${iso(log.ms)} ${log.host} ${log.service} 4711 REQ [req@32473 status="${String(log.status)}" duration_ms="${String(log.durationMs)}" user_id="${log.userId}" trace_id="${log.traceId}" ip="${log.ip}"] ${log.message}`;
function rfc3164(log: BenchLog): string {
  const at = new Date(log.ms);
  const month = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'][at.getUTCMonth()] ?? '';
  return `${priority(log)}${month} ${String(at.getUTCDate()).padStart(2)} ${iso(log.ms).slice(11, 19)} ${log.host} ${log.service}[4711]: ${lineOf(log)}`;
}

function heroku(logs: readonly BenchLog[]): Buffer {
  const frames = logs.map((log) => `${priority(log)}1 ${iso(log.ms)} host app web.1 - ${lineOf(log)}\n`);
  return Buffer.from(frames.map((frame) => `${String(Buffer.byteLength(frame))} ${frame}`).join(''));
}

function firehose(logs: readonly BenchLog[]): Buffer {
  const data = {
    messageType: 'DATA_MESSAGE',
    owner: '123456789012',
    logGroup: '/aws/lambda/web',
    logStream: '2026/11/20/[$LATEST]0',
    subscriptionFilters: ['all'],
    logEvents: logs.map((log, index) => ({ id: String(index).padStart(56, '3'), timestamp: log.ms, message: `${lineOf(log)}\n` })),
  };
  const records = [{ data: gzipSync(JSON.stringify(data)).toString('base64') }];
  return Buffer.from(JSON.stringify({ requestId: 'bench', timestamp: logs[0]?.ms ?? 0, records }));
}

function vercel(log: BenchLog): object {
  return {
    id: log.traceId,
    message: log.message,
    timestamp: log.ms,
    source: 'lambda',
    projectId: 'prj_1',
    deploymentId: 'dpl_1',
    host: log.host,
    path: '/api',
    requestId: log.userId,
    statusCode: log.status,
    level: log.level,
    environment: log.env,
    'trace.id': log.traceId,
  };
}

const hecEvent = (log: BenchLog): string =>
  JSON.stringify({
    time: log.ms / 1000,
    host: log.host,
    source: log.service,
    sourcetype: '_json',
    event: { message: log.message, level: log.level, service: log.service, ...fieldsOf(log) },
  });
const gelf = (log: BenchLog): string =>
  JSON.stringify({
    version: '1.1',
    host: log.host,
    short_message: log.message,
    timestamp: log.ms / 1000,
    level: PRIORITIES[log.level],
    _service: log.service,
    ...Object.fromEntries(Object.entries(fieldsOf(log)).map(([name, value]) => [`_${name}`, value as unknown])),
  });
const fluent = (log: BenchLog): object => ({
  date: log.ms / 1000,
  log: log.message,
  level: log.level,
  service: log.service,
  host: log.host,
  ...fieldsOf(log),
});

/** A body of every format over the same logs. */
export function wireBodies(logs: readonly BenchLog[]): WireBody[] {
  const protobuf = { contentType: 'application/x-protobuf' };
  const json = { contentType: 'application/json' };
  return [
    {
      normalizer: 'es_bulk',
      label: 'Elasticsearch bulk',
      body: lines(logs.map((log) => `{"create":{}}\n${JSON.stringify(entryOf(log))}`)),
    },
    { normalizer: 'json', label: 'NDJSON', body: lines(logs.map((log) => JSON.stringify(entryOf(log)))) },
    { normalizer: 'loki', label: 'Loki JSON', body: lokiJson(logs), envelope: json },
    { normalizer: 'loki', label: 'Loki protobuf', body: lokiProtobuf(logs), envelope: protobuf },
    { normalizer: 'otlp_logs', label: 'OTLP protobuf', body: otlpProtobuf(logs), envelope: protobuf },
    { normalizer: 'otlp_logs', label: 'OTLP JSON', body: otlpJson(logs), envelope: json },
    { normalizer: 'syslog', label: 'syslog RFC 5424', body: lines(logs.map(rfc5424)) },
    { normalizer: 'syslog', label: 'syslog RFC 3164', body: lines(logs.map(rfc3164)) },
    { normalizer: 'fluent', label: 'Fluent Bit JSON', body: Buffer.from(JSON.stringify(logs.map(fluent))), envelope: json },
    { normalizer: 'hec_event', label: 'Splunk HEC events', body: Buffer.from(logs.map(hecEvent).join('')) },
    { normalizer: 'hec_raw', label: 'Splunk HEC raw', body: lines(logs.map(lineOf)) },
    { normalizer: 'gelf', label: 'GELF, several a request', body: lines(logs.map(gelf)) },
    { normalizer: 'cloudwatch', label: 'CloudWatch through Firehose', body: firehose(logs), envelope: json },
    { normalizer: 'vercel', label: 'Vercel drain', body: Buffer.from(JSON.stringify(logs.map(vercel))), envelope: json },
    { normalizer: 'heroku', label: 'Heroku drain', body: heroku(logs), envelope: { contentType: 'application/logplex-1' } },
    { normalizer: 'drain', label: 'generic drain, text', body: lines(logs.map(lineOf)), envelope: { contentType: 'text/plain' } },
  ];
}

/** Bodies of Elasticsearch's bulk, each of `entries` logs of the last minutes. */
export const bulkBodies = (count: number, entries: number, now: number): Buffer[] =>
  labelledBodies('Elasticsearch bulk', count, entries, now);

/** Bodies of one format, each of `entries` other logs of the last minutes. */
export function labelledBodies(label: string, count: number, entries: number, now: number): Buffer[] {
  return Array.from({ length: count }, (_, seed) => {
    const found = wireBodies(benchLogs(entries, now, seed)).find((one) => one.label === label);
    if (found === undefined) throw new Error(`BUG: There is no ${label} body.`);
    return found.body;
  });
}
