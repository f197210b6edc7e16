import type { Proxy } from '../proxy.ts';
import type { ScenarioContext } from '../scenario.ts';

const POLL_MS = 50;

/** Does a step again and again until the time is over. The signal is aborted then, so that a step need not wait for what will not come. */
export async function untilOver(context: ScenarioContext, step: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const over = new AbortController();
  const timer = setInterval(() => {
    if (context.over()) over.abort();
  }, POLL_MS);
  try {
    while (!context.over()) await step(over.signal);
  } finally {
    clearInterval(timer);
    over.abort();
  }
}

/** Takes back all that slows a link down or stops it. */
export async function restore(proxy: Proxy): Promise<void> {
  proxy.shape({});
  proxy.hold(false);
  proxy.blackHole(false);
  await proxy.refuse(false);
}
