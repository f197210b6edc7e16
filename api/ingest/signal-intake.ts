import { forbidden, httpErrorOf, invalidBody, planGate } from '../../pipeline/core/errors.ts';
import { sampleOf } from '../../pipeline/core/sample.ts';
import type { RowWriter, Written } from '../../pipeline/intake/rows.ts';
import type { IngestRequest, Normalizer } from '../../pipeline/normalizers/normalizer.ts';
import type { Metrics } from '../../pipeline/core/metrics.ts';
import { jsonBody, logBody, metricsBody, type BodyCaps } from '../http/body.ts';
import type { Exchange } from '../http/exchange.ts';
import type { RouteAnswer } from '../http/route.ts';
import type { Principal } from '../tenants/principal.ts';
import { BodiesInFlight, type BodyInFlight } from '../http/bodies-in-flight.ts';
import { admitAll, chargeAll, type IngestLimit } from '../limits/ingest-limit.ts';
import { ParseTurns } from '../limits/parse-turns.ts';
import type { Tallies } from '../limits/tallies.ts';
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

/** What is sent at once, by whatever door it comes: a request of HTTP, a call of gRPC, frames of a connection, messages of a topic. */
export interface Delivery {
  /** Whose it is; accepted, with the scope `ingest`. */
  readonly principal: Principal;
  /** Where it came in, as rejections name it. */
  readonly path: string;
  /** The media type alone, in lower case; empty where none was sent. */
  readonly contentType: string;
  readonly query: URLSearchParams;
  readonly requestId: string;
  /** By `performance.now()`. */
  readonly startedAt: number;
  /** A header's value; empty where it is missing. Names in lower case. */
  header(name: string): string;
  /** The decoded body within these caps; what is held of it is counted by the meter. */
  bytes: Exchange['bytes'];
}

/** What all deliveries of a wire format share. */
type Intake = IngestOptions & { readonly caps: BodyCaps; readonly bodies: BodiesInFlight; readonly parseTurns: ParseTurns };

/** The way of one signal from a delivery with an accepted key to Kafka, and its answer; the same for every door. */
export class SignalIntake {
  readonly normalizers: readonly Normalizer<RowWriter>[];
  readonly #intakes: ReadonlyMap<Normalizer<RowWriter>, Intake>;
  readonly #now: () => bigint;

  constructor(options: IngestOptions) {
    const { normalizers, bodies = new BodiesInFlight(), parseTurns = new ParseTurns() } = options;
    const shared = { ...options, bodies, parseTurns };
    this.normalizers = normalizers;
    this.#now = options.now ?? (() => BigInt(Date.now()) * 1_000_000n);
    this.#intakes = new Map(normalizers.map((normalizer) => [normalizer, { ...shared, caps: bodyCapsOf(normalizer, options) }]));
  }

  /** The caps of a format's bodies. */
  capsOf(normalizer: Normalizer<RowWriter>): BodyCaps {
    return this.#of(normalizer).caps;
  }

  /** Resolves with the format's answer once all that was accepted is on the log; throws HttpError where it is refused. */
  take(delivery: Delivery, normalizer: Normalizer<RowWriter>): Promise<RouteAnswer> {
    return ingest(delivery, normalizer, this.#of(normalizer), this.#now());
  }

  #of(normalizer: Normalizer<RowWriter>): Intake {
    const intake = this.#intakes.get(normalizer);
    if (intake === undefined) throw new Error(`BUG: ${normalizer.name} is a format of another signal.`);
    return intake;
  }
}

function bodyCapsOf(normalizer: Normalizer<RowWriter>, { maxBodyBytes }: IngestOptions): BodyCaps {
  const { caps = { wire: maxBodyBytes, inflated: maxBodyBytes } } = normalizer;
  if (normalizer.errors === 'metrics') return metricsBody(caps);
  return normalizer.errors === 'query' ? jsonBody(caps.wire) : logBody(caps, smallerBatches(normalizer));
}

/** What a shipper and an operator can do about a body that is too large. */
function smallerBatches({ batchSettings, caps }: Normalizer<RowWriter>): string {
  const shipper = batchSettings === undefined ? 'Send smaller batches' : `Send smaller batches: ${batchSettings}`;
  return caps === undefined ? `${shipper}. Operators raise the cap with LOGWEIR_MAX_BODY_SIZE_MB.` : `${shipper}.`;
}

/** From an accepted key to the answer: limits, pressure, body, rows, buckets, Kafka. The order is part of the contract. */
async function ingest(delivery: Delivery, normalizer: Normalizer<RowWriter>, intake: Intake, receivedAt: bigint): Promise<RouteAnswer> {
  const { publisher, limits, metrics, bodies, caps } = intake;
  const { principal } = delivery;
  admitFeature(normalizer, principal);
  refuseUnlabelled(normalizer, principal);
  const patience = new Patience();
  await patience.during(intake.turn?.(principal.tenantId, expectedBytes(delivery, caps)) ?? null);
  admitAll(limits, principal);
  publisher.admit(principal.tenantId, principal.plan.shards);
  const inFlight = bodies.enter(principal.tenantId);
  inFlight.onWorked = (ms) => {
    intake.parseTurns.charge(principal.tenantId, ms);
  };
  try {
    const { request, writer } = await readEntries(delivery, normalizer, { ...intake, inFlight, patience }, receivedAt);
    const bytes = request.body.length;
    const written = await publishCharged(intake, principal, writer, { bytes, withinMs: patience.leftMs });
    intake.onAccepted?.(principal.tenantId, written.accepted);
    intake.tallies?.take(principal.tenantId, principal.keyId, normalizer.signal, { bytes, rows: written.accepted });
    const about = labelsOf(normalizer);
    metrics.entries.inc(about, written.accepted);
    metrics.bytes.inc(about, bytes);
    metrics.tenants.add(principal.tenantId, { entries: written.accepted, bytes });
    if (written.rejected.count > 0) noteRejections(delivery, normalizer, intake, writer);
    const ack = normalizer.ack(request, written, performance.now() - delivery.startedAt);
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
function expectedBytes(delivery: Delivery, caps: BodyCaps): number {
  const length = Number(delivery.header('content-length') || NaN);
  return length <= caps.wire && delivery.header('content-encoding') === '' ? length : caps.inflated;
}

/** Reads the body and makes rows of it. A request of which nothing can be read (400) is noted as one rejection. */
async function readEntries(
  delivery: Delivery,
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
  const { tenantId, plan } = delivery.principal;
  let body: Buffer = NOTHING;
  try {
    body = await delivery.bytes(caps, normalizer.impliedCoding?.(delivery.contentType) ?? null, inFlight);
    refuseUndeclared(body);
    const read = parseTurns.run(tenantId, () => {
      // of many requests whose bodies came meanwhile, those before this one may have filled what may wait
      publisher.admit(tenantId, plan.shards);
      const request = ingestRequest(delivery, body, caps.inflated, receivedAt);
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
        envelope: delivery,
        ...(delivery.principal.project === undefined ? {} : { labels: delivery.principal.project.labels }),
      });
      normalizer.normalize(request, writer);
      return { request, writer };
    });
    return await patience.during(read);
  } catch (thrown) {
    const error = httpErrorOf(thrown);
    if (error?.status === 400) {
      const refused = { index: null, reason: error.message, sample: sampleOf(body), status: 400 };
      rejections?.add(tenantId, [{ ...origin(delivery, normalizer, receivedAt), ...refused }]);
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

function ingestRequest(delivery: Delivery, body: Buffer, maxBytes: number, receivedAt: bigint): IngestRequest {
  return {
    path: delivery.path,
    contentType: delivery.contentType,
    query: delivery.query,
    header: (name) => delivery.header(name),
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
  delivery: Delivery,
  normalizer: Normalizer<RowWriter>,
  { metrics, rejections, tallies }: IngestOptions,
  { rejected, options }: RowWriter,
): void {
  const about = labelsOf(normalizer);
  for (const [reason, count] of classCounts(rejected.reasons)) metrics.rejected.inc({ ...about, reason }, count);
  for (const [reason, entries] of rejected.reasons)
    tallies?.refuse(
      delivery.principal.tenantId,
      { signal: normalizer.signal, status: 200, error: reasonClass(reason) },
      { reason, entries },
    );
  const from = origin(delivery, normalizer, options.receivedAt);
  rejections?.add(
    delivery.principal.tenantId,
    rejected.first.map(({ index, reason, sample }) => ({ ...from, index, reason, sample, status: 200 })),
  );
}

/** What all rejections of a request have in common. */
function origin(
  delivery: Delivery,
  normalizer: Normalizer<RowWriter>,
  receivedAt: bigint,
): Pick<RejectedEntry, 'time' | 'format' | 'request_id' | 'path' | 'client'> {
  const time = new Date(Number(receivedAt / 1_000_000n)).toISOString();
  const { requestId, path } = delivery;
  return { time, format: normalizer.name, request_id: requestId, path, client: delivery.header('user-agent') };
}
