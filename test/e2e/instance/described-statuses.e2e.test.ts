import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { openApi } from '../../../api/openapi/document.ts';
import { describedEndpoints } from '../../../main/description.ts';
import { DescribedAnswers } from '../../openapi/described-answers.ts';
import type { Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';

type Described = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<Record<string, unknown>>;
  readonly security: readonly object[];
};
type Operation = { readonly method: string; readonly path: string; readonly described: Described };
type Asked = {
  readonly tenant?: number;
  readonly key?: string;
  readonly nonsense?: boolean;
  readonly body?: string;
  /** Length that is declared, of a body that never comes. */
  readonly announced?: number;
};
type Answer = { readonly status: number; readonly type: string; readonly body: unknown };

const DESCRIPTION = openApi(describedEndpoints()) as { readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>> };
const OPERATIONS: readonly Operation[] = Object.entries(DESCRIPTION.paths).flatMap(([at, methods]) =>
  Object.entries(methods).map(([method, described]) => ({ method: method.toUpperCase(), path: at, described })),
);
const WITH_KEY = OPERATIONS.filter(({ described }) => described.security.length > 0);
const isTagged =
  (...wanted: readonly string[]) =>
  ({ described: { tags } }: Operation): boolean =>
    tags.some((tag) => wanted.includes(tag));
/** Larger than any cap. */
const HUGE = 2_000_000_000;
const NONSENSE = '{"(';

describe('every operation of the API', function () {
  this.timeout(600_000);
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const answers = DescribedAnswers.ofService();
  let instance: Instance;
  let tenant: { readonly id: number; readonly key: string };

  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
  });
  after(() => agent.destroy());

  function urlOf({ path: template, described }: Operation, { tenant: id = tenant.id, nonsense }: Asked): URL {
    const filled = template.replace(/\{(\w+)\}/g, (_all, name: string) =>
      name === 'tenant_id' ? String(id) : nonsense === true ? '%00(' : '1',
    );
    const url = new URL(`${instance.app}${filled}`);
    if (nonsense === true)
      for (const { name, in: where } of described.parameters ?? []) if (where === 'query') url.searchParams.set(name, NONSENSE);
    return url;
  }

  function ask(operation: Operation, asked: Asked): Promise<Answer> {
    const { described } = operation;
    const [type] = Object.keys(described.requestBody?.content ?? {});
    const { body, announced, key } = asked;
    const headers = {
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      ...(type === undefined ? {} : { 'Content-Type': type }),
      ...(announced === undefined ? {} : { 'Content-Length': String(announced) }),
    };
    const url = urlOf(operation, asked);
    return new Promise((resolve, reject) => {
      const sent = request(url, { method: operation.method, headers, agent: announced === undefined ? agent : false }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(parts).toString();
          const answer = { status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '' };
          const isJson = answer.type.startsWith('application/json');
          const got = { ...answer, body: isJson ? (JSON.parse(text) as unknown) : text };
          if (announced !== undefined) sent.destroy();
          const fault = answers.fault({ method: operation.method, url: url.href, ...got });
          if (fault === null) resolve(got);
          else reject(new Error(fault));
        });
      });
      sent.on('error', reject);
      if (announced === undefined) sent.end(described.requestBody === undefined ? undefined : body);
      else sent.flushHeaders();
    });
  }

  /** Asks all of them, eight at a time; names those whose answer has another status. */
  async function others(operations: readonly Operation[], asked: Asked, isExpected: (answer: Answer) => boolean): Promise<string[]> {
    const wrong: string[] = [];
    const left = [...operations];
    const worker = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const { method, path: at } = next;
        const answer = await ask(next, asked).catch((error: unknown) => ({ status: 0, type: '', body: String(error) }));
        if (!isExpected(answer)) wrong.push(`${method} ${at}: ${String(answer.status)} ${JSON.stringify(answer.body).slice(0, 200)}`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    return wrong;
  }

  it('wants a key', async () => {
    expect(await others(WITH_KEY, {}, ({ status }) => status === 401)).to.deep.equal([]);
  });

  it('refuses a key that is unknown', async () => {
    expect(await others(WITH_KEY, { key: 'nobody-has-this-key' }, ({ status }) => status === 403)).to.deep.equal([]);
  });

  it('refuses the key of another tenant', async () => {
    const other = await newTenant(instance);
    const own = WITH_KEY.filter(({ path: at }) => at.includes('{tenant_id}'));
    expect(await others(own, { key: tenant.key, tenant: other.id }, ({ status }) => status === 403)).to.deep.equal([]);
  });

  it('answers nonsense in every parameter and body as it is described, and never with a fault of its own', async () => {
    const asked = { key: tenant.key, nonsense: true, body: NONSENSE };
    // a tail whose parameters are good goes on for ever: nonsense never is
    expect(await others(WITH_KEY, asked, ({ status }) => status > 0 && (status < 500 || status === 503))).to.deep.equal([]);
  });

  it('refuses a body that is announced too large, before it comes', async () => {
    // what has an id looks for it first, and the version of a build needs nothing of its form
    const isFirst = ({ path: at }: Operation): boolean => !at.includes('_id}/') && !at.endsWith('_id}') && !at.endsWith('/buildinfo');
    const ofTenant = (one: Operation): boolean => isFirst({ ...one, path: one.path.replace('{tenant_id}', '1') });
    const withBody = WITH_KEY.filter((one) => one.described.requestBody !== undefined && '413' in one.described.responses && ofTenant(one));
    expect(withBody.length).to.be.greaterThan(60);
    const isRefused = ({ status }: Answer): boolean => status === 413;
    expect(await others(withBody, { key: tenant.key, announced: HUGE }, isRefused)).to.deep.equal([]);
  });

  it('is refused to a tenant that may ask and send nothing', async () => {
    const token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
    const admin = (method: string, at: string, body: object): Promise<{ readonly status: number; readonly body: unknown }> =>
      instance.call(method, `${instance.admin}/admin${at}`, body, { Authorization: `Bearer ${token}` });
    const made = (await admin('POST', '/tenants', { name: 'none', plan: 'custom' })).body as { tenant_id: number; key: string };
    for (const flag of ['queries_per_minute', 'daily_bytes'])
      expect((await admin('PUT', `/tenants/${String(made.tenant_id)}/flags/${flag}`, { value: 0 })).status, flag).to.be.below(300);
    const asked = { key: made.key, tenant: made.tenant_id, body: '{"_msg":"x"}' };
    const isRefused = ({ status }: Answer): boolean => status === 429;
    const sent = WITH_KEY.filter((one) => isTagged('ingest')(one) && one.described.requestBody !== undefined);
    expect(sent.length).to.be.greaterThan(40);
    expect(await others(sent, asked, isRefused)).to.deep.equal([]);
    // what has an id reads it first, and which tenant a key has is no query
    const read = WITH_KEY.filter((one) => isTagged('logs', 'victorialogs', 'traces')(one) && one.method === 'GET').filter(
      ({ path: at }) => !at.includes('{trace_id}') && !at.endsWith('/tenant_ids'),
    );
    expect(read.length).to.be.greaterThan(15);
    expect(await others(read, asked, isRefused)).to.deep.equal([]);
  });
});
