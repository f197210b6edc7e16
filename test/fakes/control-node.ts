import { pino } from 'pino';
import { ControlStore } from '../../api/control/control-store.ts';
import { FakeControlLog, type FakeControlTopic } from './control-log.ts';

export const PEPPER = 'a pepper for tests';

/** A node's control store over a topic in memory, started unless told otherwise. */
export async function controlNode(
  topic: FakeControlTopic,
  options: { readonly start?: false; readonly writeMs?: number } = {},
): Promise<{ readonly store: ControlStore; readonly log: FakeControlLog }> {
  const log = new FakeControlLog(topic);
  const store = new ControlStore({
    log,
    pepper: PEPPER,
    logger: pino({ level: 'silent' }),
    retryMs: 10,
    ...(options.writeMs === undefined ? {} : { writeMs: options.writeMs }),
  });
  if (options.start !== false) await store.start();
  return { store, log };
}
