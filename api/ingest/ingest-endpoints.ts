import { forbidden, httpErrorOf, invalidBody, overloaded, planGate } from '../../pipeline/core/errors.ts';
import { sampleOf } from '../../pipeline/core/sample.ts';
import type { RowWriter, Written } from '../../pipeline/intake/rows.ts';
import type { IngestRequest, Normalizer } from '../../pipeline/normalizers/normalizer.ts';
import type { Metrics } from '../../pipeline/core/metrics.ts';
import { QUERY_KEY_PATHS } from '../auth/planes.ts';
import { jsonBody, logBody, metricsBody, type BodyCaps } from '../http/body.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import type { RouteAnswer } from '../http/route.ts';
import type { Principal } from '../tenants/principal.ts';
import { BodiesInFlight, type BodyInFlight } from '../http/bodies-in-flight.ts';
import { admitAll, chargeAll, type IngestLimit } from '../limits/ingest-limit.ts';
import { ParseTurns } from '../limits/parse-turns.ts';
import type { Tallies } from '../limits/tallies.ts';
import { describedFormat } from './described.ts';
import type { IntakePublisher } from './intake-publisher.ts';
import { Patience } from './patience.ts';
import { classCounts, reasonClass } from './reason-class.ts';
import type { RejectedEntry, RejectionLog } from './rejection-log.ts';

/** The wire formats of one signal, where their rows go, and what bounds them. */
export type IngestOptions = {
  readonly normalizers: readonly Normalizer<RowWriter>[];
  readonly publisher: IntakePublisher;
  readonly limits: readonly IngestLimit[];
  /** The cap of formats that have none of their own. */
  readonly maxBodyBytes: number;
  readonly metrics: Metrics;
  /** The memory that bodies may take, over all requests of the process. */
  readonly bodies?: BodiesInFlight;
  /** Where tenants find what was refused. */
  readonly rejections?: RejectionLog;
  /** Counts what keys send, and what is refused. */
  readonly tallies?: Pick<Tallies, 'take' | 'refuse'>;
  /** Is given the number of rows of each request once they are on the log. */
  readonly onAccepted?: (tenantId: number, rows: number) => void;
  /** What a request of this size waits for before its body is read; null where it need not wait. */
  readonly turn?: (tenantId: number, bytes: number) => Promise<void> | null;
  /** Who has rows made of a body next. */
  readonly parseTurns?: ParseTurns;
  /** Nanoseconds since the epoch. */
  readonly now?: () => bigint;
};

/** What all requests share. */
type Intake = IngestOptions & { readonly caps: BodyCaps; readonly bodies: BodiesInFlight; readonly parseTurns: ParseTurns };

/** One endpoint for each path of each wire format of a signal. */
export function ingestEndpoints(options: IngestOptions): Endpoint[] {
  const { maxBodyBytes, bodies = new BodiesInFlight(), parseTurns = new ParseTurns() } = options;
  const shared = { ...options, bodies, parseTurns };
  const now = options.now ?? (() => BigInt(Date.now()) * 1_000_000n);
  return options.normalizers.flatMap((normalizer) => {
    const { caps = { wire: maxBodyBytes, inflated: maxBodyBytes } } = normalizer;
    const isOfMetrics = normalizer.errors === 'metrics';
    const intake: Intake = { ...shared, caps: isOfMetrics ? metricsBody(caps) : normalizer.errors === 'query' ? jsonBody(caps.wire) : logBody(caps, smallerBatches(normalizer)) }; // prettier-ignore
    const take = isOfMetrics ? ingestMetrics : ingest;
    return normalizer.paths.map((path): Endpoint => {
      if ((normalizer.keyInQuery === true) !== QUERY_KEY_PATHS.has(path))
        throw new Error(`BUG: ${normalizer.name} and the credential forms differ on api_key at ${path}.`);
      return {
        methods: normalizer.methods,
        path,
        errors: normalizer.errors ?? 'ingest',
        access: { plane: normalizer.plane ?? 'ingest', scope: 'ingest' },
        ...(normalizer.answerHeaders === undefined ? {} : { answerHeaders: normalizer.answerHeaders }),
        ...describedFormat(normalizer.name, path),
        handle: (exchange) => take(exchange, normalizer, intake, now()),
      };
    });
  });
}

/** What a shipper and an operator can do about a body that is too large. */
function smallerBatches({ batchSettings, caps }: Normalizer<RowWriter>): string {
  const shipper = batchSettings === undefined ? 'Send smaller batches' : `Send smaller batches: ${batchSettings}`;
  return caps === undefined ? `${shipper}. Operators raise the cap with LOGWEIR_MAX_BODY_SIZE_MB.` : `${shipper}.`;
}

/** The same where a 429 that is over soon is a 503. That of the daily volume stays one. */
async function ingestMetrics(
  exchange: Exchange,
  normalizer: Normalizer<RowWriter>,
  intake: Intake,
  receivedAt: bigint,
): Promise<RouteAnswer> {
  try {
    return await ingest(exchange, normalizer, intake, receivedAt);
  } catch (thrown) {
    const error = httpErrorOf(thrown);
    throw error?.status === 429 && error.slug !== 'rate_limited' ? overloaded(error) : thrown;
  }
}

/** From an accepted key to the answer: limits, pressure, body, rows, buckets, Kafka. The order is part of the contract. */
async function ingest(exchange: Exchange, normalizer: Normalizer<RowWriter>, intake: Intake, receivedAt: bigint): Promise<RouteAnswer> {
  const { publisher, limits, metrics, bodies, caps } = intake;
  const { principal } = exchange;
  admitFeature(normalizer, principal);
  refuseUnlabelled(normalizer, principal);
  const patience = new Patience();
  await patience.during(intake.turn?.(principal.tenantId, expectedBytes(exchange, caps)) ?? null);
  admitAll(limits, principal);
  publisher.admit(principal.tenantId, principal.plan.shards);
  const inFlight = bodies.enter(principal.tenantId);
  inFlight.onWorked = (ms) => {
    intake.parseTurns.charge(principal.tenantId, ms);
  };
  try {
    const { request, writer } = await readEntries(exchange, normalizer, { ...intake, inFlight, patience }, receivedAt);
    const bytes = request.body.length;
    const written = await publishCharged(intake, principal, writer, { bytes, withinMs: patience.leftMs });
    intake.onAccepted?.(principal.tenantId, written.accepted);
    intake.tallies?.take(principal.tenantId, principal.keyId, normalizer.signal, { bytes, rows: written.accepted });
    const about = labelsOf(normalizer);
    metrics.entries.inc(about, written.accepted);
    metrics.bytes.inc(about, bytes);
    metrics.tenants.add(principal.tenantId, { entries: written.accepted, bytes });
    if (written.rejected.count > 0) noteRejections(exchange, normalizer, intake, writer);
    const ack = normalizer.ack(request, written, performance.now() - exchange.startedAt);
    if (writer.limited > 0) metrics.limited.inc(about, writer.limited);
    const more = writer.answerHeaders?.();
    return more === undefined ? ack : { ...ack, headers: { ...ack.headers, ...more } };
  } finally {
    inFlight.leave();
  }
}

/** Throws the gate's HttpError where the plan does not have what the format needs; the trial's end takes it from a plan. */
function admitFeature({ feature }: Normalizer<RowWriter>, { plan }: Principal): void {
  if (feature !== undefined && (!plan.features[feature] || plan.name === EXPIRED)) throw planGate(503, GATES[feature]);
}

/** The labels of a project are added to entries alone: whatever else its keys send would be in no project. */
function refuseUnlabelled({ signal }: Normalizer<RowWriter>, { project }: Principal): void {
  if (project !== undefined && signal !== 'logs' && Object.keys(project.labels).length > 0)
    throw forbidden(`The API key is narrowed to the project ${JSON.stringify(project.name)}, whose labels are added to logs only.`);
}

/** Its gates are shut, whatever flags the tenant has. */
const EXPIRED = 'trial_expired';
const GATES: Readonly<Record<'metrics' | 'replay', string>> = {
  metrics: 'For this account metrics ingest is not enabled; logs and traces are unaffected.',
  replay: 'For this account session replay is not enabled; other events still arrive.',
};

const labelsOf = ({ name, signal }: Normalizer<RowWriter>): { format: string; signal: string } => ({ format: name, signal });

/** How large a body may be: its length where that is declared and nothing has to be decompressed, else the cap. */
function expectedBytes(exchange: Exchange, caps: BodyCaps): number {
  const length = Number(exchange.header('content-length') || NaN);
  return length <= caps.wire && exchange.header('content-encoding') === '' ? length : caps.inflated;
}

/** Reads the body and makes rows of it. A request of which nothing can be read (400) is noted as one rejection. */
async function readEntries(
  exchange: Exchange,
  normalizer: Normalizer<RowWriter>,
  {
    publisher,
    rejections,
    parseTurns,
    caps,
    inFlight,
    patience,
  }: Intake & { readonly inFlight: BodyInFlight; readonly patience: Patience },
  receivedAt: bigint,
): Promise<{ readonly request: IngestRequest; readonly writer: RowWriter }> {
  const { tenantId, plan } = exchange.principal;
  let body: Buffer = NOTHING;
  try {
    body = await exchange.bytes(caps, normalizer.impliedCoding?.(exchange.contentType) ?? null, inFlight);
    refuseUndeclared(body);
    const read = parseTurns.run(tenantId, () => {
      // of many requests whose bodies came meanwhile, those before this one may have filled what may wait
      publisher.admit(tenantId, plan.shards);
      const request = ingestRequest(exchange, body, caps.inflated, receivedAt);
      const writer = publisher.writer({
        tenantId,
        retentionDays: plan.retentionDays,
        shards: plan.shards,
        streamsPerDay: plan.streamsPerDay,
        seriesPerDay: plan.seriesPerDay,
        utf8Names: plan.utf8Names,
        receivedAt,
        maxRowBytes: caps.inflated * ROW_FACTOR,
        expectedBytes: body.length,
        envelope: exchange,
        ...(exchange.principal.project === undefined ? {} : { labels: exchange.principal.project.labels }),
      });
      normalizer.normalize(request, writer);
      return { request, writer };
    });
    return await patience.during(read);
  } catch (thrown) {
    const error = httpErrorOf(thrown);
    if (error?.status === 400) {
      const refused = { index: null, reason: error.message, sample: sampleOf(body), status: 400 };
      rejections?.add(tenantId, [{ ...origin(exchange, normalizer, receivedAt), ...refused }]);
    }
    throw error ?? thrown;
  }
}

/** No format begins with these bytes. */
const CODINGS = [
  ['gzip', Buffer.from([0x1f, 0x8b, 0x08])],
  ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
] as const;

/** Throws HttpError 400 for a body that is compressed without declaring it. */
function refuseUndeclared(body: Buffer): void {
  for (const [name, magic] of CODINGS)
    if (body.subarray(0, magic.length).equals(magic))
      throw invalidBody(`The body is compressed with ${name}; send the header "Content-Encoding: ${name}".`);
}

/** Charges the limits and publishes; what was charged for rows that could not be published is given back. */
async function publishCharged(
  { limits, publisher }: IngestOptions,
  principal: Principal,
  writer: RowWriter,
  { bytes, withinMs }: { readonly bytes: number; readonly withinMs: number },
): Promise<Written> {
  const refund = chargeAll(limits, principal, writer.accepted, bytes);
  try {
    return await publisher.publish(writer, bytes, withinMs);
  } catch (error) {
    refund();
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

const NOTHING = Buffer.alloc(0);
/** What the rows of a request may take as they are stored, in caps of a body. Real logs take up to ten times their body. */
const ROW_FACTOR = 16;

/** Counts the rejections of a request that was accepted, and keeps the first of them for the tenant to see. */
function noteRejections(
  exchange: Exchange,
  normalizer: Normalizer<RowWriter>,
  { metrics, rejections, tallies }: IngestOptions,
  { rejected, options }: RowWriter,
): void {
  const about = labelsOf(normalizer);
  for (const [reason, count] of classCounts(rejected.reasons)) metrics.rejected.inc({ ...about, reason }, count);
  for (const [reason, entries] of rejected.reasons)
    tallies?.refuse(
      exchange.principal.tenantId,
      { signal: normalizer.signal, status: 200, error: reasonClass(reason) },
      { reason, entries },
    );
  const from = origin(exchange, normalizer, options.receivedAt);
  rejections?.add(
    exchange.principal.tenantId,
    rejected.first.map(({ index, reason, sample }) => ({ ...from, index, reason, sample, status: 200 })),
  );
}

/** What all rejections of a request have in common. */
function origin(
  exchange: Exchange,
  normalizer: Normalizer<RowWriter>,
  receivedAt: bigint,
): Pick<RejectedEntry, 'time' | 'format' | 'request_id' | 'path' | 'client'> {
  const time = new Date(Number(receivedAt / 1_000_000n)).toISOString();
  const { requestId, path } = exchange;
  return { time, format: normalizer.name, request_id: requestId, path, client: exchange.header('user-agent') };
}
