import { pino } from 'pino';
import { Checks } from '../../api/admin/checks.ts';
import { createInternalListener, type InternalOptions } from '../../api/admin/internal.ts';
import type { HttpServer } from '../../api/http/http-server.ts';
import { Metrics } from '../../pipeline/core/metrics.ts';
import { atEnd } from '../at-end.ts';

/** The token of the admin routes. */
export const TOKEN = 'admin-token';
const LOG = pino({ level: 'silent' });

export type Listener = { readonly server: HttpServer; readonly url: string; readonly checks: Checks; readonly metrics: Metrics };

const running = new Set<HttpServer>();

/** Starts an internal listener of a role; all are stopped at the end of the process. */
export async function listen(role: string, change: Partial<InternalOptions> = {}): Promise<Listener> {
  const checks = new Checks();
  const metrics = new Metrics(role);
  const server = createInternalListener({ host: '127.0.0.1', port: 0, token: TOKEN, role, metrics, checks, log: LOG, ...change });
  await server.start();
  running.add(server);
  return { server, url: `http://127.0.0.1:${server.port}`, checks, metrics };
}

atEnd(() => Promise.all([...running].map((server) => server.stop())));

export async function get(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; json: () => Record<string, unknown> }> {
  const response = await fetch(url, { headers });
  const text = await response.text();
  return { status: response.status, text, json: () => JSON.parse(text) as Record<string, unknown> };
}
