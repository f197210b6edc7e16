import path from 'node:path';
import { packageRoot } from '../pipeline/core/package-root.ts';
import { Rebuilder } from './dev/rebuilder.ts';
import { watchSources } from './dev/source-watch.ts';
import { log, runInForeground, type Stoppable } from './foreground.ts';
import { ROLES } from './role-process.ts';
import { readSettings } from './settings.ts';
import { Supervisor } from './supervisor.ts';

/** What is compiled. */
const SOURCES = ['api', 'compose', 'logsql', 'main', 'pipeline', 'sinks'];

export type DevelopOptions = {
  readonly argv: readonly string[];
  /** The process that this one was started by. */
  readonly parent: number;
  /** Compiles what has changed; throws an Error that says what is wrong with the sources. */
  readonly build: () => Promise<void>;
};

/** `npm run dev`: an instance whose roles are started again, each alone, as their sources change. Its engines go on. */
export function develop({ argv, parent, build }: DevelopOptions): Promise<void> {
  // nobody balances load between instances on a developer's machine, so a role needs not wait for that as it stops
  const env: NodeJS.ProcessEnv = { LOGWEIR_DRAIN_SECONDS: '0', ...process.env };
  const root = packageRoot();
  const dist = path.join(root, 'dist');
  const create = (): Stoppable => {
    const settings = readSettings(env, argv);
    const supervisor = new Supervisor({ settings, env, dist, log });
    const processes = new Map(ROLES.filter(({ name }) => settings.roles.includes(name)).map(({ name, roles }) => [name, roles ?? [name]]));
    let sources: { readonly close: () => void } | undefined;
    return {
      async start() {
        const rebuilder = new Rebuilder({ dist, build, processes, log, restart: (names) => supervisor.restart(names) });
        const line = await supervisor.start();
        sources = watchSources(root, SOURCES, () => void rebuilder.changed());
        log(`looking for changes in ${SOURCES.join(', ')}`);
        return line;
      },
      stop() {
        sources?.close();
        return supervisor.stop();
      },
      killAll: () => supervisor.killAll(),
    };
  };
  return runInForeground(create, parent);
}
