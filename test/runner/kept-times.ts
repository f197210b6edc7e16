import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** What a file is taken for that never ran: milliseconds for each byte. */
const MS_PER_BYTE = 0.1;

/** What takes far longer than its size says, milliseconds: without it a first run ends with one of them alone. */
export const LONG_FILES: Readonly<Record<string, number>> = {
  'test/cli/detector.test.ts': 25_000,
  'test/main/supervisor.test.ts': 40_000,
  'test/e2e/store/shards.e2e.test.ts': 30_000,
  'test/e2e/store/read-back.e2e.test.ts': 15_000,
  'test/e2e/store/long/equal.e2e.test.ts': 100_000,
};

/** How long test files took the last time, in the folder of caches: what spreads them evenly. */
export class KeptTimes {
  readonly #root: string;
  readonly #file: string;
  readonly #times: Map<string, number>;

  constructor(root: string) {
    this.#root = root;
    this.#file = path.join(root, '.cache', 'logweir', 'test-times.json');
    this.#times = read(this.#file);
  }

  /** Milliseconds. */
  of(file: string): number {
    return this.#times.get(file) ?? LONG_FILES[file] ?? sizeOf(path.join(this.#root, file)) * MS_PER_BYTE;
  }

  put(file: string, ms: number): void {
    this.#times.set(file, ms);
  }

  save(): void {
    mkdirSync(path.dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, JSON.stringify(Object.fromEntries([...this.#times].sort())));
  }
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

function read(file: string): Map<string, number> {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>));
  } catch {
    return new Map(); // the first run
  }
}
