import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../pipeline/core/package-root.ts';

/** What a file in this folder must be called for Node to take it as a module: `.ts`, unless the package around it says `commonjs`, as npm's do. */
export function extensionIn(folder: string): 'ts' | 'mts' {
  const file = above(folder, 'package.json');
  return file !== null && isCommonjs(file) ? 'mts' : 'ts';
}

/** True where `logweir/detector` is found from this folder: in the repository, or where the package is installed. */
export const isTyped = (folder: string): boolean => isInRepository(folder) || above(folder, 'node_modules/logweir/package.json') !== null;

/**
 * How the command line, and the Node that it runs with, are started from the working folder: by npx where it finds them, else by their paths. The
 * system's Node may be too old to run TypeScript.
 */
export function commandOf(name: 'logweir' | 'node'): string {
  const isFound = (name === 'logweir' && isInRepository('.')) || above('.', `node_modules/.bin/${name}`) !== null;
  if (isFound) return `npx --no-install ${name}`;
  return [process.execPath, ...(name === 'node' ? [] : [path.join(packageRoot(), 'cli/logweir.mjs')])].map(quoted).join(' ');
}

/** A word as a shell takes it. */
export const quoted = (word: string): string => (/^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

const isInRepository = (folder: string): boolean => !path.relative(packageRoot(), path.resolve(folder)).startsWith('..');

/** The nearest file of this name, from a folder upwards, which need not be there yet. */
function above(folder: string, name: string): string | null {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    if (existsSync(path.join(at, name))) return path.join(at, name);
    if (at === path.dirname(at)) return null;
  }
}

function isCommonjs(packageFile: string): boolean {
  try {
    return (JSON.parse(readFileSync(packageFile, 'utf8')) as { readonly type?: unknown }).type === 'commonjs';
  } catch {
    return false;
  }
}
