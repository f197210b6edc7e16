import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { eventually } from '../fakes/eventually.ts';
import { Ledger, type LedgerLine } from './ledger.ts';
import { Load, type LoadOptions } from './load.ts';

/** An API that refuses, or takes all but entries whose time is none. */
function fakeApi(answer: (count: number) => { status: number; body: string }): Promise<http.Server> {
  let count = 0;
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => {
      const { status, body } = request.headers.authorization === 'Bearer right' ? answer(count++) : { status: 401, body: '' };
      response.writeHead(status).end(body);
    });
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

describe('Load', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-load-'));
  const servers: http.Server[] = [];
  const api = async (name: 'api-1' | 'api-2', answer: Parameters<typeof fakeApi>[0]) => {
    const server = await fakeApi(answer);
    servers.push(server);
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    return { name, ingestUrl: url, appUrl: url, adminUrl: url };
  };

  after(() => {
    for (const server of servers) server.close().closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  /** Offers entries until so many requests are through, and reads the ledger. */
  async function offer(
    apis: readonly Awaited<ReturnType<typeof api>>[],
    requests: number,
    options: Pick<LoadOptions, 'once'> = {},
  ): Promise<{ load: Load; lines: LedgerLine[] }> {
    const ledger = new Ledger(path.join(folder, `${String(Math.random())}.jsonl`));
    const load = new Load({ cluster: { apis, key: 'right' }, ledger, seed: 5, entriesPerSecond: 30_000, ...options });
    load.start();
    await eventually(
      'requests',
      () => load.totals.requests,
      (count) => count >= requests,
    );
    await load.stop();
    await ledger.close();
    const lines = readFileSync(ledger.file, 'utf8').trimEnd().split('\n');
    return { load, lines: lines.map((line) => JSON.parse(line) as LedgerLine) };
  }

  it('writes every attempt down before it is sent, and its outcome after', async () => {
    const { load, lines } = await offer([await api('api-1', () => ({ status: 200, body: '' }))], 100);
    const seen = new Map<string, string[]>();
    for (const { kind, request } of lines) seen.set(request, [...(seen.get(request) ?? []), kind]);
    for (const kinds of seen.values())
      expect(kinds)
        .to.be.oneOf([kinds])
        .and.to.have.length(2)
        .and.to.satisfy(([first]: string[]) => first === 'sent');
    const { requests, delivered, refused, abandoned } = load.totals;
    expect(seen.size).to.be.at.least(requests);
    expect(delivered + refused + abandoned).to.equal(requests);
  });

  it('sends what is in doubt again, to the other API, under a new name', async () => {
    const full = { status: 429, body: '{"error":"backpressure"}' };
    const { load, lines } = await offer([await api('api-1', () => full), await api('api-2', () => ({ status: 200, body: '' }))], 60);
    const outcomes = new Map(lines.filter(({ kind }) => kind !== 'sent').map(({ kind, request }) => [request, kind]));
    const sent = lines.filter((line) => line.kind === 'sent');
    expect(load.totals.attempts.unknown).to.be.above(10);
    for (const { request, api: name } of sent) {
      const outcome = outcomes.get(request);
      if (outcome !== 'unknown') continue;
      expect(name).to.equal('api-1');
      const next = sent.find((line) => line.request === request.replace(/\d+$/, (attempt) => String(Number(attempt) + 1)));
      expect(next?.api).to.equal('api-2');
    }
    expect(load.totals.abandoned).to.equal(0);
  });

  it('offers no more than it should where it sends everything once', async () => {
    const { load, lines } = await offer([await api('api-1', () => ({ status: 429, body: '' }))], 40, { once: true });
    const { requests, refused, abandoned, attempts } = load.totals;
    expect(refused + abandoned).to.equal(requests);
    expect(attempts).to.deep.equal({ acked: 0, rejected: requests, unknown: 0 });
    expect(lines.filter(({ kind }) => kind === 'sent')).to.have.length(requests);
  });

  it('notes answers that the contract does not allow, and counts that are wrong', async () => {
    const answers = [
      { status: 500, body: '' },
      { status: 200, body: '{"accepted":1000000}' },
      { status: 200, body: '' },
    ];
    const { load } = await offer([await api('api-1', (count) => answers[Math.min(count, 2)] ?? { status: 200, body: '' })], 20);
    expect(load.totals.oddAnswers).to.have.length(2);
  });
});
