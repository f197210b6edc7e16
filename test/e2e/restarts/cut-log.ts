import { existsSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import path from 'node:path';

/**
 * Does to the log of a partition what a loss of power does: of the records from `keep` on (an offset) nothing was written, and the broker
 * did not stop in order. The broker must not run. `folder` is that of its data.
 */
export function cutLog(folder: string, partition: string, keep: number): void {
  // what a stop in order leaves, and what says how far the disk was written
  for (const name of ['.kafka_cleanshutdown', 'recovery-point-offset-checkpoint']) rmSync(path.join(folder, name), { force: true });
  const log = path.join(folder, partition);
  const segments = readdirSync(log).filter((name) => name.endsWith('.log'));
  for (const name of segments) {
    const file = path.join(log, name);
    const bytes = readFileSync(file);
    let [at, cut] = [0, bytes.length];
    // a batch: its first offset (int64), its length behind this (int32), …, the number of its last record (int32 at 23)
    while (at + 61 <= bytes.length && cut === bytes.length) {
      const last = Number(bytes.readBigInt64BE(at)) + bytes.readInt32BE(at + 23);
      if (last >= keep) cut = at;
      at += 12 + bytes.readInt32BE(at + 8);
    }
    truncateSync(file, cut);
  }
  for (const name of readdirSync(log).filter((one) => /\.(index|timeindex|txnindex|snapshot)$/.test(one))) rmSync(path.join(log, name));
  if (!existsSync(log)) throw new Error(`There is no ${log}.`);
}
