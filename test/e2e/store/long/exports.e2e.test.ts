import { expect } from 'chai';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { pino } from 'pino';
import { appEndpoint } from '../../../../api/http/endpoint.ts';
import { LocalEngine } from '../../../../api/engine/local-engine.ts';
import { createQueryRoutes } from '../../../../api/search/routes.ts';
import { QueryRuntime } from '../../../../api/query/runtime.ts';
import { QueryPool } from '../../../../api/engine/workers/query-pool.ts';
import { createSelectEndpoints } from '../../../../api/select/endpoints.ts';
import { Metrics } from '../../../../pipeline/core/metrics.ts';
import { sql, type Sql } from '../../../../pipeline/core/sql.ts';
import { Store, type QueryOptions, type Row } from '../../../../pipeline/store/client.ts';
import { startHost } from '../../../fakes/test-host.ts';
import { until } from '../../instance.ts';
import { builtWorker } from '../../built-worker.ts';
import { LogsqlStore } from '../../logsql-store.ts';
import { at } from '../../query-setup.ts';

const LIMITS = { maxFacetFields: 50, queryTimeoutSeconds: 8 };
/** More than all buffers on the way of an answer hold, so that a client that does not read keeps its query in ClickHouse. */
const ENTRIES = 4000;
const TEXT = 'some words of a message '.repeat(1000);
const WINDOW = { start: '2026-11-18T00:00:00Z', end: '2026-11-19T00:00:00Z' };

/** A ClickHouse that works for hours on whatever is asked of it. */
class SlowStore extends Store {
  override query(_statement: Sql, options: QueryOptions): AsyncGenerator<Row[]> {
    return super.query(sql`SELECT sum(cityHash64(a.kafka_idx, b.kafka_idx, c.kafka_idx)) FROM logs AS a, logs AS b, logs AS c`, options);
  }
  override texts(): null {
    return null;
  }
}

describe('answers that take long', function () {
  this.timeout(300_000);
  let own: LogsqlStore;
  let pool: QueryPool;
  let slow: SlowStore;
  let hosts: readonly Awaited<ReturnType<typeof startHost>>[];
  let metrics: Metrics;
  before(async () => {
    own = await LogsqlStore.start();
    await own.insert(
      1,
      Array.from({ length: ENTRIES }, (_, i) => at(i / 100, { _msg: TEXT, n: String(i) })),
    );
    pool = new QueryPool({
      clickhouse: own.config,
      limits: LIMITS,
      store: own.store,
      log: pino({ level: 'silent' }),
      workers: 2,
      maxBytes: 600_000_000,
      program: builtWorker,
    });
    await pool.start();
    slow = own.open(SlowStore);
    metrics = new Metrics('test');
    const engines = [pool, new LocalEngine({ store: slow, now: () => BigInt(Date.now()) * 1_000_000n, limits: LIMITS })];
    hosts = await Promise.all(
      engines.map((engine) => {
        const limits = engine === pool ? LIMITS : { ...LIMITS, queryTimeoutSeconds: 600 };
        const runtime = new QueryRuntime({ engine, limits });
        const routes = createQueryRoutes(runtime).map((route) => appEndpoint(route));
        return startHost({ endpoints: [...routes, ...createSelectEndpoints(runtime)], metrics });
      }),
    );
    // on a busy machine it takes the workers longer to begin than a query waits
    await until('the workers', status, (code) => code === 200);
  });
  const status = async (): Promise<number | undefined> => {
    const asked = request(0, '/api/v1/tenants/1/search', 'first', { query: 'nothing', ...WINDOW });
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  };
  after(async () => {
    for (const host of hosts) await host.stop();
    await pool.stop();
    await slow.close();
    await own.stop();
  });

  const request = (host: number, path: string, id: string, parameters: object): http.ClientRequest => {
    const isForm = path.startsWith('/select');
    const body = isForm ? new URLSearchParams(parameters as Record<string, string>).toString() : JSON.stringify(parameters);
    const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
    return http
      .request(`${hosts[host]?.url ?? ''}${path}`, {
        method: 'POST',
        agent: false,
        headers: { Authorization: 'Bearer all', 'Content-Type': type, 'X-Request-Id': id },
      })
      .on('error', () => undefined)
      .end(body);
  };
  /** The statements of a request that run in ClickHouse. */
  const running = async (id: string): Promise<number> => {
    const rows = await own.store.ownerRows('SELECT count() FROM system.processes WHERE startsWith(query_id, {id:String})', { id });
    return Number(rows[0]?.[0]);
  };
  const runs = (id: string): Promise<number> => until(`the query of ${id}`, () => running(id), (count) => count > 0); // prettier-ignore
  const ended = (id: string): Promise<number> => until(`the end of ${id}`, () => running(id), (count) => count === 0); // prettier-ignore
  const gone = async (): Promise<number> => {
    const text = await metrics.registry.getSingleMetricAsString('logweir_clients_gone_total');
    return [...text.matchAll(/^logweir_clients_gone_total\{.*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
  };

  it('an export whose client leaves ends in ClickHouse', async () => {
    const id = 'left';
    const asked = request(0, '/select/logsql/query', id, { query: '*', ...WINDOW });
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    expect(response.statusCode).to.equal(200);
    await runs(id);
    asked.destroy();
    await ended(id);
  });

  it('so does a search whose client leaves, which is no error', async () => {
    const errors = (): Promise<string> => metrics.registry.getSingleMetricAsString('logweir_errors_total');
    const [before, errorsBefore] = [await gone(), await errors()];
    const asked = request(1, '/api/v1/tenants/1/search', 'search', { query: '*', ...WINDOW });
    await runs('search');
    asked.destroy();
    await ended('search');
    await until('the count', gone, (count) => count > before);
    expect(await errors()).to.equal(errorsBefore);
  });

  it('an export goes on as long as it is taken, however long that takes', async () => {
    const began = performance.now();
    const asked = request(0, '/select/logsql/query', 'long', { query: '*', ...WINDOW, limit: '20000' });
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    let lines = 0;
    let bytes = 0;
    const take = (part: Buffer): void => {
      bytes += part.length;
      for (const byte of part) if (byte === 0x0a) lines += 1;
      // a client that takes nothing for longer than a query may run
      if (bytes < 1_000_000 || bytes - part.length >= 1_000_000) return;
      response.pause();
      const wait = (): void => {
        if (performance.now() - began > 1000 * LIMITS.queryTimeoutSeconds + 1500) response.resume();
        else setTimeout(wait, 50);
      };
      wait();
    };
    response.on('data', take);
    await once(response, 'end');
    expect(lines).to.equal(ENTRIES);
    expect(performance.now() - began).to.be.above(1000 * LIMITS.queryTimeoutSeconds);
  });

  it('an export ends when no row comes for that long', async () => {
    const asked = request(1, '/select/logsql/query', 'late', { query: '*', ...WINDOW, timeout: '1s' });
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    expect(response.statusCode).to.equal(504);
    response.resume();
    await ended('late');
  });
});
