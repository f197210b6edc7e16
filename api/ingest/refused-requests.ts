import type { HttpError } from '../../pipeline/core/errors.ts';
import type { KeyStore } from '../auth/authenticate.ts';
import { extractCredential } from '../auth/forms.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Tallies } from '../limits/tallies.ts';
import type { RejectionLog } from './rejection-log.ts';

/** What is noted of requests as a whole; a 400 is noted with its body by who has read it (`signal-intake.ts`). */
const NOTED = new Set([401, 403, 404, 405, 408, 413, 429]);

export type RefusedRequestsOptions = {
  readonly rejections: RejectionLog;
  readonly keys: KeyStore;
  /** The templates of the paths that take entries, with the formats. */
  readonly formats: ReadonlyMap<string, string>;
  /** The signals of these templates, and where what was refused is counted. */
  readonly signals?: ReadonlyMap<string, string>;
  readonly tallies?: Pick<Tallies, 'refuse'>;
};

/**
 * Notes requests of shippers that were refused, for the tenant whose key they have or had: a revoked key, a path that does not exist, a body
 * that is too large, a rate. Who sends no key that was ever known is nobody.
 */
export function noteRefused(options: RefusedRequestsOptions): (exchange: Exchange, error: HttpError) => void {
  const { rejections, keys, formats } = options;
  return (exchange, error) => {
    count(exchange, error, options);
    const { template, method, path } = exchange;
    const format = formats.get(template);
    const isSent = (method === 'POST' || method === 'PUT') && !path.startsWith('/api/v1/tenants/') && !path.startsWith('/select/');
    const isUnknownPath = isSent && (error.status === 404 || error.status === 405);
    if (!NOTED.has(error.status) || (format === undefined && !isUnknownPath)) return;
    const tenantId = exchange.tenantId ?? ownerOf(exchange, keys);
    if (tenantId === null) return;
    rejections.add(tenantId, [
      {
        ...{ time: new Date().toISOString(), format: format ?? '', reason: error.message, sample: '', index: null },
        ...{ request_id: exchange.requestId, status: error.status, path, client: exchange.header('user-agent') },
      },
    ]);
  };
}

/** What the tenant of an accepted key was refused on a path that takes data, whatever the reason; elsewhere what it was refused by a limit. */
function count(exchange: Exchange, { status, slug, message }: HttpError, { signals, tallies }: RefusedRequestsOptions): void {
  const { tenantId, template } = exchange;
  const signal = signals?.get(template);
  if (tenantId === null || (signal === undefined && status !== 429)) return;
  tallies?.refuse(tenantId, { signal: signal ?? REQUESTS, status, error: slug }, { reason: message });
}

/** Stands in place of a signal for what asks, and sends nothing. */
export const REQUESTS = 'requests';

/** Headers in which clients of other systems send their keys. They let no one in, but show whose request was refused. */
const FOREIGN_HEADERS = ['x-seq-apikey', 'dd-api-key', 'api-key', 'x-insert-key', 'x-license-key'];

/** The tenant whose key the request has in any form, one that is not read included. */
function ownerOf(exchange: Exchange, keys: KeyStore): number | null {
  const [, behindScheme = ''] = exchange
    .header('authorization')
    .trim()
    .split(/[ \t]+/, 2);
  const foreign = [behindScheme, ...FOREIGN_HEADERS.map((name) => exchange.header(name).trim())].find((text) => text !== '');
  const secret = extractCredential(exchange, 'ingest') ?? extractCredential(exchange, 'app') ?? foreign;
  return secret === undefined ? null : (keys.ownerOf?.(secret) ?? null);
}
