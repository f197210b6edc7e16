import { pino } from 'pino';
import { createHost, type HostOptions } from '../../api/http/host.ts';
import type { HttpServer } from '../../api/http/http-server.ts';
import { Metrics } from '../../pipeline/core/metrics.ts';
import { FakeKeyStore } from './key-store.ts';

/** A started host on a free port, with keys `all` (every scope, tenant 1) unless others are given. */
export async function startHost(
  options: Partial<HostOptions> & Pick<HostOptions, 'endpoints'>,
): Promise<HttpServer & { readonly url: string }> {
  const host = createHost({
    name: 'test host',
    host: '127.0.0.1',
    port: 0,
    keys: new FakeKeyStore({ all: {} }),
    corsOrigins: [],
    metrics: new Metrics('test'),
    log: pino({ level: 'silent' }),
    ...options,
  });
  await host.start();
  return Object.assign(host, { url: `http://127.0.0.1:${String(host.port)}` });
}
