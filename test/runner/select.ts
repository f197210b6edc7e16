import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { PROMISES } from '../docs/promises.ts';
import { filesOf, STAGES, type Part, type Stage } from './parts.ts';

const SOURCE = /\.(?:ts|mjs)$/;

/**
 * The stages with only what belongs to one of the names: a stage or part (`unit`, `lint`), a test file, a source file or a room (`pipeline/bus`), a piece of
 * a test file's path, or words of a promise or its page (test/docs/promises.ts). Without names all but what is long, which `isWhole` adds. Throws
 * where a name belongs to nothing.
 */
export function selected(names: readonly string[], root: string, isWhole = false): readonly Stage[] {
  if (names.length === 0) return STAGES.filter(({ isLong = false }) => isWhole || !isLong);
  const parts = STAGES.flatMap((stage) => stage.parts);
  const all = parts.flatMap((part) => filesOf(part, root));
  const wholeParts = new Set(
    STAGES.flatMap((stage) => stage.parts.filter((part) => [stage.name, part.name].some((name) => names.includes(name)))),
  );
  const others = names.filter((name) => ![...STAGES, ...parts].some((one) => one.name === name));
  const files = new Set(others.flatMap((name) => filesFor(name, all, root)));
  const choose = (part: Part): readonly Part[] => {
    if (wholeParts.has(part)) return [part];
    const own = filesOf(part, root).filter((file) => files.has(file));
    return own.length === 0 ? [] : [{ ...part, files: own }];
  };
  return STAGES.map((stage) => ({ ...stage, parts: stage.parts.flatMap(choose) })).filter(({ parts: own }) => own.length > 0);
}

function filesFor(name: string, all: readonly string[], root: string): readonly string[] {
  for (const look of [ofPath, ofPiece, ofPromise]) {
    const found = look(name, all, root);
    if (found.length > 0) return found;
  }
  throw new Error(
    `No test belongs to "${name}": name a part, a test, a source file, a room, or words of a promise in test/docs/promises.ts.`,
  );
}

/** A file or folder: tests are those in it, those that mirror it, and of a source file without a test of its own those of its folder. */
function ofPath(name: string, all: readonly string[], root: string): readonly string[] {
  const at = path.normalize(name).replace(/\/$/, '');
  if (!existsSync(path.join(root, at))) return [];
  const mirrored = at === 'test' || at.startsWith('test/') ? at : path.join('test', at);
  if (statSync(path.join(root, at)).isDirectory()) return all.filter((file) => file.startsWith(`${mirrored}/`));
  const stem = mirrored.replace(SOURCE, '').replace(/\.test$/, '');
  const own = all.filter((file) => file === mirrored || file.startsWith(`${stem}.`));
  return own.length > 0 ? own : all.filter((file) => path.dirname(file) === path.dirname(mirrored));
}

const ofPiece = (name: string, all: readonly string[]): readonly string[] => all.filter((file) => file.includes(name));

function ofPromise(name: string, all: readonly string[]): readonly string[] {
  const words = name.toLowerCase();
  const tests = PROMISES.filter(({ page, promise }) => `${page} ${promise}`.toLowerCase().includes(words)).map(({ test }) => test);
  return all.filter((file) => tests.includes(file));
}
