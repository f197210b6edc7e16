import { Metadata, status as Status } from '@grpc/grpc-js';
import type { HttpError } from '../../pipeline/core/errors.ts';

/** What a call ends with that is refused. */
export type GrpcStatus = { readonly code: Status; readonly details: string; readonly metadata: Metadata };

/** Most seconds that a client is told to wait: OTLP's exporters would drop what must wait longer. */
const MAX_RETRY_SECONDS = 300;

/**
 * The status of a call in place of an answer of HTTP. What is over soon is RESOURCE_EXHAUSTED or UNAVAILABLE with RetryInfo, which OTLP's
 * exporters wait for and send again (https://opentelemetry.io/docs/specs/otlp/#otlpgrpc-response); all else they drop.
 */
export function statusOf(error: HttpError): GrpcStatus {
  const { retryAfter } = error.options;
  const code = codeOf(error);
  const details = error.message;
  const metadata = new Metadata();
  if (retryAfter !== undefined && (code === Status.RESOURCE_EXHAUSTED || code === Status.UNAVAILABLE)) {
    const seconds = Math.min(Math.max(Math.ceil(retryAfter), 1), MAX_RETRY_SECONDS);
    const info = retryInfo(seconds);
    metadata.set('grpc-status-details-bin', withDetail(code, details, info));
    // where the exporter for Python looks
    metadata.set('google.rpc.retryinfo-bin', info);
  }
  return { code, details, metadata };
}

function codeOf({ status, options }: HttpError): Status {
  switch (status) {
    case 400:
    case 413:
      // too large stays too large; OUT_OF_RANGE would be sent again
      return Status.INVALID_ARGUMENT;
    case 401:
      return Status.UNAUTHENTICATED;
    case 403:
      return Status.PERMISSION_DENIED;
    case 408:
      return Status.DEADLINE_EXCEEDED;
    case 429:
      return Status.RESOURCE_EXHAUSTED;
    case 503:
      // a gate of the plan is shut until the plan changes
      return options.retryAfter === undefined ? Status.FAILED_PRECONDITION : Status.UNAVAILABLE;
    default:
      return Status.INTERNAL;
  }
}

/** google.rpc.RetryInfo (https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto). */
const retryInfo = (seconds: number): Buffer => field(1, field(1, seconds));

/** google.rpc.Status with such a detail. */
function withDetail(code: number, message: string, info: Buffer): Buffer {
  const any = Buffer.concat([field(1, Buffer.from('type.googleapis.com/google.rpc.RetryInfo')), field(2, info)]);
  return Buffer.concat([field(1, code), field(2, Buffer.from(message)), field(3, any)]);
}

/** A field of protobuf: a varint, or bytes with their length. */
function field(number: number, value: number | Buffer): Buffer {
  if (typeof value === 'number') return Buffer.from([number * 8, ...varint(value)]);
  return Buffer.concat([Buffer.from([number * 8 + 2, ...varint(value.length)]), value]);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return [...bytes, rest];
}
