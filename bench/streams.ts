/**
 * `npm run bench:streams`: CPU of an entry, from the decoded body to the record, and the memory of the process, by how many streams there
 * are: a few; a million, of which some are busy (drawn by Zipf's law) and every 700th entry has a new one (100,000 an hour at 20,000
 * entries/s); a million, drawn evenly; only new ones.   npm run bench:streams -- [--entries 1000000]
 * Each case runs in a process of its own, in turns with few streams, body by body, so that a machine that drifts favours neither; medians.
 */
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { EntryCodec, EntryWriter } from '../pipeline/logs/writer.ts';
import { Body, FEW, LINES, MANY_AND_NEW, MILLION, NAME_OF_FEW, NEW, randomFrom, type Draw } from './stream-bodies.ts';

const { values: flags } = parseArgs({
  options: { entries: { type: 'string', default: '1000000' }, only: { type: 'string' } },
});
const CASES: Readonly<Record<string, Draw>> = {
  [NAME_OF_FEW]: FEW,
  '1,000,000 streams, by Zipf’s law, and new ones': MANY_AND_NEW,
  '1,000,000 streams, evenly': (random) => Math.floor(random() * MILLION),
  'new streams only': NEW,
};

/** Writes the body with the streams that are drawn; gives the µs of CPU. */
function pass(codec: EntryCodec, body: Body, next: () => number): number {
  body.draw(next);
  const before = process.cpuUsage();
  const writer = new EntryWriter(
    codec,
    { tenantId: 1, partitions: [0], retentionDays: 0, receivedAt: 1_795_269_600_000_000_000n, streamFields: null },
    body.bytes.length,
  );
  for (let at = 0; at < body.bytes.length; at++) at = writer.object(body.bytes, at, body.bytes.length);
  if (writer.accepted !== LINES) throw new Error(JSON.stringify(writer.rejected.first[0]));
  for (const chunk of writer.chunks()) chunk.encode();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

type Figures = { readonly us: number; readonly few: number; readonly rss: number };

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

/** µs of CPU for each entry of a case, and of few streams, body by body in turns; and megabytes of memory after it. */
function measure(draw: Draw, entries: number): Figures {
  const [codec, fewCodec, body] = [new EntryCodec(), new EntryCodec(), new Body()];
  const random = randomFrom(7);
  const [many, few]: [number[], number[]] = [[], []];
  for (let warm = 0; warm < MILLION; warm += LINES) pass(codec, body, () => draw(random));
  for (let done = 0; done < entries; done += LINES) {
    few.push(pass(fewCodec, body, () => FEW(random)) / LINES);
    many.push(pass(codec, body, () => draw(random)) / LINES);
  }
  return { us: median(many), few: median(few), rss: process.memoryUsage().rss / 1e6 };
}

const one = flags.only === undefined ? undefined : CASES[flags.only];
if (one !== undefined) process.stdout.write(JSON.stringify(measure(one, Number(flags.entries))));
else {
  process.stdout.write(`| streams | CPU µs an entry | of ${NAME_OF_FEW} | × | memory of the process, MB |\n|---|---|---|---|---|\n`);
  for (const name of Object.keys(CASES)) {
    const args = [import.meta.filename, '--only', name, '--entries', flags.entries];
    const { us, few, rss } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Figures;
    process.stdout.write(`| ${name} | ${us.toFixed(2)} | ${few.toFixed(2)} | ${(us / few).toFixed(2)} | ${rss.toFixed(0)} |\n`);
  }
}
