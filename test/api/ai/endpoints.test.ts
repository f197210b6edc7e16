import { expect } from 'chai';
import { createAiEndpoints } from '../../../api/ai/endpoints.ts';
import { ModelClient } from '../../../api/ai/model-client.ts';
import { createPlaybookRoutes } from '../../../api/ai/playbook-routes.ts';
import { effectivePlan } from '../../../api/control/flags.ts';
import type { Exchange } from '../../../api/http/exchange.ts';
import type { RouteContext } from '../../../api/http/route.ts';
import { PLANS } from '../../../api/tenants/plans.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';

const NEVER = {} as never;
const model = new ModelClient({ access: { url: 'http://127.0.0.1:9', key: '', model: 'none' } });

/** What a path answers before it reads a body; the body is one that is refused. */
async function refusalOf(path: string, plan: string, flags: Readonly<Record<string, boolean>>, isConfigured: boolean): Promise<string> {
  const endpoint = createAiEndpoints({
    model: isConfigured ? model : null,
    credits: NEVER,
    atOnce: NEVER,
    playbooksFor: NEVER,
    endpoints: [],
  }).find((one) => one.path.endsWith(path));
  const exchange = { principal: { plan: effectivePlan({ plan, flags }) }, body: () => Promise.resolve([]) } as unknown as Exchange;
  try {
    await endpoint?.handle(exchange);
    return 'none';
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return `${String(error.status)} ${error.slug} ${error.message}`;
  }
}

describe('the gates of AI', () => {
  for (const path of ['/ai/explain', '/ai/query'])
    for (const { name, features } of PLANS)
      for (const flag of [undefined, true, false])
        for (const isConfigured of [true, false])
          it(`${path}: ${name}, flag ${String(flag)}, ${isConfigured ? 'with' : 'without'} a model`, async () => {
            const isOn = name !== 'trial_expired' && (flag ?? features.ai);
            const expected = !isOn
              ? `403 plan_gate AI is not available on your plan (${name}).`
              : isConfigured
                ? '400 invalid_body The body must be a JSON object.'
                : '503 plan_gate AI is not configured in this deployment (LOGWEIR_AI_URL, LOGWEIR_AI_MODEL).';
            expect(await refusalOf(path, name, flag === undefined ? {} : { ai: flag }, isConfigured)).to.equal(expected);
          });

  // what is wrong with the body comes before what a model is needed for
  const bodies: readonly (readonly [what: string, body: unknown, isModelNeeded: boolean])[] = [
    ['wrong', [], false],
    ['without a selector', { name: 'n', text: 't' }, true],
  ];
  for (const [what, body, isModelNeeded] of bodies)
    for (const { name, features } of PLANS)
      for (const flag of [undefined, true, false])
        it(`/ai/playbooks, ${what}: ${name}, flag ${String(flag)}, without a model`, async () => {
          const isOn = name !== 'trial_expired' && (flag ?? features.ai);
          const expected = !isOn
            ? `403 plan_gate AI is not available on your plan (${name}).`
            : isModelNeeded
              ? '503 plan_gate AI is not configured in this deployment (LOGWEIR_AI_URL, LOGWEIR_AI_MODEL).'
              : '400 invalid_body The body must be a JSON object.';
          const routes = createPlaybookRoutes({ model: null, credits: NEVER, atOnce: NEVER, control: NEVER, settled: NEVER });
          const route = routes.find(({ method }) => method === 'POST');
          const plan = effectivePlan({ plan: name, flags: flag === undefined ? {} : { ai: flag } });
          const context = { principal: { plan }, body: () => Promise.resolve(body) } as unknown as RouteContext;
          const refused = await route?.handle(context).catch((error: unknown) => error);
          if (!(refused instanceof HttpError)) throw new Error('It was not refused.');
          expect(`${String(refused.status)} ${refused.slug} ${refused.message}`).to.equal(expected);
        });
});
