import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { tableHashes, type Ask } from '../e2e/set-hashes.ts';

const OTHER_CLOCK = path.join(import.meta.dirname, 'other-clock.cjs');

/** A server with these tables: rows, and the sum of their hashes. */
const server =
  (tables: Readonly<Record<string, readonly [string, string]>>): Ask =>
  (statement) => {
    const table = /FROM logweir\.(\w+)/.exec(statement)?.[1];
    return Promise.resolve(table === undefined ? Object.keys(tables).map((name) => [name]) : [[...(tables[table] ?? [])]]);
  };

describe('two sets', () => {
  it('are compared by what all shards of each have, but for what is written for a set alone', async () => {
    const whole = server({ logs: ['5', '3'], spans: ['0', '0'], migrations: ['1', '1'] });
    const shards = [
      server({ logs: ['2', '18446744073709551615'], spans: ['0', '0'] }),
      server({ logs: ['3', '4'], insert_fences: ['9', '9'] }),
    ];
    expect(await tableHashes(whole)).to.deep.equal({ logs: '5 3', spans: '0 0' });
    expect(await tableHashes(...shards)).to.deep.equal(await tableHashes(whole));
    expect(await tableHashes(...shards.slice(1))).to.deep.equal({ logs: '3 4' });
  });

  it('have processes whose clocks are off, in all their workers, while what lasts is as long as ever', () => {
    const program = `
      const { Worker } = require('node:worker_threads');
      const off = () => Math.round((new Date().getTime() - Number(process.argv[1])) / 60_000);
      const worker = new Worker('require("node:worker_threads").parentPort.postMessage(Date.now())', { eval: true });
      worker.once('message', (now) => console.log(JSON.stringify([
        off(), Math.round((now - Number(process.argv[1])) / 60_000), Math.round((performance.timeOrigin - Number(process.argv[1])) / 60_000),
        new Date(5).getTime(), new Date() instanceof Date, performance.now() < 60_000,
      ])));`;
    const env = { ...process.env, NODE_OPTIONS: `--require ${OTHER_CLOCK}`, FAULTS_CLOCK_OFF_MS: '600000' };
    const printed = execFileSync(process.execPath, ['-e', program, String(Date.now())], { env, encoding: 'utf8' });
    expect(JSON.parse(printed)).to.deep.equal([10, 10, 10, 5, true, true]);
  });
});
