/** `node bench/readers/measure.ts ROW own|library`: measures one side of one row of `npm run bench:own-readers` and prints its figure. */
import { ROWS } from './rows.ts';
import { prepare } from './sides.ts';

const SECONDS = 1.5;
const [name, side] = process.argv.slice(2);
const row = ROWS.find((one) => one.name === name);
if (row === undefined || (side !== 'own' && side !== 'library')) throw new Error('usage: measure.ts ROW own|library');

const { run, units, finish, wall } = await prepare(row.name, side);

/** µs of CPU, or ms of wall time, of one unit, over some seconds. */
async function measure(seconds: number): Promise<number> {
  const before = process.cpuUsage();
  const began = performance.now();
  const end = began + seconds * 1000;
  let done = 0;
  while (performance.now() < end) {
    const running = run();
    if (running instanceof Promise) await running;
    done += units;
  }
  const { user, system } = process.cpuUsage(before);
  return (wall === true ? performance.now() - began : user + system) / done;
}

await measure(0.5);
process.stdout.write(String(await measure(SECONDS)));
await finish?.();
process.exit(0);
