import { expect } from 'chai';
import { createAlertRoutes } from '../../../api/alerts/routes.ts';
import { appEndpoint } from '../../../api/http/endpoint.ts';
import type { QueryEngine } from '../../../api/query/engine.ts';
import { QueryRuntime } from '../../../api/query/runtime.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { startHost } from '../../fakes/test-host.ts';

const ALERT = { id: 7, title: 'Errors of payments rose', stream: '{service="payments"}' };
const PROJECT = { id: 'pr_1', name: 'p', filter: '*', labels: {} };

describe('an alert and its playbooks', () => {
  const sought: unknown[] = [];
  let found: { readonly id: string; readonly name: string; readonly text: string }[];
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    const engine: QueryEngine = { run: () => Promise.resolve({ body: JSON.stringify(ALERT) }) };
    const runtime = new QueryRuntime({ engine, limits: { queryTimeoutSeconds: 30 } });
    const routes = createAlertRoutes(runtime, undefined as never, (tenantId, alert) => {
      sought.push([tenantId, alert.id]);
      return found;
    });
    const keys = new FakeKeyStore({ whole: {}, narrowed: { project: PROJECT } });
    host = await startHost({ keys, endpoints: routes.map((route) => appEndpoint(route)) });
  });
  after(() => host.stop());
  beforeEach(() => (sought.length = 0));
  const alertBy = async (key: string): Promise<unknown> =>
    (await fetch(`${host.url}/api/v1/tenants/1/alerts/7`, { headers: { 'x-api-key': key } })).json();

  it('names those that fit, without their text, to a key of the whole tenant', async () => {
    found = [{ id: 'pb_1', name: 'Refused', text: 'secret steps' }];
    expect(await alertBy('whole')).to.deep.equal({ ...ALERT, playbooks: [{ id: 'pb_1', name: 'Refused' }] });
    expect(sought).to.deep.equal([[1, 7]]);
  });

  it('is as it was where none fits, and to a key of a project, for which none is looked for', async () => {
    found = [];
    expect(await alertBy('whole')).to.deep.equal(ALERT);
    found = [{ id: 'pb_1', name: 'Refused', text: '' }];
    sought.length = 0;
    expect(await alertBy('narrowed')).to.deep.equal(ALERT);
    expect(sought).to.deep.equal([]);
  });
});
