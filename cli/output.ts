import { once } from 'node:events';

/** Where a command writes, and whether people read it there. */
export type Output = {
  out(text: string): void;
  err(text: string): void;
  /** Resolves when more can be written without being kept in memory. */
  drained?(): Promise<void>;
  /** Standard output is a terminal: results are coloured lines there, and NDJSON elsewhere. */
  readonly isTerminal: boolean;
};

// the reader of the pipe may have closed it (`| head`)
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

export const processOutput: Output = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  drained: async () => {
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain');
  },
  isTerminal: process.stdout.isTTY,
};

/** The exit codes of every command; docs/cli.md has the same. */
export const EXIT = { ok: 0, failed: 1, usage: 2, refused: 3 } as const;

/** The command line, or the query in it, is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The service refused the key: exit code 3. */
export class RefusedError extends Error {}

/** Control characters as escapes, so that logged strings cannot move the cursor. Tabs stay. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- it is control characters that must not get out
  return text.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g, (char) =>
    char === '\n' ? '\\n' : char === '\r' ? '\\r' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
