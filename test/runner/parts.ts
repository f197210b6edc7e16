import { globSync } from 'node:fs';
import path from 'node:path';

/** A part of the whole run: a tool, or test files that share processes, and so what they start. */
export type Part = {
  readonly name: string;
  /** Of a tool: the arguments for Node. */
  readonly tool?: readonly string[];
  /** Of tests: patterns of their files. */
  readonly files?: readonly string[];
  /** So many processes take the files, each the next one when it is done with one; one without it. */
  readonly spread?: number;
  /** Some files say what the instance is that all share (`shareWith`, test/e2e/shared.ts): each process has its share of them from the beginning. */
  readonly isShared?: true;
  /** Runs the compiled program. */
  readonly needsBuild?: true;
  /** Milliseconds that a test may take unless it states its own. */
  readonly timeoutMs?: number;
};

/**
 * Parts of a stage run side by side, in their order: what takes long comes first. `more`: so many more of them at a time than there are cores,
 * as most of them wait. A stage that fails ends the run.
 */
export type Stage = {
  readonly name: string;
  readonly parts: readonly Part[];
  readonly more?: number;
  /** Only by its name, and with `--all`: what CI runs after `npm test`. */
  readonly isLong?: true;
};

const bin = (file: string): string => path.join('node_modules', file);
const END_TO_END = { needsBuild: true, timeoutMs: 600_000 } as const;

/**
 * All that `npm test` runs: what is fast and needs no engine comes first. Parts that need engines share them: the files of `instance`, `detection`,
 * `pages` and `failures` a whole instance for each process, with a tenant for each test, those of `store` a ClickHouse for each process, those of
 * `broker` a Kafka that one has at a time. What is long is apart, and CI runs it behind: `detection` waits for windows and their alerts, `pages` are in a
 * browser (`pages alone` with nothing beside them), `restarts` and `faults` start their own engines, since that is what they test, `failures` ends processes again and again, `shippers` installs
 * programs of four languages, `scores` computes days of detection, `bounds` fills what is kept of tenants up to its bounds, and the folder `long` of a
 * part has what shares the same but takes 40 seconds and more: thousands of random queries, attacks, programs of others.
 */
export const STAGES: readonly Stage[] = [
  {
    name: 'checks',
    parts: [
      { name: 'format', tool: [bin('oxfmt/bin/oxfmt'), '--check', '.'] },
      { name: 'types', tool: [bin('typescript/bin/tsc'), '-p', 'tsconfig.json'] },
      { name: 'types of web', tool: [bin('typescript/bin/tsc'), '-p', 'web/replay-recorder/tsconfig.json'] },
      { name: 'types of the pages', tool: [bin('typescript/bin/tsc'), '-p', 'web/ui/tsconfig.json'] },
      { name: 'lint', tool: [bin('oxlint/bin/oxlint'), '.'] },
      { name: 'unused', tool: [bin('knip/bin/knip.js'), '--no-progress'] },
    ],
  },
  {
    name: 'unit',
    more: 1,
    parts: [{ name: 'unit', files: ['test/!(e2e|shippers)/**/!(bounds|*.property).test.ts'], spread: 4, timeoutMs: 120_000 }],
  },
  {
    name: 'engines',
    // these wait for engines half of their time
    more: 2,
    parts: [
      // the one that cannot share its files: the others take what is left when it is done
      { name: 'broker', files: ['test/e2e/broker/**/*.test.ts'], ...END_TO_END },
      { name: 'instance', files: ['test/e2e/instance/*.test.ts'], spread: 2, ...END_TO_END },
      // a third one, where the others are done before these
      { name: 'store', files: ['test/e2e/store/*.test.ts'], spread: 3, ...END_TO_END },
    ],
  },
  {
    name: 'long',
    isLong: true,
    // each takes nearly a core; a fourth one only adds what another idle instance does in the background
    more: 1,
    parts: [
      // these wait for starts, for windows, for packages and compilers of others; what computes fills the gaps, and what is short ends the stage
      { name: 'restarts', files: ['test/e2e/restarts/*.test.ts'], ...END_TO_END },
      { name: 'faults', files: ['test/e2e/faults/*.test.ts'], ...END_TO_END },
      { name: 'detection', files: ['test/e2e/detection/*.test.ts'], isShared: true, ...END_TO_END },
      { name: 'instance/long', files: ['test/e2e/instance/long/*.test.ts'], isShared: true, ...END_TO_END },
      { name: 'failures', files: ['test/e2e/failures/*.test.ts'], isShared: true, ...END_TO_END },
      { name: 'shippers', files: ['test/shippers/*.test.ts'], isShared: true, ...END_TO_END },
      { name: 'store/long', files: ['test/e2e/store/long/*.test.ts'], spread: 2, ...END_TO_END },
      { name: 'bounds', files: ['test/!(e2e|shippers)/**/{bounds,*.property}.test.ts'], timeoutMs: 240_000 },
      { name: 'scores', files: ['test/e2e/scores/*.test.ts'], ...END_TO_END },
    ],
  },
  {
    name: 'browser',
    isLong: true,
    parts: [{ name: 'pages', files: ['test/e2e/pages/!(ui-budgets).e2e.test.ts'], spread: 2, isShared: true, ...END_TO_END }],
  },
  {
    // it has bounds of time and memory, which other load would be counted in
    name: 'browser alone',
    isLong: true,
    parts: [{ name: 'pages alone', files: ['test/e2e/pages/ui-budgets.e2e.test.ts'], isShared: true, ...END_TO_END }],
  },
];

/** The test files of a part, by name. */
export function filesOf({ files = [] }: Part, root: string): readonly string[] {
  return globSync([...files], { cwd: root }).sort();
}
