/**
 * Which statuses of which operations a test has had as an answer of a running instance, kept in `seen.txt`: a line for each pair. Tests add what they see
 * first; `npm run docs` sorts the lines, drops those of operations that are gone, and prints what no test has seen.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { UNSEEN } from './unseen.ts';

const FILE = path.join(import.meta.dirname, 'seen.txt');

/** Paths of a description with their operations. */
export type Operations = {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string; readonly responses: Readonly<Record<string, unknown>> }>>>
  >;
};

const linesOf = (): string[] =>
  existsSync(FILE)
    ? readFileSync(FILE, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];

let known: Set<string> | null = null;

/** Notes a pair. */
export function noteSeen(operationId: string, status: number): void {
  known ??= new Set(linesOf());
  const pair = `${operationId} ${String(status)}`;
  if (known.has(pair)) return;
  known.add(pair);
  appendFileSync(FILE, `${pair}\n`);
}

/** Every pair of a description: `searchEntries 200`. */
const pairsOf = ({ paths }: Operations): string[] =>
  Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId, responses }) => Object.keys(responses).map((status) => `${operationId} ${status}`));

/** Why no test sees a pair; null where one should. */
const reasonOf = (pair: string): string | null => {
  const [operation = '', status = ''] = pair.split(' ');
  const found = UNSEEN.find(({ statuses, operations }) => statuses.includes(Number(status)) && (operations?.test(operation) ?? true));
  return found?.why ?? null;
};

/** Pairs in all, those that tests have seen, and those that are unseen without a reason. */
export function seenOf(description: Operations): { readonly all: number; readonly seen: number; readonly missing: readonly string[] } {
  const seen = new Set(linesOf());
  const all = pairsOf(description);
  return {
    all: all.length,
    seen: all.filter((pair) => seen.has(pair)).length,
    missing: all.filter((pair) => !seen.has(pair) && reasonOf(pair) === null),
  };
}

/** Sorts the lines, without those that are not in the description. */
export function tidySeen(description: Operations): void {
  const all = new Set(pairsOf(description));
  const lines = [...new Set(linesOf())].filter((pair) => all.has(pair)).sort();
  writeFileSync(FILE, lines.map((line) => `${line}\n`).join(''));
}
