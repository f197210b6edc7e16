import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Instance } from '../instance.ts';
import { newTenant, sharedFolder, sharedInstance } from '../shared.ts';

/** Formats whose samples this does not look for. */
const LATER = ['otlp_metrics', 'api_v1_otel_v1_metrics', 'api_v1_write', 'write', 'api_v2_write'];

describe('recorded requests of real shippers', function () {
  this.timeout(600_000);
  let instance: Instance;

  before(async () => {
    instance = await sharedInstance();
  });

  const folder = path.join(sharedFolder(), 'conformance/wire');
  for (const slug of readdirSync(path.join(folder, 'captures')).filter((name) => !LATER.includes(name))) {
    it(`${slug}: what each client logged is found, and its probes are answered`, async () => {
      const tenant = await newTenant(instance);
      const output = await replay(folder, slug, instance, tenant);
      const last = output.trim().split('\n').at(-1) ?? '';
      expect(last, output).to.match(/^[1-9]\d* passed, 0 failed$/);
    });
  }
});

/** Runs the conformance data's own checker over the captures of one path. */
function replay(folder: string, slug: string, instance: Instance, tenant: { readonly id: number; readonly key: string }): Promise<string> {
  const args = [path.join(folder, 'replay.py'), path.join(folder, 'captures', slug), '--probes', '--strict'];
  const target = ['--base', instance.app, '--ingest', instance.ingest, '--key', tenant.key, '--tenant', String(tenant.id)];
  return new Promise((resolve) => {
    execFile('python3', [...args, ...target], { timeout: 600_000 }, (error, stdout, stderr) => {
      resolve(error === null ? stdout : `${stdout}${stderr}${error.message}`);
    });
  });
}
