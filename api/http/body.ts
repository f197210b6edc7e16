import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOverCap, invalidBody, payloadTooLarge, unsupportedEncoding, type HttpError } from '../../pipeline/core/errors.ts';
import { inflate, type Coding, type TooLarge } from '../../pipeline/compression/inflate.ts';
import { inflateSnappy } from '../../pipeline/wasm/snappy.ts';

/**
 * A body that is too large: how much came (exactly, or where reading stopped: `more`), the cap, whether it was compressed, and
 * whether it is its decompressed form that is too large.
 */
export type Excess = {
  readonly received: number;
  readonly more: boolean;
  readonly cap: number;
  readonly compressed: boolean;
  readonly inflated?: true;
};

/** Inclusive caps of a body, on the wire and decompressed, and the plane's own 413. */
export type BodyCaps = { readonly wire: number; readonly inflated: number; tooLarge(excess: Excess): HttpError };

/** Caps of the logs and traces paths: plain text where the HTTP layer cuts an uncompressed body, JSON with both sizes otherwise. `advice`: sentences. */
export function logBody(cap: number | Pick<BodyCaps, 'wire' | 'inflated'>, advice = ''): BodyCaps {
  return {
    ...(typeof cap === 'number' ? { wire: cap, inflated: cap } : { wire: cap.wire, inflated: cap.inflated }),
    tooLarge: ({ received, more, cap: exceeded, compressed, inflated = false }) =>
      payloadTooLarge(received, exceeded, { more, advice, ...(compressed ? { inflated } : { plainText: true }) }),
  };
}

/** Caps of the paths of metrics, whose 413 names the cap alone. */
export const metricsBody = (caps: Pick<BodyCaps, 'wire' | 'inflated'>): BodyCaps => ({
  ...caps,
  tooLarge: ({ cap, inflated = false }) => bodyOverCap(cap, inflated),
});

/** Caps of the app plane's JSON bodies. */
export function jsonBody(cap = 1_048_576): BodyCaps {
  return {
    wire: cap,
    inflated: cap,
    tooLarge: ({ received, more, inflated = false }) => payloadTooLarge(received, cap, { more, inflated }),
  };
}

/** Is given the memory that a body takes while it is read. */
export interface BodyMeter {
  /** Whose it is. */
  readonly tenantId: number;
  /** Counts bytes; throws where they exceed the budget. */
  add(bytes: number): void;
  /** All of the body has come. */
  received(): void;
  /** How long decompression used the event loop, milliseconds. */
  worked?(ms: number): void;
  /** Ends the reading with an error. */
  refuse: ((error: HttpError) => void) | null;
}

const CODINGS: Readonly<Record<string, Coding>> = { gzip: 'gzip', 'x-gzip': 'gzip', zstd: 'zstd', snappy: 'snappy' };
const EMPTY = Buffer.alloc(0);

/** The one coding of a Content-Encoding header; null for none. Throws HttpError 400 that names what is not supported. */
export function readCoding(header: string | undefined): Coding | null {
  if (header === undefined || header === '') return null;
  const names = header
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  const unknown = names.find((name) => !Object.hasOwn(CODINGS, name));
  if (unknown !== undefined) throw unsupportedEncoding(unknown.slice(0, 100));
  if (names.length > 1) throw unsupportedEncoding(names.join(', ').slice(0, 100));
  const [name] = names;
  return name === undefined ? null : (CODINGS[name] ?? null);
}

/**
 * Reads and decompresses the body of a request. Throws HttpError: 413 as soon as a cap is passed (by Content-Length before a byte
 * is read), 400 for an encoding that is not supported and for a corrupt stream. What is left unread is the server's to drain.
 * `implied`: the coding of a body whose request names none.
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  caps: BodyCaps,
  implied: Coding | null = null,
  meter: BodyMeter | null = null,
): Promise<Buffer> {
  const { 'content-length': length, 'content-encoding': encoding, 'transfer-encoding': transfer, expect } = request.headers;
  const named = encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity';
  const compressed = named || implied !== null;
  const declared = length === undefined ? null : Number(length);
  if (declared !== null && declared > caps.wire) throw caps.tooLarge({ received: declared, more: false, cap: caps.wire, compressed });
  const coding = readCoding(encoding) ?? implied;
  if (transfer === undefined && (declared === null || declared === 0))
    return coding === null ? EMPTY : inflate(coding, EMPTY, 0, neverTooLarge);
  if (expect !== undefined) response.writeContinue();
  const tooLarge = (): HttpError => caps.tooLarge({ received: caps.wire, more: true, cap: caps.wire, compressed });
  const wire = await readWire(request, caps.wire, tooLarge, meter);
  meter?.received();
  if (coding === null) return wire;
  const began = performance.now();
  const inflatedTooLarge: TooLarge = (received, more) => caps.tooLarge({ received, more, cap: caps.inflated, compressed, inflated: true });
  const inflating = inflateBody(coding, wire, caps.inflated, inflatedTooLarge, meter?.tenantId);
  // what is done elsewhere has only been begun
  meter?.worked?.(performance.now() - began);
  const body = await inflating;
  meter?.add(body.length);
  return body;
}

/** Snappy in the fastest form that there is. */
async function inflateBody(coding: Coding, bytes: Buffer, cap: number, tooLarge: TooLarge, tenantId?: number): Promise<Buffer> {
  return coding === 'snappy' ? inflateSnappy(bytes, cap, tooLarge) : inflate(coding, bytes, cap, tooLarge, tenantId);
}

function neverTooLarge(): never {
  throw new Error('BUG: an empty body is too large.');
}

/** Requests that were answered with an error before they had come whole. */
const refused = new WeakSet<IncomingMessage>();

/** Makes reading this body end in an error, though the rest may still come: its sender has been answered that nothing was accepted. */
export function refuseBody(request: IncomingMessage): void {
  refused.add(request);
}

/** Chunks of fewer bytes are copied together, since each would keep the whole buffer that it was read into. */
const SMALL_CHUNK = 1024;
const JOINED = 65_536;
/** From MANY_CHUNKS chunks on they must average LEAST_BYTES bytes: smaller ones cost more than the body is worth. */
const MANY_CHUNKS = 2000;
const LEAST_BYTES = 24;

/** The parts of a body, in little more memory than it has bytes. */
class Parts {
  readonly #parts: Buffer[] = [];
  #count = 0;
  #bytes = 0;
  /** Where small chunks are copied to, and how much of it is used. */
  #joined = Buffer.alloc(0);
  #used = 0;

  /** Throws HttpError 400 where there are too many. */
  add(chunk: Buffer): void {
    this.#count += 1;
    this.#bytes += chunk.length;
    if (this.#count > MANY_CHUNKS && this.#bytes < this.#count * LEAST_BYTES)
      throw invalidBody(`The body comes in chunks of fewer than ${String(LEAST_BYTES)} bytes on average; send larger ones.`);
    if (chunk.length >= SMALL_CHUNK || this.#count === 1) {
      this.#close();
      this.#parts.push(chunk);
      return;
    }
    if (this.#used + chunk.length > this.#joined.length) {
      this.#close();
      this.#joined = Buffer.allocUnsafeSlow(JOINED);
    }
    this.#used += chunk.copy(this.#joined, this.#used);
  }

  whole(): Buffer {
    this.#close();
    return this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
  }

  #close(): void {
    if (this.#used > 0) this.#parts.push(this.#joined.subarray(0, this.#used));
    this.#joined = this.#joined.subarray(this.#used);
    this.#used = 0;
  }
}

/** The bytes of the body as they are; stops and rejects with `tooLarge` at the first byte above the cap. */
function readWire(request: IncomingMessage, cap: number, tooLarge: () => HttpError, meter: BodyMeter | null): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts = new Parts();
    let size = 0;
    const settle = (error: Error | null): void => {
      request.off('data', onData).off('end', onEnd).off('error', onCutOff).off('close', onCutOff);
      if (error === null) resolve(parts.whole());
      else {
        request.pause();
        // the reset that may follow is of no interest any more
        request.on('error', ignore);
        reject(error);
      }
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > cap) {
        settle(tooLarge());
        return;
      }
      try {
        meter?.add(chunk.length);
        parts.add(chunk);
      } catch (error) {
        settle(error as Error);
      }
    };
    if (meter !== null) meter.refuse = settle;
    const onCutOff = (): void => {
      settle(invalidBody('The body was cut off before its end.'));
    };
    const onEnd = (): void => {
      if (refused.has(request)) onCutOff();
      else settle(null);
    };
    request.on('data', onData).on('end', onEnd).on('error', onCutOff).on('close', onCutOff);
  });
}

function ignore(): void {
  /* nothing to do */
}
