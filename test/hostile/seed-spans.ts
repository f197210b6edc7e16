import { sendAll } from '../../bench/load.ts';
import { until, type Instance } from '../e2e/instance.ts';
import type { Tenant } from './seed.ts';
import { BIG_TRACE, COPIED_TRACE, CYCLIC_TRACE } from './span-attacks.ts';
import { attributeBytes, ofService, spanBytes, traceIdOf, type AttackSpan } from './span-bytes.ts';

const BATCH = 4000;
const CONNECTIONS = 4;
/** Spans of the traces that are odd and not big. */
const FEW = 4000;

/** One of the spans of the attacker: of ten the first is of a trace of its own and a service of its own. */
function spanOf(index: number): AttackSpan {
  const more = attributeBytes('user.id', `u${String(index % 997)}`);
  if (index < FEW) return { trace: CYCLIC_TRACE, span: index + 1, parent: ((index + 1) % FEW) + 1, more };
  if (index < 2 * FEW) return { trace: COPIED_TRACE, span: (index % 10) + 1, more };
  return index % 10 === 0
    ? { trace: 1000 + index, span: 1, name: `n${String(index)}`, more }
    : { trace: BIG_TRACE, span: index, parent: index - 1, more };
}

/** Gives the attacker spans: most of them in one trace, others with names of their own, in circles, and sent again and again. */
export async function seedSpans(instance: Instance, tenant: Tenant, count: number): Promise<void> {
  const all = Math.max(count, 3 * FEW);
  await sendAll({
    count: Math.ceil(all / BATCH),
    connections: CONNECTIONS,
    request: (number) => {
      const spans = Array.from({ length: Math.min(BATCH, all - number * BATCH) }, (_none, index) =>
        spanBytes(spanOf(number * BATCH + index)),
      );
      return {
        url: `${instance.ingest}/v1/traces`,
        key: tenant.key,
        contentType: 'application/x-protobuf',
        body: ofService(number % 2 === 0 ? 'attack' : `s${String(number)}`, spans),
      };
    },
  });
  // every second body is of a service of its own
  const services = 1 + Math.floor(Math.ceil(all / BATCH) / 2);
  const headers = { Authorization: `Bearer ${tenant.key}` };
  const path = `${instance.app}/api/v1/tenants/${String(tenant.id)}`;
  await until(
    'the spans of the attacker',
    async () => {
      const [list, trace] = [
        await instance.call('GET', `${path}/services`, undefined, headers),
        await instance.call('GET', `${path}/traces/${traceIdOf(BIG_TRACE)}/logs`, undefined, headers),
      ];
      return { services: (list.body as { services?: unknown[] }).services?.length, status: trace.status };
    },
    (found) => found.services === services && found.status === 200,
  );
}
