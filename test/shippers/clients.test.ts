import { expect } from 'chai';
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { run } from '../../compose/embedded/run.ts';
import { newTenant, sharedInstance } from '../e2e/shared.ts';
import { NotHere, installToolset, type ToolsetName } from './toolsets.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

describe('programs that read the description of the API', function () {
  this.timeout(900_000);

  /** The folder of a toolset; null where this machine cannot have it. */
  async function folderOf(name: ToolsetName): Promise<string | null> {
    try {
      return (await installToolset(name, (line) => console.log(`  ${line}`))).folder;
    } catch (error) {
      if (!(error instanceof NotHere)) throw error;
      console.log(`  NOT RUN: ${name}: ${error.message}`);
      return null;
    }
  }

  it('the linter finds nothing', async function () {
    const folder = await folderOf('linter');
    if (folder === null) return this.skip();
    const program = path.join(folder, 'node_modules', '@redocly', 'cli', 'bin', 'cli.js');
    const { code, output } = await run(process.execPath, [program, 'lint', 'docs/openapi.json', '--max-problems', '20'], {
      cwd: ROOT,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    });
    expect(code, output).to.equal(0);
    expect(output).not.to.match(/\d+ (warnings?|errors?)/);
  });

  it('a client in Python, made of it, walks through the API', async function () {
    const folder = await folderOf('client');
    if (folder === null) return this.skip();
    const instance = await sharedInstance();
    const tenant = await newTenant(instance);
    const place = mkdtempSync(path.join(os.tmpdir(), 'logweir-client-'));
    const bin = path.join(folder, 'bin');
    try {
      const { body } = await instance.call('GET', `${instance.app}/openapi.json`, undefined, { Authorization: `Bearer ${tenant.key}` });
      writeFileSync(path.join(place, 'openapi.json'), JSON.stringify(body));
      const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
      const args = ['generate', '--path', 'openapi.json', '--output-path', 'logweir_client', '--meta', 'none'];
      const made = await run(path.join(bin, 'openapi-python-client'), args, { cwd: place, env });
      expect(existsSync(path.join(place, 'logweir_client', 'client.py')), made.output).to.equal(true);
      copyFileSync(path.join(ROOT, 'examples', 'clients', 'python', 'walk.py'), path.join(place, 'walk.py'));
      const walk = await run(path.join(bin, 'python'), ['walk.py'], {
        cwd: place,
        env: { ...env, LOGWEIR_URL: instance.app, LOGWEIR_TENANT: String(tenant.id), LOGWEIR_API_KEY: tenant.key },
      });
      expect(walk.code, walk.output).to.equal(0);
      expect(walk.output.trim().split('\n').slice(0, 4)).to.deep.equal([
        'accepted 3',
        "found ['walk 0', 'walk 1', 'walk 2']",
        'hits 3',
        'facets True',
      ]);
      expect(walk.output)
        .to.contain('rule level:error | stats count()')
        .and.to.match(/refused \S+/);
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });
});
