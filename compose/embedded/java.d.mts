/** Finds Java, and Maven where it is asked for. What is missing is installed with apt if that can be done; else a StartError. */
export function findJava(options: {
  readonly maven: boolean;
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal;
}): Promise<{ readonly java: string; readonly maven: string }>;

/** Runs a program to its end and answers its exit code (-1 where it could not run) and the last 64 KiB of what it printed. */
export function run(
  command: string,
  args: readonly string[],
  options?: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly signal?: AbortSignal },
): Promise<{ readonly code: number; readonly output: string }>;

/** The full path of a program of the PATH. */
export function findProgram(name: string): string | null;
