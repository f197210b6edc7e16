/** Returns whether something that this process needs is available. */
export type Probe = () => Promise<boolean> | boolean;

const DEADLINE_MS = 2000;

/** The readiness checks of this process, by name. */
export class Checks {
  readonly #probes = new Map<string, Probe>();
  readonly #warnings: (() => string | null)[] = [];

  /** Adds a check; one of the same name is replaced. */
  register(name: string, probe: Probe): void {
    this.#probes.set(name, probe);
  }

  /** Adds a check for a warning that does not affect readiness; null: no warning. */
  registerWarning(warning: () => string | null): void {
    this.#warnings.push(warning);
  }

  get warnings(): string[] {
    return this.#warnings.map((warning) => warning()).filter((sentence) => sentence !== null);
  }

  /** Runs all checks at once; one that throws or takes longer than 2 s has failed. */
  async run(): Promise<Record<string, boolean>> {
    const results = await Promise.all([...this.#probes].map(async ([name, probe]) => [name, await holds(probe)] as const));
    return Object.fromEntries(results);
  }
}

async function holds(probe: Probe): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => {
      resolve(false);
    }, DEADLINE_MS);
  });
  try {
    return await Promise.race([Promise.resolve().then(probe), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
