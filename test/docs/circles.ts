import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Modules that a module names: `from './x.ts'`, `import './x.ts'`, `import('./x.ts')`; of types, too. */
const NAMED = /(?:\bfrom |\bimport\(|^import )'(\.[^']+)'/gm;

/** The files of these folders, each with those that it imports. */
export function importGraph(root: string, folders: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const files = globSync(`{${folders.join(',')}}/**/*.{ts,mjs,js}`, { cwd: root }).sort();
  const known = new Set(files);
  return new Map(
    files.map((file) => {
      const text = readFileSync(path.join(root, file), 'utf8');
      const named = [...text.matchAll(NAMED)].map(([, target = '']) => path.posix.join(path.posix.dirname(file), target));
      return [file, [...new Set(named)].filter((target) => known.has(target))];
    }),
  );
}

/** Files that import each other, directly or through others: the strongly connected components of more than one file (Tarjan), sorted. */
export function circles(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const order = new Map<string, number>();
  const open: string[] = [];
  const found: string[][] = [];
  // returns the earliest open file that can be reached from this one
  const visit = (file: string): number => {
    const own = order.size;
    order.set(file, own);
    open.push(file);
    let earliest = own;
    for (const next of graph.get(file) ?? []) {
      const place = order.get(next);
      if (place === undefined) earliest = Math.min(earliest, visit(next));
      else if (open.includes(next)) earliest = Math.min(earliest, place);
    }
    if (earliest === own) {
      const circle = open.splice(open.indexOf(file));
      if (circle.length > 1) found.push(circle.sort());
    }
    return earliest;
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return found.sort((a, b) => String(a).localeCompare(String(b)));
}
