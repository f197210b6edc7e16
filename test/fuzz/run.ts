/**
 * `npm run fuzz`: damaged bodies of all formats and encodings, frames of WebSockets, and queries.
 *   npm run fuzz -- [--runs 200000] [--seed 1] [--only logs|spans|samples|replay]   in this process, through decoders and normalizers
 *   npm run fuzz -- --sockets [--runs 20000] [--seed 1]              over sockets, against an instance that it starts
 *   npm run fuzz -- --kind frames|logsql|promql [--runs 1000000] [--seed 1]   in this process: what `test/fuzz/{frames,queries,promql}.ts` say
 */
import { parseArgs } from 'node:util';
import { fuzzInProcess } from './in-process.ts';
import { fuzzFrames } from './frames.ts';
import { fuzzPromql } from './promql.ts';
import { fuzzLogsql } from './queries.ts';
import { fuzzSockets } from './sockets.ts';

const { values: flags } = parseArgs({
  options: {
    runs: { type: 'string' },
    seed: { type: 'string', default: '1' },
    sockets: { type: 'boolean', default: false },
    only: { type: 'string' },
    kind: { type: 'string', default: 'bodies' },
  },
});
const only = (['logs', 'spans', 'samples', 'replay'] as const).find((signal) => signal === flags.only);
const progress = (line: string): void => void process.stdout.write(`${line}\n`);
const KINDS = new Map([
  ['frames', fuzzFrames],
  ['logsql', fuzzLogsql],
  ['promql', fuzzPromql],
]);
const rounds = KINDS.get(flags.kind);
const report =
  rounds !== undefined
    ? await rounds({ runs: Number(flags.runs ?? 200_000), seed: Number(flags.seed), progress })
    : flags.sockets
      ? await fuzzSockets({ runs: Number(flags.runs ?? 20_000), seed: Number(flags.seed), progress })
      : await fuzzInProcess({ runs: Number(flags.runs ?? 200_000), seed: Number(flags.seed), only, progress });
progress(JSON.stringify(report));
process.exit(report.failures.length === 0 ? 0 : 1);
