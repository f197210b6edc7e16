import { HttpError, invalidBody } from '../../pipeline/core/errors.ts';
import { hecChannel } from '../../pipeline/normalizers/hec/answer.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { probed } from './described.ts';
import type { Exchange } from '../http/exchange.ts';
import type { RouteAnswer } from '../http/route.ts';

const ACCESS = { plane: 'ingest', scope: 'ingest' } as const;

/**
 * What HEC clients request in addition to sending: their health check, and whether requests with these `ackId`s are safe
 * (https://help.splunk.com/en/splunk-enterprise/get-data-in/collect-http-event-data/http-event-collector-indexer-acknowledgment).
 */
export const hecEndpoints: readonly Endpoint[] = [
  ...['/services/collector/health', '/services/collector/health/1.0', '/insert/splunk/services/collector/health'].map((path): Endpoint => ({
    methods: ['GET'],
    path,
    errors: 'hec',
    access: ACCESS,
    operation: probed('check', path, "Splunk's health check"),
    handle: () => Promise.resolve({ status: 200, body: { text: 'HEC is healthy', code: 17 } }),
  })),
  ...['/services/collector/ack', '/insert/splunk/services/collector/ack'].map((path): Endpoint => ({
    methods: ['POST'],
    path,
    errors: 'hec',
    access: ACCESS,
    operation: probed('acknowledge', path, 'Whether requests with these ids are safe'),
    handle: acks,
  })),
];

/** Every id that was handed out is true, by whatever node: it is part of an answer that waits for the entries to be safe. */
async function acks(exchange: Exchange): Promise<RouteAnswer> {
  if (hecChannel(exchange) === '') throw new HttpError(400, 'invalid_parameter', 'The request names no channel.', { code: 10 });
  const body = await exchange.body();
  const ids: unknown = typeof body === 'object' && body !== null && 'acks' in body ? body.acks : undefined;
  if (!Array.isArray(ids) || !ids.every((id) => Number.isSafeInteger(id) && (id as number) >= 0))
    throw invalidBody('The body is not {"acks":[…]} with ids of at least 0.');
  return { status: 200, body: { acks: Object.fromEntries((ids as number[]).map((id) => [String(id), true])) } };
}
