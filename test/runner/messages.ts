/** What a process that runs test files sends to the runner, in order. Files are relative to the root of the clone. */
export type Message =
  | { readonly kind: 'begun'; readonly file: string }
  | {
      readonly kind: 'test';
      readonly file: string;
      readonly title: string;
      readonly outcome: Outcome;
      readonly ms: number;
      readonly error?: string;
    }
  | { readonly kind: 'ended'; readonly file: string; readonly ms: number; readonly cpuMs: number }
  /** Of a batch: all its files have run. */
  | { readonly kind: 'done' };

export type Outcome = 'passed' | 'failed' | 'skipped';

/** What a process is to run next: files that are loaded together, before any test of them. No files: it is to end. */
export type Batch = { readonly files: readonly string[]; readonly timeoutMs: number };
