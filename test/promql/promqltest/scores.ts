/** `LOGWEIR_SHARED=… node test/promql/promqltest/scores.ts [file…] [--faults]`: how many evaluations of each promqltest file are right. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { runFile, type Score } from './run.ts';

export const folder = path.join(
  process.env['LOGWEIR_SHARED'] ?? path.join(import.meta.dirname, '../../../../shared'),
  'conformance/promql/prometheus',
);

/** The names of all files. */
export const testFiles = (): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.test'))
    .map((name) => name.replace('.test', ''))
    .sort();

/** The score of a file. */
export const scoreOf = (name: string): Promise<Score> => runFile(readFileSync(path.join(folder, `${name}.test`), 'utf8'));

if (process.argv[1] === import.meta.filename) {
  const chosen = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
  let [passed, all] = [0, 0];
  for (const name of chosen.length === 0 ? testFiles() : chosen) {
    const score = await scoreOf(name);
    passed += score.passed;
    all += score.all;
    console.log(`${name.padEnd(24)} ${String(score.passed).padStart(5)} of ${String(score.all).padStart(5)}`);
    if (process.argv.includes('--faults'))
      for (const { line, query, reason } of score.faults) console.log(`   ${String(line)}: ${query}\n        ${reason}`);
  }
  console.log(`${'all'.padEnd(24)} ${String(passed).padStart(5)} of ${String(all).padStart(5)}`);
}
