import { contentEncoding, ENCODINGS } from '../fuzz/encodings.ts';
import type { Random } from '../fuzz/random.ts';
import { bytesField, fixed64Field, varintField } from '../pipeline/normalizers/protobuf-writer.ts';

/** A request's body as a shipper sends it. `plainBytes`: before the content encoding. */
export type LoadBody = {
  readonly format: string;
  readonly encoding: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly plainBytes: number;
};

/** What an entry is made of. The message carries the uid, whatever the format does with fields. */
type Item = {
  readonly uid: string;
  readonly message: string;
  readonly ms: number;
  readonly service: string;
  readonly host: string;
  readonly readable: boolean;
};

type Format = {
  readonly name: string;
  readonly path: string;
  readonly contentType: string;
  /** Entries that cannot be read are refused one by one in this format. */
  readonly refuses: boolean;
  /** Encodings that the format's shippers use. */
  readonly encodings: readonly string[];
  write(items: readonly Item[]): Buffer;
};

const nanos = (item: Item): string => `${String(item.ms)}000000`;
const ndjson = (item: Item): string =>
  JSON.stringify({
    _time: item.readable ? new Date(item.ms).toISOString() : 'no time',
    _msg: item.message,
    app: item.service,
    host: item.host,
    n: item.ms,
  });
const lines = (parts: readonly string[]): Buffer => Buffer.from(`${parts.join('\n')}\n`);

/** Items by service and host: a stream each. */
function streams(items: readonly Item[]): Item[][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = `${item.service} ${item.host}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

const firstOf = (group: readonly Item[]): Item => group[0] as Item;

const FORMATS: readonly Format[] = [
  {
    name: 'es-bulk',
    path: '/insert/elasticsearch/_bulk',
    contentType: 'application/x-ndjson',
    refuses: true,
    encodings: ['identity', 'gzip', 'zstd'],
    write: (items) => lines(items.map((item) => `{"create":{}}\n${ndjson(item)}`)),
  },
  {
    name: 'ndjson',
    path: '/api/v1/ingest',
    contentType: 'application/x-ndjson',
    refuses: true,
    encodings: ['identity', 'gzip', 'zstd'],
    write: (items) => lines(items.map(ndjson)),
  },
  {
    name: 'loki-json',
    path: '/loki/api/v1/push',
    contentType: 'application/json',
    refuses: false,
    encodings: ['identity', 'gzip', 'snappy'],
    write: (items) =>
      Buffer.from(
        JSON.stringify({
          streams: streams(items).map((group) => ({
            stream: { service: firstOf(group).service, host: firstOf(group).host },
            values: group.map((item) => [nanos(item), item.message]),
          })),
        }),
      ),
  },
  {
    name: 'otlp-json',
    path: '/v1/logs',
    contentType: 'application/json',
    refuses: false,
    encodings: ['identity', 'gzip', 'zstd'],
    write: (items) =>
      Buffer.from(
        JSON.stringify({
          resourceLogs: streams(items).map((group) => ({
            resource: { attributes: [{ key: 'service.name', value: { stringValue: firstOf(group).service } }] },
            scopeLogs: [
              { logRecords: group.map((item) => ({ timeUnixNano: nanos(item), severityNumber: 9, body: { stringValue: item.message } })) },
            ],
          })),
        }),
      ),
  },
  {
    name: 'otlp-protobuf',
    path: '/v1/logs',
    contentType: 'application/x-protobuf',
    refuses: false,
    encodings: ['identity', 'gzip', 'zstd', 'snappy'],
    write: (items) =>
      Buffer.concat(
        streams(items).map((group) => {
          const attribute = bytesField(1, bytesField(1, 'service.name'), bytesField(2, bytesField(1, firstOf(group).service)));
          const records = group.map((item) =>
            bytesField(2, fixed64Field(1, BigInt(nanos(item))), varintField(2, 9), bytesField(5, bytesField(1, item.message))),
          );
          return bytesField(1, bytesField(1, attribute), bytesField(2, ...records));
        }),
      ),
  },
  {
    name: 'syslog',
    path: '/api/v1/syslog',
    contentType: 'text/plain',
    refuses: false,
    encodings: ['identity', 'gzip', 'zstd', 'snappy-framed'],
    write: (items) =>
      lines(items.map((item) => `<134>1 ${new Date(item.ms).toISOString()} ${item.host} ${item.service} 4711 - - ${item.message}`)),
  },
];

const SERVICES = ['web', 'gateway', 'worker', 'billing', 'search'];
const VERBS = ['started', 'queued', 'finished', 'failed', 'retried', 'expired'];

export type BodyPlan = {
  /** Of its entries, `<request>.<index>` is the uid. */
  readonly request: string;
  readonly entries: number;
  /** Entries made so that they are refused, one by one: only some formats can. */
  readonly refused: readonly number[];
  /** Cut short in the middle, so that the whole body is refused. */
  readonly broken: boolean;
};

/** A body of a random format and encoding, with the entries of the plan; some are days old, so that inserts have several partitions. */
export function makeBody({ request, entries, refused, broken }: BodyPlan, random: Random, nowMs = Date.now()): LoadBody {
  const formats = refused.length > 0 || broken ? FORMATS.filter(({ refuses }) => refuses) : FORMATS;
  const format = random.pick(formats);
  const encoding = random.pick(format.encodings);
  const items = Array.from({ length: entries }, (_, index): Item => {
    const uid = `${request}.${String(index)}`;
    const service = random.pick(SERVICES);
    const daysOld = random.below(20) === 0 ? random.below(6) : 0;
    return {
      uid,
      message: `request ${random.pick(VERBS)} after ${String(random.below(3000))} ms, user u${String(random.below(90_000))} uid=${uid}`,
      ms: nowMs - daysOld * 86_400_000 - random.below(2000),
      service,
      host: `${service}-${String(random.below(3))}`,
      readable: !refused.includes(index),
    };
  });
  const whole = format.write(items);
  // a line that is no JSON refuses the whole body
  const plain = broken ? Buffer.concat([whole, Buffer.from('{"_msg": "cut shor\n')]) : whole;
  const header = encoding === 'identity' ? {} : { 'Content-Encoding': contentEncoding(encoding) };
  return {
    format: format.name,
    encoding,
    path: format.path,
    headers: { 'Content-Type': format.contentType, ...header },
    body: ENCODINGS[encoding]?.(plain) ?? plain,
    plainBytes: plain.length,
  };
}
