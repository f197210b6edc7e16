import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

type Printed = { readonly stdout: string; readonly stderr: string; readonly code?: number };
const processor = (...args: string[]): Promise<Printed> =>
  run(process.execPath, [path.join(root, 'cli/logweir.mjs'), 'processor', ...args], { cwd: os.tmpdir() }).catch(
    (error: unknown) => error as Printed,
  );

describe('logweir processor test', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-processor-'));
  after(() => rmSync(folder, { recursive: true }));

  /** A processor that counts records; `parts` are put in the place of its own. */
  function file(parts: Readonly<Record<string, string>>): string {
    const own: Record<string, string> = {
      init: '() => ({ n: 0 })',
      fold: '(state) => { state.n += 1; return []; }',
      snapshot: '(state) => Buffer.from(String(state.n))',
      restore: '(bytes) => (/^\\d{1,9}$/.test(bytes.toString()) ? { n: Number(bytes.toString()) } : null)',
      ...parts,
    };
    const members = Object.entries(own).map(([name, text]) => `${name}: ${text}`);
    const at = path.join(folder, `${Object.keys(parts).join('-') || 'good'}.mjs`);
    writeFileSync(at, `export default { processor: { name: 'mine', ${members.join(', ')} } };`);
    return at;
  }

  it('says that the contract holds, of an example too', async () => {
    for (const subject of [file({}), path.join(root, 'examples/processors/service-entries.ts')]) {
      const { stdout, code } = await processor('test', subject);
      expect(code, stdout).to.equal(undefined);
      expect(stdout)
        .to.match(/The contract holds\.\n$/)
        .and.not.contain('FAILS');
    }
  });

  it('says which promise is broken, and by what', async () => {
    const broken: readonly (readonly [string, string, string, string])[] = [
      ['fold', '(state) => { state.n += Math.random(); return []; }', 'needs neither clock nor chance', 'A processor asked for the time or for chance.'], // prettier-ignore
      ['snapshot', '() => Buffer.from("5")', 'gives the same from any snapshot on', ''],
      ['restore', '(bytes) => JSON.parse(bytes.toString())', 'restores no bytes that are none of its snapshots', 'SyntaxError'],
    ];
    for (const [method, text, promise, reason] of broken) {
      const told = `export: ${method}`;
      const fold = method === 'snapshot' ? { fold: '(state, input) => { state.n += 1; return [{ topic: "t", partition: input.partition, key: null, headers: {}, value: Buffer.from(String(state.n)) }]; }' } : {}; // prettier-ignore
      const { stdout, code } = await processor('test', file({ ...fold, [method]: text }));
      expect(code, told).to.equal(1);
      expect(stdout, told).to.match(new RegExp(`FAILS: .*${promise}[^]*${reason}`));
    }
  });

  it('says why a file cannot be used', async () => {
    const empty = path.join(folder, 'empty.mjs');
    writeFileSync(empty, 'export const nothing = 1;');
    const { stdout, code } = await processor('test', empty);
    expect(code).to.equal(1);
    expect(stdout).to.contain('Its default export must be an object with the member "processor".');
  });

  it('does not take another command line', async () => {
    for (const args of [[], ['test'], ['run', 'a'], ['test', 'a', 'b']]) {
      const { stderr, code } = await processor(...args);
      expect([code, stderr]).to.deep.equal([2, 'logweir: Usage: logweir processor test FILE\n']);
    }
    expect(await processor('test', 'nowhere.ts')).to.include({ code: 2, stderr: 'logweir: There is no file nowhere.ts.\n' });
    expect((await processor('--help')).stdout).to.match(/^Usage: logweir processor test FILE/);
  });
});
