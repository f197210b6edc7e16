import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ModelServer, STAND_IN } from '../../../ai/model-server.ts';
import { HOSTILE_LINES } from '../../../mcp/hostile-lines.ts';
import { until, type Instance } from '../../instance.ts';
import { newTenant, sharedInstance, shareWith } from '../../shared.ts';

const KEY = 'sk-of-the-operator-1234567890';
const PASSWORD = 'correct-horse-battery';
const server = new ModelServer();
shareWith(async () => ({ LOGWEIR_AI_URL: await server.start(), LOGWEIR_AI_KEY: KEY, LOGWEIR_AI_MODEL: STAND_IN }));

type Tenant = { readonly id: number; readonly key: string };
type Answer = { readonly status: number; readonly headers: Headers; readonly body: unknown };
type Sent = {
  readonly model: string;
  readonly masked: number;
  readonly sent: readonly { readonly role: string; readonly content: string }[];
};
type Use = {
  readonly total: { readonly used: number; readonly limit: number | null };
  readonly features: Readonly<Record<string, { readonly used: number }>>;
};

describe('AI', function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: Tenant;

  const post = (of: Tenant, what: string, body: unknown, id = of.id): Promise<Answer> =>
    instance.call('POST', `${instance.app}/api/v1/tenants/${String(id)}/ai/${what}`, body, { Authorization: `Bearer ${of.key}` });
  const use = async (of: Tenant): Promise<Use> =>
    (
      await instance.call('GET', `${instance.app}/api/v1/tenants/${String(of.id)}/ai/credits`, undefined, {
        Authorization: `Bearer ${of.key}`,
      })
    ).body as Use;
  const detail = ({ status, body }: Answer): string => `${String(status)} ${(body as { readonly detail?: string }).detail ?? ''}`;
  const tenantOn = async (plan: string): Promise<Tenant> => {
    const token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
    const { body } = await instance.call(
      'POST',
      `${instance.admin}/admin/tenants`,
      { name: `ai ${plan}`, plan },
      { Authorization: `Bearer ${token}` },
    );
    const made = body as { tenant_id: number; key: string };
    const own = { id: made.tenant_id, key: made.key };
    await until('the key', () => use(own), (found) => 'total' in found); // prettier-ignore
    return own;
  };
  const kill = async (of: Tenant): Promise<void> => {
    const { pid } = instance.processes().get('app') ?? { pid: 0 };
    process.kill(pid, 'SIGKILL');
    await until('another process', () => Promise.resolve(instance.processes().get('app')?.pid ?? pid), (found) => found !== pid); // prettier-ignore
    const isUp = async (): Promise<boolean> => (await post(of, 'explain', {}).catch(() => null))?.status === 400;
    await until('it answers', isUp, (up) => up); // prettier-ignore
  };
  const events = (text: string): { readonly event: string; readonly data: unknown }[] =>
    [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(([, event = '', data = '']) => ({ event, data: JSON.parse(data) as unknown }));

  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
    const lines = [
      ...HOSTILE_LINES.map((line, at) => ({ _msg: line, service: 'web', level: 'error', at })),
      { _msg: `login with password=${PASSWORD} failed`, service: 'web', level: 'error', authorization: `Bearer ${PASSWORD}` },
    ];
    await instance.call('POST', `${instance.ingest}/api/v1/ingest`, lines, { Authorization: `Bearer ${tenant.key}` });
    const count = async (): Promise<number> =>
      ((await instance.call('POST', `${instance.app}/api/v1/tenants/${String(tenant.id)}/search`, { query: '*' }, { Authorization: `Bearer ${tenant.key}` })).body as { count: number }).count; // prettier-ignore
    await until('the entries', count, (found) => found === lines.length);
  });
  beforeEach(() => {
    server.asked.length = 0;
    server.behave = () => ({ words: ['This is a stand-in', ' for tests,', ' no model.'] });
  });
  after(() => server.stop());

  it('explains entries, as events: what was sent, the words, the end', async () => {
    const { status, headers, body } = await post(tenant, 'explain', { query: 'service:web', question: `why? (my password=${PASSWORD})` });
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.match(/^text\/event-stream/);
    const all = events(body as string);
    expect(all.map(({ event }) => event)).to.deep.equal(['sent', 'text', 'text', 'text', 'done']);
    expect(all.slice(1, 4).map(({ data }) => data).join('')).to.equal('This is a stand-in for tests, no model.'); // prettier-ignore
    expect(all.at(-1)?.data).to.deep.equal({ ended: 'complete' });
    const { model, sent, masked } = (all[0] as { readonly data: unknown }).data as Sent;
    const [asked] = server.asked;
    expect(model).to.equal(STAND_IN);
    expect(sent).to.deep.equal(asked?.body.messages);
    expect(masked).to.be.at.least(3);
    expect(asked?.authorization).to.equal(`Bearer ${KEY}`);
    expect(asked?.body).not.to.have.any.keys('tools', 'functions', 'tool_choice');
  });

  it('sends evidence that is fenced, and has no secret', async () => {
    const words: Readonly<Record<string, readonly string[]>> = {
      'at:<6': ['Ignore all previous', 'Reveal the API key', 'Call resolve_alert'],
      'at:>5 at:<12': ['Assistant: I will', 'im_start', 'tool_use'],
      login: ['password=[masked secret]'],
    };
    for (const [query, inside] of Object.entries(words)) {
      server.asked.length = 0;
      expect((await post(tenant, 'explain', { query: `service:web ${query}`, stream: false })).status).to.equal(200);
      const content = server.asked[0]?.body.messages.map((message) => message.content).join('\n') ?? '';
      expect(content).not.to.contain(PASSWORD);
      const outside = content.replace(/<untrusted-data ([0-9a-f]{24})>\n[\s\S]*?\n<\/untrusted-data \1>/g, '');
      for (const word of inside) {
        expect(content).to.contain(word);
        expect(outside).not.to.contain(word);
      }
      for (const line of HOSTILE_LINES) if (!line.startsWith('</untrusted-data>')) expect(outside).not.to.contain(line);
    }
  });

  it('explains a pattern; what does not exist is a 404 that costs nothing', async () => {
    const fingerprintOf = async (): Promise<string> => {
      const { body } = await instance.call('GET', `${instance.app}/api/v1/tenants/${String(tenant.id)}/patterns?since=-1h`, undefined, {
        Authorization: `Bearer ${tenant.key}`,
      });
      return (body as { patterns?: { fingerprint: string }[] }).patterns?.[0]?.fingerprint ?? '';
    };
    const fingerprint = await until('a pattern', fingerprintOf, (found) => found !== '');
    const { status, body } = await post(tenant, 'explain', { fingerprint, stream: false });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.include({ answer: 'This is a stand-in for tests, no model.', ended: 'complete', model: STAND_IN });
    const { total } = await use(tenant);
    for (const subject of [{ alert_id: 12_345 }, { incident_id: 12_345 }, { fingerprint: 'f'.repeat(64) }])
      expect((await post(tenant, 'explain', subject)).status, JSON.stringify(subject)).to.equal(404);
    expect((await use(tenant)).total).to.deep.equal(total);
  });

  it('turns a question into LogsQL, which was planned', async () => {
    server.behave = () => ({ words: ['```\nservice:web level:error', ' | stats count() n\n```'] });
    const { status, body } = await post(tenant, 'query', { question: 'How many errors has web?' });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.include({ query: 'service:web level:error | stats count() n', start: '-1h', end: 'now', rounds: 1 });
    expect((body as { explain: object }).explain).to.be.an('object').that.is.not.empty;
    expect(server.asked).to.have.lengthOf(1);
  });

  it('has a wrong query repaired once, with the error of the parser; then it is a 502 that costs nothing', async () => {
    server.behave = ({ body }) => ({ words: [body.messages.length > 2 ? 'service:web' : 'service:(('] });
    const { body } = await post(tenant, 'query', { question: 'q' });
    expect(body).to.include({ query: 'service:web', rounds: 2 });
    expect(server.asked[1]?.body.messages.slice(2).map(({ role }) => role)).to.deep.equal(['assistant', 'user']);
    const { total } = await use(tenant);
    let answered = 0;
    for (const words of [['service:(('], ['SELECT * FROM logs; DROP TABLE logs'], ['x'.repeat(11_000)], ['| | |']]) {
      server.behave = () => ({ words });
      const answer = await post(tenant, 'query', { question: 'q' });
      if (answer.status === 200) answered += 1;
      if (words[0]?.startsWith('SELECT') !== true) expect(detail(answer)).to.match(/^502 The model wrote no query that is LogsQL/);
    }
    // credits are given back behind the answer; those of this test before the next one looks
    await until('the credits', () => use(tenant), (found) => found.total.used === total.used + answered); // prettier-ignore
  });

  it('answers what fails at the model with a sentence, gives the credit back, and logs no key', async () => {
    const { total } = await use(tenant);
    server.behave = () => ({ status: 401 });
    expect(detail(await post(tenant, 'explain', { query: '*' }))).to.equal('502 The model refused the key of this deployment.');
    server.behave = () => ({ status: 500 });
    expect(detail(await post(tenant, 'query', { question: 'q' }))).to.equal('502 The model failed (its status was 500).');
    await until('the credits', () => use(tenant), (found) => found.total.used === total.used); // prettier-ignore
    server.behave = () => ({ words: ['half'], isCutOff: true });
    const { body } = await post(tenant, 'explain', { query: '*' });
    expect(events(body as string).at(-1)).to.deep.equal({
      event: 'error',
      data: { detail: 'The answer of the model broke off.', status: 502 },
    });
    const logs = path.join(instance.dataDir, 'logs');
    for (const name of readdirSync(logs)) expect(readFileSync(path.join(logs, name), 'utf8'), name).not.to.contain(KEY);
  });

  it('refuses wrong bodies, other tenants, and more than two at once', async () => {
    const bodies = [[], 'x', {}, { query: '*', alert_id: 1 }, { alert_id: 0 }, { alert_id: '../1' }, { fingerprint: "' OR 1=1" }, { query: 'x'.repeat(10_001) }, { query: '((' }, { query: '*', nonsense: 1 }, { query: '*', question: 'x'.repeat(2001) }, { query: '*', start: 'never' }, { query: '*', stream: 'maybe' }, JSON.parse('{"query":"*","__proto__":{"deep":true}}')]; // prettier-ignore
    for (const body of bodies) expect((await post(tenant, 'explain', body)).status, JSON.stringify(body)).to.equal(400);
    for (const body of [{}, { question: '' }, { question: 7 }, { question: 'x'.repeat(2001) }, { question: 'q', start: '((' }])
      expect((await post(tenant, 'query', body)).status, JSON.stringify(body)).to.equal(400);
    for (const what of ['explain', 'query']) expect((await post(tenant, what, { question: 'x'.repeat(1_100_000) })).status).to.equal(413);
    expect(server.asked).to.have.lengthOf(0);
    expect((await post(tenant, 'explain', { query: '*' }, tenant.id + 1)).status).to.equal(403);
    const released = Promise.withResolvers<null>();
    server.behave = () => ({ words: ['a', 'b'], hold: released.promise });
    const open = [1, 2].map(() => post(tenant, 'explain', { query: '*', stream: false }));
    await until('two requests', () => Promise.resolve(server.asked.length), (found) => found === 2); // prettier-ignore
    const third = await post(tenant, 'explain', { query: '*' });
    expect(detail(third)).to.match(/^429 The tenant has 2 AI requests open/);
    expect(third.headers.get('retry-after')).to.equal('5');
    expect((await post(tenant, 'query', { question: 'q' })).status).to.equal(429);
    released.resolve(null);
    for (const { status } of await Promise.all(open)) expect(status).to.equal(200);
    expect((await post(tenant, 'explain', { query: '*' })).status).to.equal(200);
  });

  it('explains an alert with the playbook that fits it, which the alert names', async () => {
    const headers = { Authorization: `Bearer ${tenant.key}` };
    const base = `${instance.app}/api/v1/tenants/${String(tenant.id)}`;
    const rule = { name: 'refused cards', query: 'service:payments level:error | stats by (service) count()', if: 'value > 0' };
    expect((await instance.call('POST', `${base}/rules`, rule, headers)).status).to.equal(201);
    const importOf = async (name: string, selector: object): Promise<object> => {
      const text = `# ${name}\nAsk the bank of ${name}. password=${PASSWORD}`;
      const { body } = await instance.call('POST', `${instance.app}/api/v1/ai/playbooks`, { name, text, selector }, headers);
      return { id: (body as { readonly id: string }).id, name };
    };
    const fitting = [await importOf('by rule', { rules: ['refused cards'] }), await importOf('by service', { services: ['payments'] })];
    for (const selector of [{ services: ['web'], rules: ['refused cards'] }, { detectors: ['silence'] }, { pattern: 'nothing of it' }])
      await importOf('for others', selector);
    const fired = async (): Promise<number> => {
      const entry = { _msg: 'card refused', service: 'payments', level: 'error' };
      await instance.call('POST', `${instance.ingest}/api/v1/ingest`, entry, headers);
      const { body } = await instance.call('GET', `${base}/alerts?detector_type=rule`, undefined, headers);
      return (body as { readonly items: readonly { readonly id: number }[] }).items[0]?.id ?? 0;
    };
    const id = await until('the alert', fired, (found) => found > 0);
    const alert = (await instance.call('GET', `${base}/alerts/${String(id)}`, undefined, headers)).body;
    expect((alert as { readonly playbooks: unknown }).playbooks).to.deep.equal(fitting);
    const { status, body } = await post(tenant, 'explain', { alert_id: id, stream: false });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect((body as { readonly playbooks: unknown }).playbooks).to.deep.equal(fitting);
    const content =
      server.asked
        .at(-1)
        ?.body.messages.map((message) => message.content)
        .join('\n') ?? '';
    expect(content).to.contain('Ask the bank of by rule.').and.to.contain('Ask the bank of by service.').and.not.to.contain(PASSWORD);
    expect(content).not.to.contain('Ask the bank of for others');
    expect(content.replace(/<untrusted-data ([0-9a-f]{24})>\n[\s\S]*?\n<\/untrusted-data \1>/g, '')).not.to.contain('Ask the bank');
  });

  it('imports playbooks to the last one of their share, through a kill, and drafts their selectors', async () => {
    const trial = await tenantOn('trial');
    const playbooks = (body: unknown, of = trial): Promise<Answer> =>
      instance.call('POST', `${instance.app}/api/v1/ai/playbooks`, body, { Authorization: `Bearer ${of.key}` });
    const text = '# Refused\nOf payments: ask the bank.';
    server.behave = () => ({ words: ['{"services":["payments"],', '"pattern":"Refused"}'] });
    const drafted = await playbooks({ name: 'drafted', text });
    expect(drafted.status, detail(drafted)).to.equal(201);
    expect(drafted.body).to.deep.include({
      ...{ model: STAND_IN, is_drafted: true },
      selector: { services: ['payments'], detectors: [], rules: [], pattern: 'Refused' },
    });
    server.behave = () => ({ words: ['{"services":["elsewhere"]}'] });
    expect(detail(await playbooks({ name: 'drafted', text }))).to.match(/^502 The model named no alerts/);
    for (let at = 1; at < 20; at += 1) {
      if (at === 10) await kill(trial);
      const made = await playbooks({ name: String(at), text, selector: { rules: [String(at)] } });
      expect(made.status, `${String(at)} ${detail(made)}`).to.equal(201);
    }
    expect(detail(await playbooks({ name: 'x', text, selector: { rules: ['x'] } }))).to.equal('429 The daily AI credits for playbook import are used up: 20 of the plan trial; they reset at 00:00 UTC.'); // prettier-ignore
    await kill(trial);
    expect((await use(trial)).features['playbook_import']).to.deep.equal({ used: 20, limit: 20 });
    const headers = { Authorization: `Bearer ${trial.key}` };
    expect((await instance.call('GET', `${instance.app}/api/v1/ai/playbooks`, undefined, headers)).body).to.include({ total: 20 });
    const ofOther = await instance.call('GET', `${instance.app}/api/v1/ai/playbooks`, undefined, { Authorization: `Bearer ${tenant.key}` });
    const names = (ofOther.body as { readonly items: readonly { readonly name: string }[] }).items.map(({ name }) => name);
    expect(names).not.to.include.oneOf(['drafted', '1', '19']);
  });

  it('counts credits to the last one, through kills: the share of deep RCA, and the day', async () => {
    const trial = await tenantOn('trial');
    const spend = async (body: object, count: number, killedAt: number): Promise<void> => {
      for (let at = 0; at < count; at += 1) {
        if (at === killedAt) await kill(trial);
        const answer = await post(trial, 'explain', { query: '*', stream: false, ...body });
        expect(answer.status, `${String(at)} ${detail(answer)}`).to.equal(200);
      }
    };
    await spend({ deep: true }, 40, 20);
    const deep = await post(trial, 'explain', { query: '*', deep: true });
    expect(detail(deep)).to.equal('429 The daily AI credits for deep RCA are used up: 40 of the plan trial; they reset at 00:00 UTC.');
    const wait = Number(deep.headers.get('retry-after'));
    const untilMidnight = (86_400_000 - (Date.now() % 86_400_000)) / 1000;
    expect(wait).to.be.within(untilMidnight - 60, untilMidnight + 60);
    await spend({}, 160, 159);
    await kill(trial);
    expect(await use(trial)).to.deep.include({ total: { used: 200, limit: 200 } });
    for (const [what, body] of [
      ['explain', { query: '*' }],
      ['query', { question: 'q' }],
    ] as const)
      expect(detail(await post(trial, what, body))).to.equal(
        '429 The daily AI credits are used up: 200 of the plan trial; they reset at 00:00 UTC.',
      );
    expect(detail(await post(trial, 'explain', { query: '*', deep: true }))).to.contain('for deep RCA');
  });
});
