import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What compiled modules have in them, by their paths. */
export type BuiltFiles = ReadonlyMap<string, string>;

/** Looks at all modules in a folder. */
export function builtFiles(folder: string): BuiltFiles {
  const files = globSync('**/*.js', { cwd: folder }).map((name) => path.join(folder, name));
  return new Map(files.map((file) => [file, createHash('sha1').update(readFileSync(file)).digest('base64')]));
}

/** The paths of those that differ, or are there in one alone. */
export function changedFiles(before: BuiltFiles, after: BuiltFiles): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((file) => before.get(file) !== after.get(file));
}
