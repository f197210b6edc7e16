import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isS3, type StoragePlace } from '../../pipeline/core/storage-place.ts';
import { StartError } from './start-error.ts';

/** Notes in the engine's folder where its cold volume is. Throws StartError where it has had one that is not named any more, or another: rows would be missing. */
export function keepColdVolume(folder: string, cold: StoragePlace | null): void {
  const file = path.join(folder, 'cold-volume');
  const known = existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
  if (known !== null && known !== cold?.at)
    throw new StartError(
      `The tables of this ClickHouse have rows on ${known}: name it in LOGWEIR_COLD_VOLUME (LOGWEIR_COLD_AFTER_DAYS=0 moves no more). Where all of it was moved to another place, write that into ${file}.`,
    );
  if (cold === null) return;
  if (!isS3(cold.at)) mkdirSync(cold.at, { recursive: true });
  writeFileSync(file, `${cold.at}\n`, { mode: 0o600 });
}
