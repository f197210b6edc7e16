import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { NotHere, installToolset } from '../../../shippers/toolsets.ts';
import { until, type Instance } from '../../instance.ts';
import { newTenant, sharedInstance } from '../../shared.ts';

const folder = path.resolve(import.meta.dirname, '../../../../examples/readers');
/** A record of few rows may stay in the plain form, one of so many is columns. */
const SIZES = [1, 3000];

describe('examples/readers: what is on logs.v1', function () {
  this.timeout(600_000);
  let brokers = '';
  const expected = new Set<string>();
  before(async () => {
    const instance: Instance = await sharedInstance();
    brokers = readFileSync(path.join(instance.dataDir, 'kafka', 'brokers'), 'utf8').trim();
    const { key } = await newTenant(instance);
    const now = Date.now();
    for (const size of SIZES) {
      const entries = Array.from({ length: size }, (_, index) => ({
        _time: new Date(now - index).toISOString(),
        _msg: `read ${String(index)} of ${String(size)}: Grüße\nund "mehr"`,
        service: `reader-${String(index % 3)}`,
        host: index % 2 === 0 ? 'h1' : 'h2',
        level: 'info',
        index,
      }));
      const answer = await instance.call('POST', `${instance.ingest}/api/v1/ingest`, entries, { Authorization: `Bearer ${key}` });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      entries.forEach(({ _msg }, index) => expected.add(`${String(now - index)}000000 ${_msg}`));
    }
  });

  /** Runs a reader until it has printed what was sent; each entry has to come once, with labels of its stream. */
  async function check(command: string, program: string): Promise<void> {
    const child = spawn(command, [path.join(folder, program), brokers], { stdio: ['ignore', 'pipe', 'pipe'] });
    let [printed, complaint] = ['', ''];
    child.stdout.on('data', (part: Buffer) => (printed += part.toString('latin1')));
    child.stderr.on('data', (part: Buffer) => (complaint += part.toString()));
    /** Those of this test, of all that other tests have sent. */
    const found = (): string[] => {
      const lines = Buffer.from(printed, 'latin1').toString().split('\n').slice(0, -1);
      return lines.flatMap((line) => {
        const [time, stream, message] = JSON.parse(line) as [string, string, string];
        const entry = `${time} ${message}`;
        if (!expected.has(entry)) return [];
        expect(stream).to.match(/service="reader-[012]"/);
        return [entry];
      });
    };
    try {
      await until(
        `${program} prints them`,
        () => Promise.resolve(found().length),
        (length) => length >= expected.size,
      );
      expect(new Set(found()).size).to.equal(found().length);
    } catch (error) {
      throw new Error(`${program}: ${complaint.slice(-2000)}`, { cause: error });
    } finally {
      child.kill('SIGKILL');
    }
  }

  it('Node prints each entry once', () => check(process.execPath, 'read-logs.mjs'));

  it('Python prints each entry once', async function () {
    this.timeout(300_000);
    const made = await installToolset('readers', (line) => console.log(`  ${line}`)).catch((error: unknown) => {
      if (error instanceof NotHere) return error;
      throw error;
    });
    if (made instanceof NotHere) {
      console.log(`  NOT RUN: ${made.message}`);
      return this.skip();
    }
    await check(path.join(made.folder, 'bin', 'python'), 'read-logs.py');
  });
});
