import { expect } from 'chai';
import { appEndpoint } from '../../../api/http/endpoint.ts';
import { createQueryRoutes } from '../../../api/search/routes.ts';
import { createSelectEndpoints } from '../../../api/select/endpoints.ts';
import type { Store } from '../../../pipeline/store/client.ts';
import { runtimeOver } from '../../e2e/query-setup.ts';
import { startHost } from '../../fakes/test-host.ts';

/** What is no time, in whatever parameter: numbers that are none or too large, other languages' numbers, lists, what looks like a time. */
const NO_TIMES = [
  ...['1e999', '-1e999', '1e31', 'NaN', 'nan', 'Infinity', '-Infinity', '0x10', '0b1', '1_000', '1e', 'e5', '1.2.3', '١٢'],
  ...['yesterday', 'null', 'true', '[]', '{}', '-', 'now-', '--1h', '+1h', '-1hh', '99999999999999999999999999', '\0'],
  ...['2026-13-01', '2026-02-30', '2026-11-27T25:00:00Z', '2026-11-27T10:00:00+25:00', '2026-11-27T10:00:00Z;DROP TABLE logs'],
];
/** In a body of JSON also what is no string. */
const NO_TIMES_OF_JSON: readonly unknown[] = [...NO_TIMES, '', ' ', [], ['now'], [1], {}, { now: 1 }, true, false, 1e308, -1e308];

const T = '/api/v1/tenants/1';
/** Every path that reads times from its query, and the names of those parameters. */
const PATHS: readonly (readonly [path: string, parameters: readonly string[]])[] = [
  [`${T}/hits?query=*`, ['start', 'end']],
  [`${T}/facets?query=*`, ['start', 'end']],
  [`${T}/streams?query=*`, ['start', 'end']],
  [`${T}/measures?name=x`, ['start', 'end']],
  [`${T}/patterns?`, ['since']],
  [`${T}/patterns/${'a'.repeat(64)}?`, ['since']],
];
const SELECT = ['query', 'hits', 'facets', 'stats_query', 'stats_query_range', 'field_names', 'field_values', 'stream_field_names', 'stream_field_values', 'streams', 'stream_ids']; // prettier-ignore
const COUNT = encodeURIComponent('* | stats count() as n');

describe('every time parameter', () => {
  // where a time is read it is read before any statement
  const failing = (): never => {
    throw new Error('A statement was made.');
  };
  const store = { query: failing, texts: failing, rows: failing } as unknown as Store;
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    const runtime = runtimeOver(store);
    host = await startHost({
      endpoints: [...createQueryRoutes(runtime).map((route) => appEndpoint(route)), ...createSelectEndpoints(runtime)],
    });
  });
  after(() => host.stop());

  const headers = { Authorization: 'Bearer all', 'Content-Type': 'application/json' };
  const answerOf = async (path: string, init: RequestInit = {}): Promise<{ status: number; detail: string }> => {
    const answer = await fetch(host.url + path, { headers, ...init });
    const text = await answer.text();
    return { status: answer.status, detail: text.startsWith('{') ? String((JSON.parse(text) as { detail?: string }).detail) : text };
  };

  for (const name of ['start', 'end', 'before'])
    it(`POST /search: ${name} that is no time is a 400 that names it`, async () => {
      for (const value of NO_TIMES_OF_JSON) {
        const { status, detail } = await answerOf(`${T}/search`, { method: 'POST', body: JSON.stringify({ query: '*', [name]: value }) });
        expect(status, JSON.stringify(value)).to.equal(400);
        expect(detail, JSON.stringify(value)).to.contain(name);
      }
    });

  for (const [path, parameters] of PATHS)
    for (const name of parameters)
      it(`GET ${path.split('?')[0] ?? ''}: ${name} that is no time is a 400 that names it`, async () => {
        for (const value of [...NO_TIMES, '', ' ']) {
          const { status, detail } = await answerOf(`${path}&${name}=${encodeURIComponent(value)}`);
          expect(status, JSON.stringify(value)).to.equal(400);
          expect(detail, JSON.stringify(value)).to.contain(name);
        }
      });

  for (const path of SELECT)
    it(`/select/logsql/${path}: start, end and time that are no times are a 400; empty ones are absent, as in VictoriaLogs`, async () => {
      for (const name of ['start', 'end', 'time'])
        for (const value of NO_TIMES) {
          const at = `/select/logsql/${path}?query=${path.startsWith('stats') ? COUNT : '*'}&field=a&step=1h&${name}=${encodeURIComponent(value)}`;
          expect((await answerOf(at)).status, `${name} ${JSON.stringify(value)}`).to.equal(400);
        }
    });
});
