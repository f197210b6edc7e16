import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createRuleRoutes } from '../../api/alerts/rule-routes.ts';
import { createTenant } from '../../api/control/accounts.ts';
import { appEndpoint } from '../../api/http/endpoint.ts';
import threeTimes from '../../examples/detectors/three-times.ts';
import type { Json, Setting } from '../../pipeline/core/setting.ts';
import { rules } from '../../pipeline/processors/rules/rules.ts';
import { MOST_RULES, ruleKey, ruleSettingFault } from '../../pipeline/processors/rules/rules-fold.ts';
import { FakeControlTopic } from '../fakes/control-log.ts';
import { controlNode } from '../fakes/control-node.ts';
import { FakeRunner } from '../fakes/detector-runner.ts';
import { FakeKeyStore } from '../fakes/key-store.ts';
import { startHost } from '../fakes/test-host.ts';
import { DetectorWorld, type Came } from '../pipeline/alerting/rules/detector-world.ts';

const root = path.resolve(import.meta.dirname, '../..');
const folder = path.join(root, 'examples/rules');
const files = readdirSync(folder).sort();
const entries = (count: number, entry: object): Came => ({ entries: Array.from({ length: count }, () => entry) });

/** What comes in a minute from which the rule fires, or does not yet; and how its alert begins. */
const RUNS: Readonly<Record<string, { readonly came: (isHot: boolean) => Came; readonly title: RegExp }>> = {
  'failed-payments.json': {
    came: (isHot) => entries(30, { service: 'payments', region: 'eu', status: isHot ? 503 : 200 }),
    title: /^Entries with status:>=500 of region eu rose to 150, rule 'failed payments' fires above 50$/,
  },
  'slow-checkout.json': {
    came: (isHot) => entries(20, { service: 'checkout', duration_ms: isHot ? 900 : 100 }),
    title: /^p99 of duration_ms of checkout rose to \d+, expected 0 to \d+, rule 'slow checkout'$/,
  },
};

/** The rule of a file, as `POST /rules` has it set. */
async function setBy(file: string): Promise<Json> {
  const { store: control } = await controlNode(new FakeControlTopic());
  await createTenant(control, 'a', 'team');
  const checks = [{ ...rules, checkSetting: (setting: Setting) => ruleSettingFault(setting, [threeTimes.name]) }];
  const places = { processor: rules.name, slots: MOST_RULES, keyOf: ruleKey };
  const routes = createRuleRoutes({ control, peers: { query: () => Promise.resolve([]) }, checks, places, detectorOf: () => null });
  const host = await startHost({ keys: new FakeKeyStore({ one: {} }), endpoints: routes.map((route) => appEndpoint(route)) });
  const answer = await fetch(`${host.url}/api/v1/tenants/1/rules`, {
    method: 'POST',
    headers: { Authorization: 'Bearer one', 'Content-Type': 'application/json' },
    body: readFileSync(path.join(folder, file)),
  });
  await host.stop();
  expect(answer.status, await answer.text()).to.equal(201);
  return control.settings[0]?.value ?? null;
}

describe('the examples of rules', () => {
  it('are named by docs/rules.md', () => {
    for (const file of files) expect(readFileSync(path.join(root, 'docs/rules.md'), 'utf8')).to.contain(`examples/rules/${file}`);
  });

  for (const file of files)
    it(`are taken, and fire: ${file}`, async () => {
      const { came, title } = RUNS[file] ?? { came: () => ({ entries: [] }), title: /^$/ };
      const world = new DetectorWorld(new FakeRunner([threeTimes]));
      world.set(await setBy(file));
      await world.run(75, () => [came(false)]);
      expect(world.alerts).to.deep.equal([]);
      await world.run(13, () => [came(true)]);
      expect(world.alerts).to.have.length(1);
      expect(world.alerts[0]?.title).to.match(title);
    });
});
