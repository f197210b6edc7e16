import type { EntryWriter, Written } from '../../pipeline/entry/writer.ts';
import type { IngestRequest, Normalizer } from '../../pipeline/normalizers/normalizer.ts';
import type { Metrics } from '../../pipeline/core/metrics.ts';
import { QUERY_KEY_PATHS } from '../auth/planes.ts';
import { logBody, type BodyCaps } from '../http/body.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Principal, RouteAnswer } from '../http/route.ts';
import { admitAll, chargeAll, refundAll, type IngestLimit } from '../limits/ingest-limit.ts';
import type { LogPublisher } from './log-publisher.ts';
import { reasonClass } from './reason-class.ts';

export type IngestOptions = {
  readonly normalizers: readonly Normalizer[];
  readonly publisher: LogPublisher;
  readonly limits: readonly IngestLimit[];
  readonly maxBodyBytes: number;
  readonly metrics: Metrics;
  /** Nanoseconds since the epoch. */
  readonly now?: () => bigint;
};

/** One endpoint for each path of each wire format. */
export function ingestEndpoints(options: IngestOptions): Endpoint[] {
  const caps = logBody(options.maxBodyBytes);
  const now = options.now ?? (() => BigInt(Date.now()) * 1_000_000n);
  return options.normalizers.flatMap((normalizer) =>
    normalizer.paths.map((path): Endpoint => {
      if ((normalizer.keyInQuery === true) !== QUERY_KEY_PATHS.has(path))
        throw new Error(`BUG: ${normalizer.name} and the credential forms differ on api_key at ${path}.`);
      return {
        methods: normalizer.methods,
        path,
        errors: 'ingest',
        access: { plane: 'ingest', scope: 'ingest' },
        ...(normalizer.answerHeaders === undefined ? {} : { answerHeaders: normalizer.answerHeaders }),
        handle: (exchange) => ingest(exchange, normalizer, options, caps, now()),
      };
    }),
  );
}

/** From an accepted key to the answer: limits, pressure, body, entries, buckets, Kafka. The order is part of the contract. */
async function ingest(
  exchange: Exchange,
  normalizer: Normalizer,
  options: IngestOptions,
  caps: BodyCaps,
  receivedAt: bigint,
): Promise<RouteAnswer> {
  const { publisher, limits, metrics } = options;
  const { principal } = exchange;
  admitAll(limits, principal);
  publisher.admit();
  const body = await exchange.bytes(caps, normalizer.impliedCoding?.(exchange.contentType) ?? null);
  const request = ingestRequest(exchange, body, caps.inflated, receivedAt);
  const { tenantId, plan } = principal;
  const writer = publisher.writer(
    { tenantId, retentionDays: plan.retentionDays, receivedAt, streamFields: streamFieldsOf(exchange) },
    body.length,
  );
  normalizer.normalize(request, writer);
  const written = await publishCharged(options, principal, writer, body.length);
  metrics.entries.inc({ format: normalizer.name }, written.accepted);
  metrics.bytes.inc({ format: normalizer.name }, body.length);
  countRejections(metrics, writer);
  return normalizer.ack(request, written, performance.now() - exchange.startedAt);
}

/** Charges the limits and publishes; what was charged for entries that could not be published is given back. */
async function publishCharged(
  { limits, publisher }: IngestOptions,
  principal: Principal,
  writer: EntryWriter,
  bytes: number,
): Promise<Written> {
  const entries = writer.accepted;
  chargeAll(limits, principal, entries, bytes);
  try {
    return await publisher.publish(writer, bytes);
  } catch (error) {
    refundAll(limits, principal, entries, bytes);
    throw error;
  }
}

function ingestRequest(exchange: Exchange, body: Buffer, maxBytes: number, receivedAt: bigint): IngestRequest {
  return {
    path: exchange.path,
    contentType: exchange.contentType,
    query: exchange.query,
    header: (name) => exchange.header(name),
    body,
    maxBytes,
    receivedAt,
  };
}

/** The stream labels that the request names by header or query parameter; null where it names none. */
export function streamFieldsOf(exchange: Pick<Exchange, 'header' | 'query'>): readonly string[] | null {
  const text = exchange.header('x-stream-fields') || exchange.header('vl-stream-fields') || (exchange.query.get('_stream_fields') ?? '');
  if (text === '') return null;
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names.length === 0 ? null : [...new Set(names)];
}

function countRejections(metrics: Metrics, { rejected }: EntryWriter): void {
  for (const { reason } of rejected) metrics.rejected.inc({ reason: reasonClass(reason) });
}
