import { expect } from 'chai';
import http from 'node:http';
import { connect } from 'node:net';
import { pino } from 'pino';
import type { Endpoint } from '../../../api/http/endpoint.ts';
import { queryTimeout } from '../../../pipeline/core/errors.ts';
import { Metrics } from '../../../pipeline/core/metrics.ts';
import { eventually } from '../../fakes/eventually.ts';
import { RawClient } from '../../fakes/raw-client.ts';
import { SlowEndpoint } from '../../fakes/slow-endpoint.ts';
import { startHost } from '../../fakes/test-host.ts';

const open = (path: string, handle: Endpoint['handle']): Endpoint => ({
  methods: ['GET', 'POST'],
  path,
  errors: 'query',
  access: null,
  handle,
});
const compressed = (endpoint: Endpoint): Endpoint => ({ ...endpoint, access: { plane: 'app', scope: 'read' } });

describe('clients that leave, and answers that fail', () => {
  const slow = new SlowEndpoint('/slow');
  const lines: string[] = [];
  let bodies = 0;
  let held = Promise.resolve();
  let metrics: Metrics;
  let host: Awaited<ReturnType<typeof startHost>>;
  let thrown: unknown = null;
  beforeEach(async () => {
    [lines.length, bodies] = [0, 0];
    metrics = new Metrics('test');
    const failing = open('/fails', () =>
      Promise.resolve({
        status: 200,
        stream: (async function* () {
          await Promise.resolve();
          yield 'a\n';
          await held;
          throw thrown;
        })(),
      }),
    );
    host = await startHost({
      metrics,
      log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
      endpoints: [
        slow.endpoint,
        open('/aborts', async (exchange) => {
          await new Promise<void>((_resolve, reject) => {
            exchange.signal.addEventListener('abort', () => {
              reject(exchange.signal.reason as Error);
            });
            void slow.endpoint.handle(exchange);
          });
          return { status: 200 };
        }),
        open('/endless', (exchange) =>
          Promise.resolve({
            status: 200,
            stream: (async function* () {
              for (;;) {
                await new Promise<void>((resolve) => {
                  setImmediate(resolve);
                });
                exchange.signal.throwIfAborted();
                yield 'x'.repeat(10_000);
              }
            })(),
          }),
        ),
        open('/body', async (exchange) => {
          bodies += 1;
          return { status: 200, body: (await exchange.body()) as object };
        }),
        failing,
        compressed({ ...failing, path: '/fails-compressed' }),
      ],
    });
  });
  afterEach(() => host.stop());

  const counted = async (): Promise<readonly string[]> =>
    (await metrics.registry.metrics())
      .split('\n')
      .filter((line) => /^logweir_(?:clients_gone|failed_streams|errors)_total/.test(line))
      .map((line) => line.replace(',role="test"', ''));
  const logged = (): readonly Record<string, unknown>[] => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const request = (path: string): http.ClientRequest =>
    http
      .get(`${host.url}${path}`, {
        agent: false,
        headers: { 'X-Request-Id': 'own', Authorization: 'Bearer all', 'Accept-Encoding': 'gzip' },
      })
      .on('error', () => undefined);

  for (const path of ['/slow', '/aborts'])
    it(`a client that leaves before its answer is counted, and no error: ${path}`, async () => {
      const another = slow.another();
      const leaving = request(path);
      await another;
      leaving.destroy();
      await eventually('the log', () => lines.length, (count) => count > 0); // prettier-ignore
      slow.release();
      await new Promise((resolve) => setImmediate(resolve));
      expect(await counted()).to.deep.equal([`logweir_clients_gone_total{route="${path}"} 1`]);
      expect(logged().map(({ level, requestId, route }) => [level, requestId, route])).to.deep.equal([[20, 'own', path]]);
    });

  it('one that leaves in the middle of a stream too', async () => {
    const leaving = request('/endless');
    leaving.on('response', (response) => response.once('data', () => leaving.destroy()));
    await eventually('the log', () => lines.length, (count) => count > 0); // prettier-ignore
    expect(await counted()).to.deep.equal(['logweir_clients_gone_total{route="/endless"} 1']);
    expect(logged().map(({ level }) => level)).to.deep.equal([20]);
  });

  it('and one that leaves in the middle of its body', async () => {
    const socket = connect(host.port, '127.0.0.1');
    socket.write('POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"a":');
    await eventually('the request', () => bodies, (count) => count > 0); // prettier-ignore
    socket.resetAndDestroy();
    await eventually('the log', () => lines.length, (count) => count > 0); // prettier-ignore
    expect(await counted()).to.deep.equal(['logweir_clients_gone_total{route="/body"} 1']);
  });

  it('a body that ends early is refused, since its client may still read', async () => {
    const client = new RawClient(host.port).send('POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"a":');
    await eventually('the request', () => bodies, (count) => count > 0); // prettier-ignore
    client.end();
    expect((await client.answer()).status).to.equal(400);
    await client.gone();
    await host.stop();
    expect((await counted()).some((line) => line.startsWith('logweir_clients_gone'))).to.equal(false);
  });

  it('whole answers are not counted, whether the connection is kept or not', async () => {
    for (const connection of ['close', 'keep-alive']) {
      const socket = connect(host.port, '127.0.0.1');
      let text = '';
      socket.on('data', (part: Buffer) => (text += part.toString()));
      socket.write(`POST /body HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\nContent-Length: 7\r\n\r\n{"a":1}`);
      await eventually('the answer', () => text, (got) => got.endsWith('{"a":1}')); // prettier-ignore
      socket.destroy();
    }
    await host.stop();
    expect(await counted()).to.deep.equal([]);
  });

  type Ended = { readonly text: string; readonly error: string };
  const cut = (path: string): Promise<Ended> =>
    new Promise((resolve) => {
      let text = '';
      request(path).on('response', (response) => {
        response.on('data', (part: Buffer) => (text += part.toString('latin1')));
        response.on('error', (error: NodeJS.ErrnoException) => resolve({ text, error: error.code ?? error.message }));
        response.on('end', () => resolve({ text, error: '' }));
      });
    });

  for (const path of ['/fails', '/fails-compressed'])
    it(`what fails in the middle of a stream is logged, counted, and seen by the client: ${path}`, async () => {
      thrown = new Error('a bug');
      expect((await cut(path)).error).to.equal('ECONNRESET');
      thrown = queryTimeout('The query ran too long.');
      expect((await cut(path)).error).to.equal('ECONNRESET');
      expect(await counted()).to.deep.equal([
        `logweir_failed_streams_total{route="${path}",slug="internal_error"} 1`,
        `logweir_failed_streams_total{route="${path}",slug="query_timeout"} 1`,
      ]);
      const told = logged().map(({ level, requestId, err }) => [level, requestId, (err as { message: string }).message]);
      expect(told).to.deep.equal([[50, 'own', 'a bug'], [40, 'own', 'The query ran too long.']]); // prettier-ignore
    });

  it('also by one of HTTP/1.0, which knows no chunks', async () => {
    thrown = new Error('a bug');
    let release = (): void => undefined;
    held = new Promise((resolve) => (release = resolve));
    const socket = connect(host.port, '127.0.0.1');
    const error = new Promise<string>((resolve) => {
      socket.on('error', (reason: NodeJS.ErrnoException) => resolve(reason.code ?? '')).on('end', () => resolve('a clean end'));
    });
    socket.on('data', (part: Buffer) => {
      if (part.toString().endsWith('a\n')) release();
    });
    socket.write('GET /fails HTTP/1.0\r\n\r\n');
    expect(await error).to.equal('ECONNRESET');
  });
});
