import { textOf } from '../../pipeline/core/entry.ts';
import { httpErrorOf, payloadTooLarge } from '../../pipeline/core/errors.ts';
import { inflate } from '../../pipeline/compression/inflate.ts';
import { EntryWriter } from '../../pipeline/logs/writer.ts';
import { readCoding } from '../../api/http/body.ts';
import { replayLayout } from '../../pipeline/replay/chunk.ts';
import { ReplayWriter } from '../../pipeline/replay/replay-writer.ts';
import { SessionBounds } from '../../pipeline/replay/session-bounds.ts';
import { spanLayout } from '../../pipeline/traces/span.ts';
import { SpanCodec, SpansWriter } from '../../pipeline/traces/spans-writer.ts';
import { cpuMs } from '../cpu-time.ts';
import type { IngestRequest } from '../../pipeline/normalizers/normalizer.ts';
import { expectSameAsPlain } from '../pipeline/logs/both-ways.ts';
import { codec, DEFAULTS, entriesOfChunk, RECEIVED_AT } from '../pipeline/logs/entry-lines.ts';
import { contentEncoding, ENCODINGS } from './encodings.ts';
import { mutate } from './mutate.ts';
import type { Outcome } from './outcome.ts';
import { Random } from './random.ts';
import { takeSamples } from './samples.ts';
import { linesOf, rowsRequest } from '../pipeline/replay/take-events.ts';
import type { EntrySeed, ReplaySeed, Seed, SpanSeed } from './seeds.ts';

const CAP = 2 * 1024 * 1024;
const MAX_CPU_MS = 1000;
const PARTITIONS = [0, 1, 2];
/** Larger bodies are not read a second time without the scanner. */
const MAX_COMPARED = 65_536;

/** A request of the fuzz: the wire bytes of a damaged body, or of a whole body whose compressed form was damaged. */
export type FuzzRequest = { readonly seed: Seed; readonly encoding: string; readonly wire: Buffer };

/** The request with this number: the same for the same seed and number. */
export function fuzzRequest(all: readonly Seed[], seed: number, number: number): FuzzRequest {
  const random = new Random(seed * 1_000_003 + number);
  const source = random.pick(all);
  const other = random.pick(all).body;
  const encoding = random.below(3) === 0 ? random.pick(Object.keys(ENCODINGS)) : 'identity';
  const encode = ENCODINGS[encoding] as (body: Buffer) => Buffer;
  const damageWire = encoding !== 'identity' && random.below(2) === 0;
  const wire = damageWire ? mutate(encode(source.body), other, random) : encode(mutate(source.body, other, random));
  return { seed: source, encoding, wire };
}

/**
 * Sends a request through decoder and normalizer. Throws, naming the request, where anything but entries, rejections and an
 * HttpError of 4xx comes out, where a row is no JSON or the counts differ, where it takes more than a second of CPU, or where the
 * records are others without the scanner.
 */
export async function runRequest({ seed, encoding, wire }: FuzzRequest): Promise<Outcome> {
  const began = cpuMs();
  const { outcome, request } = await decodeAndNormalize(seed, encoding, wire);
  const took = cpuMs() - began;
  if (took > MAX_CPU_MS) throw new Error(`It took ${took.toFixed(0)} ms of CPU.`);
  if (request !== null && seed.signal === 'logs' && request.body.length <= MAX_COMPARED)
    expectSameAsPlain((out) => seed.normalizer.normalize(request, out), { partitions: PARTITIONS });
  return outcome;
}

type Decoded = { readonly outcome: Outcome; readonly request: IngestRequest | null };

async function decodeAndNormalize(seed: Seed, encoding: string, wire: Buffer): Promise<Decoded> {
  let request: IngestRequest | null = null;
  try {
    const coding = readCoding(contentEncoding(encoding));
    const body = coding === null ? wire : await inflate(coding, wire, CAP, (received, more) => payloadTooLarge(received, CAP, { more }));
    request = requestOf(seed, body);
    return { outcome: outcomeOf(seed, request), request };
  } catch (thrown) {
    const error = httpErrorOf(thrown);
    if (error === null || error.status < 400 || error.status >= 500) throw thrown;
    return { outcome: { status: error.status, accepted: 0, rejected: 0 }, request };
  }
}

function outcomeOf(seed: Seed, request: IngestRequest): Outcome {
  if (seed.signal === 'logs') return take(seed, request);
  if (seed.signal === 'spans') return takeSpans(seed, request);
  return seed.signal === 'samples' ? takeSamples(seed, request) : takeEvents(seed, request);
}

function requestOf({ normalizer, envelope }: Seed, body: Buffer): IngestRequest {
  return {
    path: envelope.path ?? normalizer.paths[0] ?? '',
    contentType: envelope.contentType ?? '',
    query: new URLSearchParams(envelope.query),
    header: (name: string) => envelope.headers?.[name] ?? '',
    body,
    maxBytes: CAP,
    receivedAt: RECEIVED_AT,
  };
}

function take({ normalizer }: EntrySeed, request: IngestRequest): Outcome {
  const writer = new EntryWriter(codec, { ...DEFAULTS, partitions: PARTITIONS }, request.body.length);
  normalizer.normalize(request, writer);
  const { accepted, rejected, total } = writer;
  const rows = checkRows(writer);
  if (rows !== accepted || accepted + rejected.count !== total)
    throw new Error(`${String(accepted)} accepted, ${String(rows)} rows, ${String(rejected.count)} rejected of ${String(total)}.`);
  const ack = normalizer.ack(request, { accepted, rejected, total }, 1);
  return { status: ack.status, accepted, rejected: rejected.count };
}

const spanCodec = new SpanCodec();

/** The same of spans, whose records a sink must be able to read. */
function takeSpans({ normalizer }: SpanSeed, request: IngestRequest): Outcome {
  const settings = { tenantId: 1, partitions: PARTITIONS, retentionDays: 0, receivedAt: RECEIVED_AT, maxRowBytes: Infinity };
  const writer = new SpansWriter(spanCodec, settings);
  normalizer.normalize(request, writer);
  const { accepted, rejected, total } = writer;
  let rows = 0;
  for (const chunk of writer.chunks()) {
    const read = spanLayout.read(chunk.encode().value, chunk.count);
    if (typeof read === 'string') throw new Error(`A record cannot be read: ${read}`);
    rows += read.length;
  }
  if (rows !== accepted || accepted + rejected.count !== total)
    throw new Error(`${String(accepted)} accepted, ${String(rows)} rows, ${String(rejected.count)} rejected of ${String(total)}.`);
  const ack = normalizer.ack(request, { accepted, rejected, total }, 1);
  return { status: ack.status, accepted, rejected: rejected.count };
}

/** The same of session replay: each line of a row must be an event. */
function takeEvents({ normalizer }: ReplaySeed, request: IngestRequest): Outcome {
  const writer = new ReplayWriter(new SessionBounds(), rowsRequest({ partitions: PARTITIONS }));
  normalizer.normalize(request, writer);
  const { accepted, rejected, total } = writer;
  let events = 0;
  for (const chunk of writer.chunks()) {
    const read = replayLayout.read(chunk.encode().value, chunk.count);
    if (typeof read === 'string') throw new Error(`A record cannot be read: ${read}`);
    events += read.reduce((sum, row) => sum + linesOf(row).length, 0);
  }
  if (events !== accepted || accepted + rejected.count !== total)
    throw new Error(`${String(accepted)} accepted, ${String(events)} events, ${String(rejected.count)} rejected of ${String(total)}.`);
  return { status: normalizer.ack(request, { accepted, rejected, total }, 1).status, accepted, rejected: rejected.count };
}

/** How many rows there are; each must have a time, a stream that its record names, and a message. */
function checkRows(writer: EntryWriter): number {
  let rows = 0;
  for (const chunk of writer.chunks()) {
    for (const entry of entriesOfChunk(chunk)) {
      rows += 1;
      const isWhole = ['_time', '_msg', '_stream'].every((name) => typeof entry.get(name) === 'string');
      if (!isWhole || textOf(entry.get('_stream')).startsWith('no stream'))
        throw new Error(`A row is not whole: ${JSON.stringify([...entry])}`);
    }
  }
  return rows;
}
