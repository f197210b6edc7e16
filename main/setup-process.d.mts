/** Runs the setup program (topics, tables, the first tenant) to its end. */
export function runSetup(options: {
  /** The folder of the compiled program. */
  readonly dist: string;
  readonly dataDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}): Promise<{ readonly tenantId: number; readonly key: string }>;
