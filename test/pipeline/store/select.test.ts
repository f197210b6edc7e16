import { ClickHouseError } from '@clickhouse/client';
import { expect } from 'chai';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import os from 'node:os';
import { formatParam, PARSED, SelectClient, TEXTS, type RowFormat, type Select } from '../../../pipeline/store/select.ts';
import { text, texts } from '../../../pipeline/core/sql.ts';

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void;

const select = (more: Partial<Select> = {}): Select => ({ text: 'SELECT 1', params: new Map(), settings: {}, queryId: 'q', ...more });

async function rowsOf<R>(client: SelectClient, asked: Select, format: RowFormat<R>): Promise<R[]> {
  const rows: R[] = [];
  for await (const chunk of client.rows(client.path(asked, format) ?? 'too long', asked, format)) rows.push(...chunk);
  return rows;
}

describe('SELECTs over kept connections', () => {
  let server: http.Server;
  let client: SelectClient;
  let handle: Handler;
  let sockets: Set<Socket>;

  beforeEach(async () => {
    sockets = new Set();
    server = http.createServer((request, response) => {
      request.resume().on('end', () => handle(request, response));
    });
    server.on('connection', (socket) => sockets.add(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    client = new SelectClient({ url, user: 'reader', password: 'secret', database: 'logs' });
  });
  afterEach(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });

  it('asks below the path of the address, as the client does', async () => {
    let asked = '';
    handle = (request, response) => {
      asked = request.url ?? '';
      response.end('[1]\n');
    };
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/clickhouse`;
    const proxied = new SelectClient({ url, user: 'reader', password: 'secret', database: 'logs' });
    await rowsOf(proxied, select(), PARSED);
    proxied.close();
    expect(asked).to.match(/^\/clickhouse\/\?database=logs&/);
  });

  it('sends to an IPv6 address', async function () {
    const addresses = Object.values(os.networkInterfaces()).flatMap((list) => list ?? []);
    if (!addresses.some(({ address }) => address === '::1')) this.skip();
    const local = http.createServer((request, response) => request.resume().on('end', () => response.end('[1]\n')));
    await new Promise<void>((resolve) => local.listen(0, '::1', resolve));
    const url = `http://[::1]:${String((local.address() as AddressInfo).port)}`;
    const far = new SelectClient({ url, user: 'reader', password: 'secret', database: 'logs' });
    expect(await rowsOf(far, select(), PARSED)).to.deep.equal([[1]]);
    far.close();
    local.close();
  });

  it('sends who asks, settings and values, and keeps the connection', async () => {
    let seen: http.IncomingMessage | undefined;
    handle = (request, response) => {
      seen = request;
      response.end('[1]\n');
    };
    const asked = select({ params: new Map([['p0', text("it's\t")]]), settings: { max_threads: 2 }, queryId: 'q1' });
    expect(await rowsOf(client, asked, PARSED)).to.deep.equal([[1]]);
    const address = new URL(seen?.url ?? '', 'http://x').searchParams;
    expect(Object.fromEntries(address)).to.deep.equal({
      database: 'logs',
      max_threads: '2',
      default_format: 'JSONCompactEachRow',
      param_p0: "it\\'s\\t",
      query_id: 'q1',
    });
    expect(seen?.headers['x-clickhouse-user']).to.equal('reader');
    await rowsOf(client, asked, PARSED);
    expect(sockets.size).to.equal(1);
  });

  it('keeps the connection where the reader stops at the last row', async () => {
    handle = (_request, response) => void response.end('[1]\n[2]\n');
    for (let times = 0; times < 3; times++) for await (const rows of client.rows('/', select(), PARSED)) if (rows.length > 1) break;
    expect(sockets.size).to.equal(1);
  });

  it('puts rows together that come in pieces, also inside a character', async () => {
    const bytes = Buffer.from('["é","1"]\n["\u{1f600}","2"]\n["",""]\n');
    handle = (_request, response) => {
      const next = (at: number): void => {
        if (at >= bytes.length) response.end();
        else response.write(bytes.subarray(at, at + 1), () => setImmediate(next, at + 1));
      };
      next(0);
    };
    expect(await rowsOf(client, select(), PARSED)).to.deep.equal([
      ['é', '1'],
      ['\u{1f600}', '2'],
      ['', ''],
    ]);
  });

  it('gives the texts of columns', async () => {
    handle = (_request, response) => void response.end('"a\\tb"\t{"k":"v"}\n1\t[]\n');
    expect(await rowsOf(client, select(), TEXTS)).to.deep.equal([
      ['"a\\tb"', '{"k":"v"}'],
      ['1', '[]'],
    ]);
  });

  it('gives no rows for an empty answer', async () => {
    handle = (_request, response) => void response.end();
    expect(await rowsOf(client, select(), PARSED)).to.deep.equal([]);
  });

  it('says what ClickHouse said', async () => {
    handle = (_request, response) => {
      response.statusCode = 408;
      response.end('Code: 159. DB::Exception: Timeout exceeded: elapsed 1 s. (TIMEOUT_EXCEEDED) (version 26.7)');
    };
    const error: unknown = await rowsOf(client, select(), PARSED).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ClickHouseError);
    expect((error as ClickHouseError).code).to.equal('159');
  });

  it('asks once more where a kept connection was closed, and only then', async () => {
    let requests = 0;
    handle = (request, response) => {
      requests += 1;
      if (requests === 2) request.socket.destroy();
      else response.end('[1]\n');
    };
    await rowsOf(client, select(), PARSED);
    expect(await rowsOf(client, select(), PARSED)).to.deep.equal([[1]]);
    expect(requests).to.equal(3);
    handle = (request) => request.socket.destroy();
    client.close();
    const error: unknown = await rowsOf(client, select(), PARSED).catch((thrown: unknown) => thrown);
    expect((error as NodeJS.ErrnoException).code).to.equal('ECONNRESET');
  });

  it('ends with its signal, and gives the reason', async () => {
    const abort = new AbortController();
    const reason = new Error('the client has gone');
    handle = (_request, response) => {
      response.write('[1]\n');
      abort.abort(reason);
    };
    const error: unknown = await rowsOf(client, select({ signal: abort.signal }), PARSED).catch((thrown: unknown) => thrown);
    expect(error).to.equal(reason);
  });

  it('does not take what is too long for an address', () => {
    expect(client.path(select({ params: new Map([['p0', text('x'.repeat(20_000))]]) }), PARSED)).to.equal(null);
  });
});

describe('formatParam', () => {
  const cases: readonly [Parameters<typeof formatParam>[0], string][] = [
    ['plain', 'plain'],
    ['a\\b\t\n\r\0\'"', 'a\\\\b\\t\\n\\r\\0\\\'"'],
    [12, '12'],
    [18446744073709551615n, '18446744073709551615'],
    [Infinity, '+inf'],
    [-Infinity, '-inf'],
    [NaN, 'nan'],
    [texts(["a'b", '\\']).value, "['a\\'b','\\\\']"],
    [[], '[]'],
  ];
  for (const [value, expected] of cases)
    it(JSON.stringify(typeof value === 'bigint' ? String(value) : value), () => expect(formatParam(value)).to.equal(expected));
});
