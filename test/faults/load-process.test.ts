import { expect } from 'chai';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../e2e/instance.ts';
import type { Ledger, LedgerLine } from './ledger.ts';
import { LoadProcess } from './load-process.ts';

describe('LoadProcess', function () {
  this.timeout(240_000);
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => response.end());
  });
  const lines: LedgerLine[] = [];
  const ledger: Pick<Ledger, 'append'> = {
    append: (line) => {
      lines.push(line);
      return Promise.resolve();
    },
  };

  before((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  after(() => {
    server.close().closeAllConnections();
  });

  it('sends in a process of its own, and has the ledger here know everything when it has stopped', async () => {
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const apis = [{ name: 'api-1', ingestUrl: url, appUrl: url, adminUrl: url }] as const;
    const load = new LoadProcess({ cluster: { apis, key: 'right' }, seed: 5, entriesPerSecond: 5000, prefix: '100' }, ledger);
    await until(
      'requests',
      () => Promise.resolve(load.totals?.requests ?? 0),
      (count) => count >= 20,
    );
    load.setRate(0);
    await load.stop();
    const { requests = 0, attempts } = load.totals ?? {};
    expect(requests).to.be.at.least(20);
    expect(attempts).to.deep.equal({ acked: requests, rejected: 0, unknown: 0 });
    for (const kind of ['sent', 'acked']) expect(lines.filter((line) => line.kind === kind)).to.have.length(requests);
    expect(lines.every(({ request }) => /^100\d-\d+\.0$/.test(request))).to.equal(true);
  });
});
