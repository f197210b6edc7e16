/**
 * `npm run faults -- [--entries 500000] [--kills 5]`: a load during which the sink and ClickHouse are killed in turns, each so many
 * times; exit code 1 unless every acknowledged entry is in the table once.
 */
import { parseArgs } from 'node:util';
import { killUnderLoad } from './kill-under-load.ts';

const { values } = parseArgs({ options: { entries: { type: 'string', default: '500000' }, kills: { type: 'string', default: '5' } } });
const kills = Array.from({ length: Number(values.kills) }, () => ['sink', 'clickhouse']).flat();
const verdict = await killUnderLoad({ entries: Number(values.entries), kills, log: (line) => console.log(line) });
console.log(JSON.stringify(verdict));
const exact = [verdict.acknowledged, verdict.hits, verdict.rows, verdict.positions, verdict.uids].every(
  (count) => count === Number(values.entries),
);
console.log(exact ? 'exact: every acknowledged entry is there once' : 'NOT EXACT');
process.exit(exact ? 0 : 1);
