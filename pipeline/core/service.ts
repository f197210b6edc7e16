/** Something that runs: started once, stopped once; `stop()` is safe twice and before `start()`. */
export interface Service {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts services in order (downstream first); if one fails, those already started are stopped again. */
export async function startAll(services: readonly Service[]): Promise<void> {
  for (const [index, service] of services.entries()) {
    try {
      await service.start();
    } catch (error) {
      await stopAll(services.slice(0, index));
      throw new Error(`${service.name} did not start.`, { cause: error });
    }
  }
}

/** Stops services in reverse order; an error of one does not keep the others from stopping. */
export async function stopAll(services: readonly Service[]): Promise<void> {
  const failures: unknown[] = [];
  for (const service of [...services].reverse()) {
    try {
      await service.stop();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'Some services did not stop cleanly.');
}

/** Services that do not need each other, as one: all of them start, and stop, at the same time. */
export function together(name: string, services: readonly Service[]): Service {
  const all = async (step: (service: Service) => Promise<void>): Promise<readonly unknown[]> => {
    const results = await Promise.allSettled(services.map(step));
    return results.flatMap((result): unknown[] => (result.status === 'rejected' ? [result.reason] : []));
  };
  const stop = async (): Promise<void> => {
    const failures = await all((service) => service.stop());
    if (failures.length > 0) throw new AggregateError(failures, `${name} did not stop cleanly.`);
  };
  return {
    name,
    async start() {
      const failures = await all((service) => service.start());
      if (failures.length === 0) return;
      await stop().catch(() => undefined); // why it did not start is the cause
      throw failures[0];
    },
    stop,
  };
}
