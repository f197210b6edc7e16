import { once } from 'node:events';
import { isatty } from 'node:tty';
import { styleText } from 'node:util';

export type Env = Readonly<Record<string, string | undefined>>;

/** Two streams that take text unchanged: those of the process, or of a test. `Output` alone writes to them. */
export type Sink = {
  out(text: string): void;
  err(text: string): void;
  /** Resolves when more can be written without being kept in memory. */
  drained?(): Promise<void>;
  /** Standard output is a terminal. */
  readonly isTerminal?: boolean;
  /** Standard error is one; by default where standard output is. */
  readonly isErrTerminal?: boolean;
  /** The width of the terminal. */
  readonly columns?: () => number;
  /** Milliseconds of a clock that runs evenly. */
  readonly now?: () => number;
};

// the reader of the pipe may have closed it (`| head`)
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

export const processSink: Sink = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  drained: async () => {
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain');
  },
  isTerminal: isatty(process.stdout.fd),
  isErrTerminal: isatty(process.stderr.fd),
  columns: () => process.stderr.columns,
};

/** The exit codes of every command; docs/cli.md has the same. */
export const EXIT = { ok: 0, failed: 1, usage: 2, refused: 3 } as const;

/** The command line, or the query in it, is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The service refused the key: exit code 3. */
export class RefusedError extends Error {}

/** As `styleText` of Node takes it. */
export type Style = Parameters<typeof styleText>[0];
/** A part of a line, with a style maybe. Styles become escape sequences in `Output`, where they are shown, and nowhere else. */
export type Piece = string | { readonly text: string; readonly style: Style };
/** What is written for people. */
export type Text = string | readonly Piece[];

export const styled = (style: Style, text: string): Piece => ({ text, style });

/** Parts with a space between them. */
export const spaced = (parts: readonly (Piece | readonly Piece[])[]): readonly Piece[] =>
  parts.flatMap((part, at) => [...(at === 0 ? [] : [' ']), ...(Array.isArray(part) ? (part as readonly Piece[]) : [part as Piece])]);

/** The text of pieces without their styles. */
export const plain = (text: Text): string =>
  typeof text === 'string' ? text : text.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('');

/**
 * What a terminal obeys instead of showing it: C0 (but for line feeds and tabs), DEL, C1, and what turns the direction of text. With the line
 * and paragraph separators, which some terminals break lines at.
 */
// eslint-disable-next-line no-control-regex -- it is control characters that must not get out
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Control characters as escapes (`\u001b`, as JSON and LogsQL have them), so that no text moves the cursor. Line feeds and tabs stay. */
export const visible = (text: string): string =>
  text.replace(CONTROLS, (char) => (char === '\r' ? '\\r' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`));

/** The same for a value inside a line, which no line feed of the value may end. Tabs stay. */
export const printable = (text: string): string => visible(text).replaceAll('\n', '\\n');

/** When output has colours: `auto` is on a terminal, unless the environment says otherwise. */
export type ColorChoice = 'auto' | 'always' | 'never';

/** The flag first, then `NO_COLOR` (https://no-color.org), then `FORCE_COLOR`; then on a terminal, unless it is a dumb one. */
export function hasColors(choice: ColorChoice, env: Env, isTerminal: boolean): boolean {
  if (choice !== 'auto') return choice === 'always';
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR']) return !['0', 'false'].includes(env['FORCE_COLOR']);
  return isTerminal && env['TERM'] !== 'dumb';
}

/** Least time between two lines of progress, where standard error is no terminal, and on one. */
const [PROGRESS_MS, REDRAW_MS] = [5000, 100];
const CLEAR_LINE = '\r\u001b[2K';
const DEFAULT_COLUMNS = 80;

/** All that commands write goes through here: what a terminal would obey is shown as an escape, and styles are added where they are shown. */
export class Output {
  /** Results are lines for people there, and NDJSON elsewhere. */
  readonly isTerminal: boolean;
  /** A line of progress may be written over: standard error is a terminal that can. */
  readonly hasStatusLine: boolean;
  readonly #sink: Sink;
  readonly #env: Env;
  readonly #colors: { readonly out: boolean; readonly err: boolean };
  #hasStatus = false;
  #progressAt: number;

  constructor(sink: Sink, env: Env, choice: ColorChoice = 'auto') {
    this.#sink = sink;
    this.#env = env;
    this.#progressAt = this.#now();
    this.isTerminal = sink.isTerminal === true;
    const isErrTerminal = sink.isErrTerminal ?? this.isTerminal;
    this.hasStatusLine = isErrTerminal && env['TERM'] !== 'dumb';
    this.#colors = { out: hasColors(choice, env, this.isTerminal), err: hasColors(choice, env, isErrTerminal) };
  }

  /** The same with colours as a flag wants them. */
  withColors(choice: ColorChoice): Output {
    return new Output(this.#sink, this.#env, choice);
  }

  /** Text for people on standard output. */
  out(text: Text): void {
    this.#clear();
    this.#sink.out(rendered(text, this.#colors.out));
  }

  /** JSON or CSV on standard output: unchanged, except on a terminal. There JSON remains JSON. */
  data(text: string): void {
    this.#clear();
    this.#sink.out(this.isTerminal ? visible(text) : text);
  }

  /** Text for people on standard error. */
  err(text: Text): void {
    this.#clear();
    this.#sink.err(rendered(text, this.#colors.err));
  }

  /**
   * How far the command is: a line on standard error that the next one, or whatever else is written, takes the place of. Where that is no terminal
   * (a log, CI), a line of its own every few seconds at most, and none of a command that is faster.
   */
  progress(text: string): void {
    const now = this.#now();
    if (now - this.#progressAt < (this.hasStatusLine ? REDRAW_MS : PROGRESS_MS)) return;
    this.#progressAt = now;
    const shown = printable(text);
    const columns = this.#sink.columns?.() ?? DEFAULT_COLUMNS;
    // what is longer than a line could not be written over
    this.#sink.err(this.hasStatusLine ? CLEAR_LINE + shown.slice(0, Math.max(0, columns - 1)) : `${shown}\n`);
    this.#hasStatus = this.hasStatusLine;
  }

  #now(): number {
    return this.#sink.now?.() ?? performance.now();
  }

  /** Takes the line of progress away. */
  endProgress(): void {
    this.#clear();
  }

  /** Resolves when more can be written without being kept in memory. */
  async drained(): Promise<void> {
    await this.#sink.drained?.();
  }

  #clear(): void {
    if (this.#hasStatus) this.#sink.err(CLEAR_LINE);
    this.#hasStatus = false;
  }
}

/** What a command writes to: streams, or where another command has started it, the output of that. */
export const outputOf = (to: Sink, env: Env): Output => (to instanceof Output ? to : new Output(to, env));

function rendered(text: Text, colors: boolean): string {
  if (typeof text === 'string') return visible(text);
  const render = (piece: Piece): string => {
    if (typeof piece === 'string') return visible(piece);
    return colors ? styleText(piece.style, visible(piece.text), { validateStream: false }) : visible(piece.text);
  };
  return text.map(render).join('');
}
