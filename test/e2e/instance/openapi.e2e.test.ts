import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';

const WRITTEN = path.resolve(import.meta.dirname, '../../../docs/openapi.json');

describe('the description of the API', function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: { readonly id: number; readonly key: string };
  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
  });

  it('is served to a key, as docs/openapi.json has it', async () => {
    const { status, body } = await instance.call('GET', `${instance.app}/openapi.json`, undefined, {
      Authorization: `Bearer ${tenant.key}`,
    });
    expect(status).to.equal(200);
    expect(body).to.deep.equal(JSON.parse(readFileSync(WRITTEN, 'utf8')));
  });

  it('needs a key, and is on the app host alone', async () => {
    const without = await fetch(`${instance.app}/openapi.json`);
    expect(without.status).to.equal(401);
    const { status } = await instance.call('GET', `${instance.ingest}/openapi.json`);
    expect(status).to.equal(404);
  });
});
