/** Parts of a process that runs: how it ended, how to end it. */
export type Running = { readonly exited: Promise<string>; readonly stop: () => Promise<void>; readonly kill: () => void };
export type Start = (context: { readonly onSpawn: (pid: number) => void; readonly signal: AbortSignal }) => Promise<Running>;
export type KeptChildOptions = {
  readonly onChange: () => void;
  readonly log: (line: string) => void;
  readonly delaysMs?: readonly number[] | undefined;
  /** Waits before a start; `setTimeout` of node:timers/promises without it. */
  readonly wait?: (ms: number | undefined, value: undefined, options: { readonly signal: AbortSignal }) => Promise<unknown>;
};

/** A process that is started again whenever it ends without being told to. */
export class KeptChild {
  constructor(name: string, start: Start, options: KeptChildOptions);
  readonly name: string;
  pid: number;
  restarts: number;
  start(): Promise<void>;
  stop(timeoutMs: number): Promise<void>;
  kill(): Promise<void>;
}
