import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { MAX_CHANGES } from '../../../../api/app/change-rate.ts';
import { openApi } from '../../../../api/openapi/document.ts';
import { describedEndpoints } from '../../../../main/description.ts';
import { DescribedAnswers } from '../../../openapi/described-answers.ts';
import type { Instance } from '../../instance.ts';
import { newTenant, sharedInstance } from '../../shared.ts';
import { bodyOf, KEPT, prepare, READS, TAILS, type Good } from './good-requests.ts';

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
} & Good;
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
const CHANNEL = '0aeeac95-ac74-4aa9-b30d-6c4c0ac581ba';

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

  function urlOf({ path: template, described }: Operation, { tenant: id = tenant.id, nonsense, query, params }: Asked): URL {
    const filled = template.replace(/\{(\w+)\}/g, (_all, name: string) =>
      name === 'tenant_id' ? String(id) : (params?.[name] ?? (nonsense === true ? '%00(' : '1')),
    );
    const url = new URL(`${instance.app}${filled}`);
    if (nonsense === true)
      for (const { name, in: where } of described.parameters ?? []) if (where === 'query') url.searchParams.set(name, NONSENSE);
    if (query !== undefined) url.search = new URLSearchParams(query).toString();
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
      ...asked.headers,
    };
    const url = urlOf(operation, asked);
    return new Promise((resolve, reject) => {
      const sent = request(
        url,
        { method: operation.method, headers, agent: announced === undefined && asked.isEndless !== true ? agent : false },
        (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('error', reject);
          if (asked.isEndless === true) {
            const got = { status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', body: '' };
            const fault = answers.fault({ method: operation.method, url: url.href, ...got });
            response.removeAllListeners('error').on('error', () => undefined);
            response.destroy();
            if (fault === null) resolve(got);
            else reject(new Error(fault));
            return;
          }
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
        },
      );
      sent.on('error', reject);
      if (announced === undefined) sent.end(described.requestBody === undefined ? undefined : body);
      else sent.flushHeaders();
    });
  }

  /** Asks all of them, eight at a time; names those whose answer has another status. */
  async function others(
    operations: readonly Operation[],
    asked: Asked | ((operation: Operation) => Asked),
    isExpected: (answer: Answer) => boolean,
  ): Promise<string[]> {
    const wrong: string[] = [];
    const left = [...operations];
    const worker = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const { method, path: at } = next;
        const answer = await ask(next, typeof asked === 'function' ? asked(next) : asked).catch((error: unknown) => ({
          status: 0,
          type: '',
          body: String(error),
        }));
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
    const isSocket = ({ path: at }: Operation): boolean => at.startsWith('/ws/');
    const asked = { key: 'nobody-has-this-key' };
    expect(await others(WITH_KEY.filter((one) => !isSocket(one)), asked, ({ status }) => status === 403)).to.deep.equal([]); // prettier-ignore
    expect(await others(WITH_KEY.filter(isSocket), asked, ({ status }) => status === 401)).to.deep.equal([]);
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
    // without a model the gate of AI comes first
    const isFirst = ({ path: at }: Operation): boolean =>
      !at.includes('_id}/') &&
      !at.endsWith('_id}') &&
      !at.endsWith('/ack') &&
      !at.endsWith('/buildinfo') &&
      !/\/tenants\/[^/]+\/ai\//.test(at);
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
    const sent = WITH_KEY.filter(
      (one) => isTagged('ingest')(one) && '429' in one.described.responses && one.described.requestBody !== undefined,
    );
    expect(sent.length).to.be.greaterThan(40);
    expect(await others(sent, asked, isRefused)).to.deep.equal([]);
    // what has an id reads it first, and which tenant a key has is no query
    const read = WITH_KEY.filter((one) => isTagged('logs', 'victorialogs', 'traces')(one) && one.method === 'GET').filter(
      ({ path: at }) => !at.includes('{trace_id}') && !at.endsWith('/tenant_ids'),
    );
    expect(read.length).to.be.greaterThan(15);
    expect(await others(read, asked, isRefused)).to.deep.equal([]);
  });

  const isOne =
    (names: ReadonlyMap<string, Good>) =>
    ({ described: { operationId } }: Operation): boolean =>
      names.has(operationId);
  const goodOf =
    (names: ReadonlyMap<string, Good>, more: Asked) =>
    ({ described: { operationId } }: Operation): Asked => ({ ...names.get(operationId), ...more });
  const named = (id: string): Operation => {
    const found = OPERATIONS.find(({ described: { operationId } }) => operationId === id);
    if (found === undefined) throw new Error(`There is no operation ${id}.`);
    return found;
  };
  const isSuccess = ({ status }: Answer): boolean => status >= 200 && status < 300;

  it('answers what it describes to those who ask and send as they should', async () => {
    await prepare(instance, tenant);
    const own = { key: tenant.key };
    for (const names of [READS, TAILS]) {
      const operations = OPERATIONS.filter(isOne(names));
      expect(operations).to.have.length(names.size);
      expect(await others(operations, goodOf(names, own), isSuccess)).to.deep.equal([]);
    }
    const sent = WITH_KEY.filter((one) => isTagged('ingest')(one) && one.described.requestBody !== undefined).filter(
      ({ path: at }) => !/replay|api\/v1\/write|ack$/.test(at),
    );
    expect(await others(sent, ({ path: at }) => ({ ...own, body: bodyOf(at) }), isSuccess)).to.deep.equal([]);
    const acks = OPERATIONS.filter(({ described: { operationId } }) => operationId.startsWith('acknowledge'));
    expect(
      await others(acks, { ...own, announced: HUGE, headers: { 'X-Splunk-Request-Channel': CHANNEL } }, ({ status }) => status === 413),
    ).to.deep.equal([]);
    expect(await others(acks, { ...own, body: bodyOf('ack'), headers: { 'X-Splunk-Request-Channel': CHANNEL } }, isSuccess)).to.deep.equal(
      [],
    );
  });

  it('makes, shows, changes and deletes what a tenant keeps; refuses bodies that are wrong or too large, and knows what is gone', async () => {
    const own = { key: tenant.key };
    for (const { path: at, part, body, change } of KEPT) {
      const of = (method: string, where: string): Operation[] => OPERATIONS.filter((one) => one.method === method && one.path === where);
      const one = async (method: string, where: string, asked: Asked): Promise<Answer | null> => {
        const [found] = of(method, where);
        return found === undefined ? null : ask(found, { ...own, ...asked });
      };
      const made = await one('POST', at, { body: JSON.stringify(body) });
      expect(made?.status, `${at}: ${JSON.stringify(made?.body)}`).to.equal(201);
      const params = { [part]: (made as { body: { id: string } }).body.id };
      const whole = `${at}/{${part}}`;
      expect((await one('GET', at, {}))?.status, at).to.equal(200);
      expect((await one('GET', whole, { params }))?.status ?? 200, whole).to.equal(200);
      if (change !== undefined) {
        expect((await one('PUT', whole, { params, body: JSON.stringify(change) }))?.status, whole).to.equal(200);
        expect((await one('PUT', whole, { params, body: NONSENSE }))?.status, whole).to.equal(400);
        expect((await one('PUT', whole, { params, announced: HUGE }))?.status, whole).to.equal(413);
        expect((await one('PUT', whole, { params: { [part]: 'none' }, body: JSON.stringify(change) }))?.status, whole).to.equal(404);
      }
      expect((await one('POST', `${whole}/test`, { params }))?.status ?? 200, whole).to.equal(200);
      expect((await one('DELETE', whole, { params }))?.status, whole).to.equal(204);
      expect((await one('DELETE', whole, { params }))?.status, whole).to.equal(404);
    }
    expect((await ask(named('createKey'), { ...own, body: '{"project":"none"}' })).status).to.equal(404);
    expect((await ask(named('resolveAlert'), { ...own, announced: HUGE })).status).to.equal(413);
  });

  it('does not know what is not there, or cannot be evaluated or decoded', async () => {
    const own = { key: tenant.key };
    const none = { trace_id: 'f'.repeat(32), incident_id: '999999999', session_id: 'none' };
    const unknown = [
      'jaegerTrace',
      'jaegerRootTrace',
      'jaegerV3Trace',
      'jaegerRootV3Trace',
      'getIncident',
      'searchSessionLogs',
      'listSessionTraces',
    ];
    expect(await others(unknown.map(named), { ...own, params: none }, ({ status }) => status === 404)).to.deep.equal([]);
    const v3 = goodOf(READS, own)(named('jaegerV3Traces'));
    const ofNone = { ...v3, query: (v3.query ?? '').replace('=web', '=none') };
    expect(await others(['jaegerV3Traces', 'jaegerRootV3Traces'].map(named), ofNone, ({ status }) => status === 404)).to.deep.equal([]);
    const failing = { ...own, query: 'query=label_replace(up, "a b", "$1", "c", "(")&start=1&end=2&step=1' };
    expect(await others(['promQueryByPost', 'promQueryRangeByPost'].map(named), failing, ({ status }) => status === 422)).to.deep.equal([]);
    const wrong = { ...own, query: 'start=x&limit=x&type=x' };
    const byPost = ['promLabelValuesByPost', 'promLabelsByPost', 'promMetadataByPost', 'promRulesByPost'].map(named);
    expect(await others(byPost, wrong, ({ status }) => status === 400)).to.deep.equal([]);
    const many = { ...own, body: 'a=1&'.repeat(1001), headers: { 'Content-Type': 'application/x-www-form-urlencoded' } };
    expect((await ask(named('promAlertsByPost'), many)).status).to.equal(400);
    const sent = WITH_KEY.filter((one) => isTagged('ingest')(one) && one.described.requestBody !== undefined);
    const coded = { ...own, body: '{}', headers: { 'Content-Encoding': 'nonsense' } };
    expect(await others(sent, coded, ({ status }) => status === 400 || status === 415 || status === 503)).to.deep.equal([]);
  });

  it('signs in those who may, and nobody from another site', async () => {
    const sign = (asked: Asked): Promise<Answer> => ask(named('signIn'), asked);
    expect((await sign({ body: JSON.stringify({ key: tenant.key }) })).status).to.equal(200);
    for (const [body, status] of [['{}', 401], [JSON.stringify({ key: 'none' }), 403], [NONSENSE, 400]] as const) expect((await sign({ body })).status, body).to.equal(status); // prettier-ignore
    expect((await sign({ announced: HUGE })).status).to.equal(413);
    expect((await ask(named('signOut'), {})).status).to.equal(204);
    expect((await ask(named('signOut'), { headers: { Origin: 'http://elsewhere.example' } })).status).to.equal(403);
  });

  it('has a rate for whatever is a query, and for changes', async () => {
    const token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
    const admin = (method: string, at: string, body: object): ReturnType<Instance['call']> =>
      instance.call(method, `${instance.admin}/admin${at}`, body, { Authorization: `Bearer ${token}` });
    const made = (await admin('POST', '/tenants', { name: 'rates', plan: 'custom' })).body as { tenant_id: number; key: string };
    await admin('PUT', `/tenants/${String(made.tenant_id)}/flags/queries_per_minute`, { value: 0 });
    const none = { key: made.key, tenant: made.tenant_id };
    const isRefused = ({ status }: Answer): boolean => status === 429;
    expect(
      await others(
        OPERATIONS.filter(isOne(READS)).filter(({ described }) => '429' in described.responses),
        goodOf(READS, none),
        isRefused,
      ),
    ).to.deep.equal([]);
    expect((await ask(named('getPattern'), { ...none, params: { fingerprint: '0'.repeat(64) } })).status).to.equal(429);
    const changes = WITH_KEY.filter(
      (one) =>
        one.method !== 'GET' &&
        (isTagged('account', 'alerts', 'rules', 'webhooks', 'replay')(one) || one.path.startsWith('/api/v1/ai/playbooks')) &&
        '429' in one.described.responses &&
        !READS.has(one.described.operationId),
    );
    expect(changes.length).to.be.greaterThan(15);
    let left = changes;
    // what is used up fills again while requests are on their way
    for (let turn = 0; turn < 10 && left.length > 0; turn++) {
      await others(
        Array.from({ length: MAX_CHANGES }, () => named('deleteWebhook')),
        none,
        () => true,
      );
      const missed = await others(left, { ...none, body: '{}' }, isRefused);
      left = left.filter(({ method, path: at }) => missed.some((text) => text.startsWith(`${method} ${at}: `)));
    }
    expect(left.map(({ described: { operationId } }) => operationId)).to.deep.equal([]);
  });
});
