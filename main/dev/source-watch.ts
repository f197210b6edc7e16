import { watch, type FSWatcher } from 'node:fs';
import path from 'node:path';

/** An editor writes a file in several steps, and a checkout many files. Milliseconds. */
const TOGETHER_MS = 50;

/** Calls `onChange` soon after sources in these folders were changed, once for what changes at a time; gives what ends it. */
export function watchSources(root: string, folders: readonly string[], onChange: () => void): { readonly close: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const watchers: readonly FSWatcher[] = folders.map((folder) =>
    watch(path.join(root, folder), { recursive: true }, (_event, name) => {
      if (name === null || !/\.(?:ts|mjs|json|sql|proto)$/.test(name) || /\.test\.ts$/.test(name)) return;
      clearTimeout(timer);
      timer = setTimeout(onChange, TOGETHER_MS);
    }),
  );
  return {
    close: () => {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}
