import { globSync } from 'node:fs';
import path from 'node:path';

/** A part of the whole run: a tool, or test files that share a process, and so what they start. */
export type Part = {
  readonly name: string;
  /** Of a tool: the arguments for Node. */
  readonly tool?: readonly string[];
  /** Of tests: patterns of their files. */
  readonly files?: readonly string[];
  /** The files may be spread over so many processes; one without it. */
  readonly spread?: number;
  /** Runs the compiled program. */
  readonly needsBuild?: true;
  /** Milliseconds that a test may take unless it states its own. */
  readonly timeoutMs?: number;
};

/** Parts of a stage run side by side, two at a time, in their order: what takes long comes first. A stage that fails ends the run. */
export type Stage = { readonly name: string; readonly parts: readonly Part[] };

const bin = (file: string): string => path.join('node_modules', file);
const END_TO_END = { needsBuild: true, timeoutMs: 600_000 } as const;

/** All that `npm test` runs: what is fast and needs no engine comes first. */
export const STAGES: readonly Stage[] = [
  {
    name: 'checks',
    parts: [
      { name: 'format', tool: [bin('oxfmt/bin/oxfmt'), '--check', '.'] },
      { name: 'types', tool: [bin('typescript/bin/tsc'), '-p', 'tsconfig.json'] },
      { name: 'lint', tool: [bin('oxlint/bin/oxlint'), '.'] },
    ],
  },
  { name: 'unit', parts: [{ name: 'unit', files: ['test/!(e2e|shippers)/**/*.test.ts'], spread: 2, timeoutMs: 120_000 }] },
  {
    name: 'engines',
    parts: [
      { name: 'e2e', files: ['test/e2e/*.test.ts'], spread: 2, ...END_TO_END },
      { name: 'delivery', files: ['test/e2e/delivery/**/*.test.ts'], ...END_TO_END },
      { name: 'faults', files: ['test/e2e/faults/**/*.test.ts'], ...END_TO_END },
      { name: 'shippers', files: ['test/shippers/**/*.test.ts'], ...END_TO_END },
    ],
  },
];

/** The test files of a part, by name. */
export function filesOf({ files = [] }: Part, root: string): readonly string[] {
  return globSync([...files], { cwd: root }).sort();
}
