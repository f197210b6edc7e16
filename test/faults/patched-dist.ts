import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');
const DIST = path.join(ROOT, 'dist');

/** One exact piece of a compiled file, and what stands there instead. */
export type Patch = { readonly file: string; readonly find: string; readonly replace: string };

/** A changed copy of the compiled program. `remove` deletes it. */
export type PatchedDist = { readonly dist: string; remove(): void };

/** The files of the compiled program that change, by their names. Throws where a piece is not found exactly once: the source has changed, and so must the patch. */
export function patchedFiles(patches: readonly Patch[], dist = DIST): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const { file, find, replace } of patches)
    files.set(file, patched(files.get(file) ?? readFileSync(path.join(dist, file), 'utf8'), find, replace, file));
  return files;
}

/** Copies the compiled program and patches it. */
export function patchedDist(patches: readonly Patch[], dist = DIST): PatchedDist {
  const files = patchedFiles(patches, dist);
  const cache = path.join(ROOT, '.cache', 'logweir');
  mkdirSync(cache, { recursive: true });
  // inside the package, so that its packages and its SQL files are found from there
  const folder = mkdtempSync(path.join(cache, 'patched-'));
  const remove = (): void => {
    process.off('exit', remove);
    rmSync(folder, { recursive: true, force: true });
  };
  process.on('exit', remove);
  try {
    const copy = path.join(folder, 'dist');
    cpSync(dist, copy, { recursive: true });
    for (const [file, text] of files) writeFileSync(path.join(copy, file), text);
    return { dist: copy, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** A text with one piece replaced; throws unless the piece is there once. Runs of spaces and line ends count as equal. */
export function patched(text: string, find: string, replace: string, where: string): string {
  const pattern = new RegExp(
    find
      .trim()
      .split(/\s+/)
      .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('\\s+'),
    'g',
  );
  const places = [...text.matchAll(pattern)];
  const place = places[0];
  if (place === undefined || places.length > 1) {
    throw new Error(`The patch of ${where} is out of date: ${JSON.stringify(find)} is there ${String(places.length)} times, not once.`);
  }
  return text.slice(0, place.index) + replace + text.slice(place.index + place[0].length);
}
