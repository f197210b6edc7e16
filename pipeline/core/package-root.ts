import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The folder of the package, from its sources as from `dist/`: where files other than code lie. */
export function packageRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(path.join(folder, 'package.json'))) folder = path.dirname(folder);
  return folder;
}

/** The version of the package. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(path.join(packageRoot(), 'package.json'), 'utf8')) as { readonly version: string }).version;
}
