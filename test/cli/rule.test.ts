import { expect } from 'chai';
import { adminRoutes } from '../../api/admin/admin-routes.ts';
import { Peers } from '../../api/admin/peers.ts';
import { adminRuleRoutes } from '../../api/alerts/rule-routes.ts';
import { createTenant } from '../../api/control/accounts.ts';
import type { ControlStore } from '../../api/control/control-store.ts';
import { adminCommand } from '../../cli/admin.ts';
import { ruleDetector } from '../../main/roles/detection.ts';
import type { Setting } from '../../pipeline/core/setting.ts';
import { rules } from '../../pipeline/processors/rules/rules.ts';
import { MOST_RULES, ruleKey, ruleSettingFault } from '../../pipeline/processors/rules/rules-fold.ts';
import { FakeControlTopic } from '../fakes/control-log.ts';
import { controlNode } from '../fakes/control-node.ts';
import { TOKEN, listen, type Listener } from '../fakes/internal-listener.ts';

type Ran = { readonly code: number; readonly out: string; readonly err: string };
type Shown = Readonly<Record<string, unknown>> & { readonly id: string; readonly created_at: unknown };

const QUERY = 'level:error | stats count()';
const GOOD = ['--tenant', '1', '--query', QUERY, '--if', 'value > 5'];

describe('logweir admin rule', () => {
  let control: ControlStore;
  let app: Listener;

  before(async () => {
    control = (await controlNode(new FakeControlTopic())).store;
    for (const name of ['a', 'b']) await createTenant(control, name, 'team');
    const peers = new Peers('127.0.0.1', TOKEN);
    const places = { processor: rules.name, slots: MOST_RULES, keyOf: ruleKey };
    const checks = [{ ...rules, checkSetting: (setting: Setting) => ruleSettingFault(setting, ['mine', 'gone']) }];
    const custom = [{ name: 'mine', version: 'v1' }] as never;
    const routes = adminRuleRoutes({ control, peers, checks, places, detectorOf: (condition) => ruleDetector({ control, custom }, condition) }); // prettier-ignore
    app = await listen('app', { peers, control, adminRoutes: [...adminRoutes(control, peers), ...routes] });
  });

  async function rule(...argv: string[]): Promise<Ran> {
    let [out, err] = ['', ''];
    const env = { LOGWEIR_ADMIN_TOKEN: TOKEN, LOGWEIR_ADMIN_PORT: new URL(app.url).port };
    const code = await adminCommand(['rule', ...argv], env, { out: (text) => (out += text), err: (text) => (err += text) });
    return { code, out, err };
  }
  const shown = async (tenant: string): Promise<readonly Shown[]> =>
    JSON.parse((await rule('list', '--tenant', tenant, '--json')).out) as readonly Shown[];
  const refused = async (code: number, sentence: RegExp, ...argv: string[]): Promise<void> => {
    const ran = await rule(...argv);
    expect([ran.code, ran.out]).to.deep.equal([code, '']);
    expect(ran.err).to.match(sentence);
  };

  it('creates, lists, shows, changes and deletes rules of a tenant', async () => {
    const more = ['--by', 'service, status', '--every', '5m', '--for', '3', '--name', 'errors', '--severity', 'critical'];
    const made = await rule('create', ...GOOD, ...more);
    expect([made.code, made.err]).to.deep.equal([0, '']);
    expect(made.out.split('\n')[0]).to.match(/^ID +TENANT_ID +NAME +QUERY +EVERY +IF +FOR +SEVERITY +DETECTOR$/);
    const [first, ...others] = await shown('1');
    const { id, created_at: createdAt, ...fields } = first ?? { id: '', created_at: null };
    expect(others).to.deep.equal([]);
    expect(made.out).to.contain(id);
    const query = 'level:error | stats by (service, status) count(*) as "count(*)"';
    expect(fields).to.deep.equal({
      ...{ tenant_id: 1, name: 'errors', query, every: '5m', if: 'value > 5', for: 3, severity: 'critical', sensitivity: 'low' },
    });
    expect(await shown('2')).to.deep.equal([]);
    const alone = await rule('show', '--tenant', '1', '--id', id, '--json');
    expect(JSON.parse(alone.out)).to.deep.equal(first);

    // what is not named is kept
    expect((await rule('set', '--tenant', '1', '--id', id, '--if', 'value > 7', '--for', '1')).code).to.equal(0);
    expect(await shown('1')).to.deep.equal([{ ...fields, id, created_at: createdAt, if: 'value > 7', for: 1 }]);
    const deleted = await rule('delete', '--tenant', '1', '--id', id);
    expect([deleted.code, deleted.out]).to.satisfy(([code, out]: [number, string]) => code === 0 && out.includes(id));
    expect(await shown('1')).to.deep.equal([]);
  });

  it('says whether the detector of others is there that watches a rule, also where it is changed', async () => {
    for (const [condition, state] of [
      ['mine up', 'on'],
      ['gone', 'missing'],
    ] as const) {
      // prettier-ignore
      const made = await rule('create', '--tenant', '2', '--query', QUERY, '--if', condition);
      expect([made.code, made.err]).to.deep.equal([0, '']);
      expect(made.out).to.match(new RegExp(`name=${condition.split(' ')[0] ?? ''} state=${state} since=- reason=-\\n$`));
    }
    const [first] = await shown('2');
    const changed = await rule('set', '--tenant', '2', '--id', String(first?.id), '--name', 'another');
    expect([changed.code, changed.err]).to.deep.equal([0, '']);
    expect((await shown('2'))[0]).to.deep.include({ name: 'another', detector: { name: 'mine', state: 'on', since: null, reason: null } });
  });

  it('says what is wrong: 2 for a command line or a rule that is none, 1 for what is not there', async () => {
    const before = control.offset;
    await refused(2, /^The flag --query is missing\.\nUsage: logweir admin rule create --tenant TENANT/, 'create', '--tenant', '1');
    await refused(2, /^The flag --if needs a value/, 'create', '--tenant', '1', '--query', QUERY, '--if');
    await refused(2, /^Unknown argument "--when"/, 'create', ...GOOD, '--when', 'now');
    await refused(2, /^--tenant is an integer/, 'create', ...GOOD, '--tenant', 'one');
    await refused(2, /those that do: anomaly, mine, gone\.\n$/, 'create', ...GOOD, '--if', 'theirs');
    await refused(2, /compares with a number/, 'create', ...GOOD, '--if', 'value > many');
    await refused(2, /a filter and one stats pipe/, 'create', ...GOOD, '--query', 'level:error');
    await refused(2, /evaluated every 1m, 5m, 15m, 1h/, 'create', ...GOOD, '--every', '2m');
    await refused(2, /"for"/, 'create', ...GOOD, '--for', 'ever');
    await refused(1, /no such tenant|There is no tenant/i, 'create', ...GOOD, '--tenant', '99');
    await refused(1, /no such tenant|There is no tenant/i, 'list', '--tenant', '99');
    // what is another tenant's is not there
    const [other] = await shown('2');
    for (const id of [String(other?.id), '../2', 'constructor']) {
      await refused(1, /^There is no such rule\.\n$/, 'set', '--tenant', '1', '--id', id, '--name', 'x');
      await refused(1, /^There is no such rule\.\n$/, 'show', '--tenant', '1', '--id', id);
      await refused(1, /^There is no such rule\.\n$/, 'delete', '--tenant', '1', '--id', id);
    }
    await refused(2, /There is no command "admin rule change"/, 'change', '--tenant', '1');
    expect(control.offset).to.equal(before);
  });

  it('says so where there are as many as the plan has', async () => {
    for (let more = 0; more < 20; more++) expect((await rule('create', ...GOOD)).code).to.equal(0);
    await refused(1, /^There are 20 rules already; the plan team has 20\.\n$/, 'create', ...GOOD);
  });
});
