import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import type { Ledger, LedgerLine } from './ledger.ts';
import type { LoadOptions, LoadTotals } from './load.ts';

const PROGRAM = path.join(import.meta.dirname, 'load-program.ts');

/** What the program is told. */
export type ToLoad =
  | { readonly kind: 'start'; readonly options: Omit<LoadOptions, 'ledger'> }
  | { readonly kind: 'rate'; readonly entriesPerSecond: number }
  | { readonly kind: 'stop' };

/** What it says: a line for the ledger, how far it is, and at its end that it has stopped. */
export type FromLoad =
  | { readonly kind: 'line'; readonly line: LedgerLine }
  | { readonly kind: 'totals'; readonly totals: LoadTotals }
  | { readonly kind: 'stopped'; readonly totals: LoadTotals };

/** A load that is made and sent by a process of its own. Its lines go into the ledger of this one, some time after what they tell of. */
export class LoadProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #writing: Promise<unknown> = Promise.resolve();
  #totals: LoadTotals | null = null;

  constructor(options: Omit<LoadOptions, 'ledger'>, ledger: Pick<Ledger, 'append'>) {
    this.#child = fork(PROGRAM, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#child.on('message', (message: FromLoad) => {
      if (message.kind === 'line') this.#writing = Promise.all([this.#writing, ledger.append(message.line)]);
      else this.#totals = message.totals;
      // nothing comes after it
      if (message.kind === 'stopped') this.#child.disconnect();
    });
    this.#ended = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('exit', (code) => {
        if (code === 0) resolve();
        else reject(new Error(`A load in a process of its own ended with ${String(code)}.`));
      });
    });
    this.#ended.catch(() => undefined); // told by `stop`
    this.#tell({ kind: 'start', options });
  }

  /** As of half a second ago at most; null before it has begun. */
  get totals(): LoadTotals | null {
    return this.#totals;
  }

  /** Entries offered in a second from now on. */
  setRate(entriesPerSecond: number): void {
    this.#tell({ kind: 'rate', entriesPerSecond });
  }

  /** Sends nothing new, waits for what is open, and ends the process. */
  async stop(): Promise<void> {
    if (this.#child.connected) this.#tell({ kind: 'stop' });
    await this.#ended;
    await this.#writing;
  }

  #tell(message: ToLoad): void {
    this.#child.send(message);
  }
}
