import type { Sink } from '../../cli/output.ts';

/** Streams that keep what was written to them. */
export class CapturedOutput implements Sink {
  stdout = '';
  stderr = '';
  /** What `now` gives, in milliseconds. */
  clock = 0;
  readonly isTerminal: boolean;
  readonly isErrTerminal: boolean;
  readonly columns = (): number => 40;

  constructor({ isTerminal = false, isErrTerminal = isTerminal }: { isTerminal?: boolean; isErrTerminal?: boolean } = {}) {
    this.isTerminal = isTerminal;
    this.isErrTerminal = isErrTerminal;
  }

  readonly out = (text: string): void => void (this.stdout += text);
  readonly err = (text: string): void => void (this.stderr += text);
  readonly now = (): number => this.clock;
}
