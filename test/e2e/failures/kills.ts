import { until, type Instance } from '../instance.ts';
import { pace } from '../pace.ts';

/** Between two kills, so many bodies are acknowledged. */
const BODIES = 5;

/** What was sent while processes were killed: the names of what was acknowledged, and the bytes of its bodies. */
export type Acknowledged = { readonly names: ReadonlySet<string>; readonly bytes: number };

/** What one body holds; `isTaken` says whether it was acknowledged. */
export type Sent = { readonly names: readonly string[]; readonly bytes: number; readonly isTaken: boolean };

/** Sends one body after the other (`send`, with its number) while each of the roles is ended with SIGKILL, in their order. Resolves when the last one runs again. */
export async function killEach(instance: Instance, roles: readonly string[], send: (body: number) => Promise<Sent>): Promise<Acknowledged> {
  const names = new Set<string>();
  let [bytes, bodies, isOver] = [0, 0, false];
  const sending = (async (): Promise<void> => {
    for (let body = 0; !isOver; body++) {
      const sent = await send(body);
      if (sent.isTaken) {
        for (const name of sent.names) names.add(name);
        bytes += sent.bytes;
        bodies += 1;
      }
      await pace();
    }
  })();
  for (const role of roles) {
    const wanted = bodies + BODIES;
    await until('more that is acknowledged', () => Promise.resolve(bodies), (count) => count >= wanted); // prettier-ignore
    const { pid = 0, restarts = 0 } = instance.processes().get(role) ?? {};
    process.kill(pid, 'SIGKILL');
    await until(`${role} again`, () => Promise.resolve(instance.processes().get(role)), (now) => now !== undefined && now.restarts > restarts && now.pid !== pid); // prettier-ignore
  }
  isOver = true;
  await sending;
  return { names, bytes };
}
