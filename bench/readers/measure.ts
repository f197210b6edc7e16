/** `node bench/readers/measure.ts ROW own|library`: measures one side of one row of `npm run bench:own-readers` and prints its figure. */
import { registerHooks } from 'node:module';
import { ROWS } from './rows.ts';

const SECONDS = 1.5;
const [name, side] = process.argv.slice(2);
const row = ROWS.find((one) => one.name === name);
if (row === undefined || (side !== 'own' && side !== 'library')) throw new Error('usage: measure.ts ROW own|library');

// the readers of protobuf stand inside their normalizers: the other one takes the place of ours as they are loaded
if (row.name.endsWith('protobuf') && side === 'library')
  registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context);
      const { href } = new URL('protobufjs-reader.ts', import.meta.url);
      return found.url.endsWith('/pipeline/wire/protobuf.ts') ? { ...found, url: href } : found;
    },
  });

const { prepare } = await import('./sides.ts');
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
