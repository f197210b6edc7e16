import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpServer } from '../api/http/http-server.ts';
import type { Service } from '../pipeline/core/service.ts';

export type DrainOptions = {
  /** The public listeners of the process. */
  readonly hosts: readonly Pick<HttpServer, 'drain' | 'stop'>[];
  /** How long they go on taking requests after `/ready` fails, milliseconds. */
  readonly drainMs: number;
  /** Ends that wait. */
  readonly hurry: AbortSignal;
  /** Is given whether the process takes requests, for its `/ready`. */
  readonly mark: (open: boolean) => void;
};

/**
 * Graceful shutdown: the last to start and the first to stop. Its stop fails `/ready`, while answers already send their clients elsewhere.
 * After `drainMs`, in which pollers of `/ready` see it, all hosts begin to close at once.
 */
export function drainService({ hosts, drainMs, hurry, mark }: DrainOptions): Service {
  let isOpen = false;
  return {
    name: 'entrance',
    start: () => {
      isOpen = true;
      mark(true);
      return Promise.resolve();
    },
    stop: async () => {
      mark(false);
      for (const host of hosts) host.drain();
      if (isOpen && hosts.length > 0) await sleep(drainMs, undefined, { signal: hurry }).catch(() => undefined);
      isOpen = false;
      // each is waited for in its turn, by the caller that stops the services
      for (const host of hosts) host.stop().catch(() => undefined);
    },
  };
}
