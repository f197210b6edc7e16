import path from 'node:path';
import { builtFiles, changedFiles, type BuiltFiles } from './built-files.ts';
import { modulesOf } from './module-graph.ts';

export type RebuilderOptions = {
  /** The folder of the compiled program. */
  readonly dist: string;
  /** Compiles what has changed; throws an Error whose message says what is wrong with the sources. */
  readonly build: () => Promise<void>;
  /** Processes by their names, with the roles that each does. */
  readonly processes: ReadonlyMap<string, readonly string[]>;
  /** Starts processes again, with the new code; resolves when they are ready. */
  readonly restart: (names: readonly string[]) => Promise<void>;
  /** Takes progress lines. */
  readonly log: (line: string) => void;
};

/** Compiles the program again, and starts those of its processes again whose code is another one then. */
export class Rebuilder {
  readonly #options: RebuilderOptions;
  /** What the processes run. */
  #running: BuiltFiles;
  #work: Promise<void> | null = null;
  #isAgain = false;

  constructor(options: RebuilderOptions) {
    this.#options = options;
    this.#running = builtFiles(options.dist);
  }

  /** Resolves when all that had changed before this call runs, or is told not to compile. One build at a time. */
  async changed(): Promise<void> {
    this.#isAgain = true;
    this.#work ??= this.#run().finally(() => (this.#work = null));
    await this.#work;
  }

  async #run(): Promise<void> {
    while (this.#isAgain) {
      this.#isAgain = false;
      await this.#rebuild();
    }
  }

  async #rebuild(): Promise<void> {
    const { dist, build, processes, restart, log } = this.#options;
    const began = Date.now();
    try {
      await build();
    } catch (error) {
      log(error instanceof Error ? error.message : String(error));
      return; // what runs goes on
    }
    const built = builtFiles(dist);
    const changed = changedFiles(this.#running, built);
    this.#running = built;
    if (changed.length === 0) return;
    const isIn = (modules: ReadonlySet<string>): boolean => changed.some((file) => modules.has(file));
    const names = [...processes.keys()].filter((name) => isIn(modulesOf(entriesOf(dist, processes.get(name) ?? []))));
    const shown = changed.map((file) => path.relative(dist, file).replace(/\.js$/, '.ts'));
    if (isIn(modulesOf([path.join(dist, 'main', 'supervise.js'), path.join(dist, 'main', 'setup.js')])))
      log('the supervisor, the engines or the tables are started by code that has changed: stop and start to have it');
    if (names.length === 0) {
      log(`${few(shown)}: no role runs it`);
      return;
    }
    log(`${few(shown)}: starting ${names.join(', ')} again …`);
    await restart(names);
    log(`${names.join(', ')} ready, ${((Date.now() - began) / 1000).toFixed(1)} s after the change`);
  }
}

/** What a process with these roles loads first. */
const entriesOf = (dist: string, roles: readonly string[]): readonly string[] => [
  path.join(dist, 'main', 'role.js'),
  ...roles.map((role) => path.join(dist, 'main', 'roles', `${role}.js`)),
];

const few = (files: readonly string[]): string =>
  files.length <= 3 ? files.join(', ') : `${files.slice(0, 3).join(', ')} and ${String(files.length - 3)} more`;
