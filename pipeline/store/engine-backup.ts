import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from './client.ts';

/** How far a BACKUP or RESTORE of the engine is: what the server says of it. */
export type EngineProgress = { readonly files: number; readonly bytes: number; readonly doneFiles: number; readonly doneBytes: number };

const POLL_MS = 250;
/** How long a server may not answer: it may be started again meanwhile, and has forgotten the work then. */
const SILENCE_MS = 60_000;
const DEADLINE_MS = 10_000;
const RUNNING = ['CREATING_BACKUP', 'RESTORING'];
const STATE = `SELECT toString(status), error, toString(num_files), toString(total_size), toString(files_read), toString(bytes_read)
FROM system.backups WHERE id = {id:String}`;

/** The end of such a statement, with settings of the engine; empty without any. */
export const withSettings = (settings: Readonly<Record<string, string>>): string => {
  const each = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  return each.length === 0 ? '' : ` SETTINGS ${each.join(', ')}`;
};

/**
 * Runs a BACKUP or RESTORE (without ASYNC) to its end, however long that takes. Rejects with the server's sentence where it fails, and with
 * one that says so where the server has begun anew meanwhile: nothing of it runs any more then.
 */
export async function runEngineBackup(
  store: Pick<Store, 'ownerRows'>,
  statement: string,
  onProgress: (progress: EngineProgress) => void = () => undefined,
): Promise<void> {
  const [row] = await store.ownerRows(`${statement} ASYNC`).catch((error: unknown) => {
    throw new Error(sentenceOf(error instanceof Error ? error.message : String(error)), { cause: error });
  });
  const id = String(row?.[0]);
  let answeredAt = Date.now();
  for (;;) {
    try {
      const [state] = await store.ownerRows(STATE, { id }, AbortSignal.timeout(DEADLINE_MS));
      if (state === undefined) throw new Forgotten('ClickHouse was started again meanwhile.');
      answeredAt = Date.now();
      const [status, error, ...numbers] = state;
      const [files = 0, bytes = 0, doneFiles = 0, doneBytes = 0] = numbers.map(Number);
      onProgress({ files, bytes, doneFiles, doneBytes });
      if (status === 'BACKUP_CREATED' || status === 'RESTORED') return;
      if (!RUNNING.includes(String(status)))
        throw new Forgotten(sentenceOf(String(error)) || `ClickHouse has ended it: ${String(status)}.`);
    } catch (error) {
      if (error instanceof Forgotten) throw new Error(error.message, { cause: error });
      if (Date.now() - answeredAt > SILENCE_MS) throw error;
    }
    await sleep(POLL_MS);
  }
}

/** It is over, and was not done. */
class Forgotten extends Error {}

/** What of ClickHouse's complaint is for people: not its stack. The engine of chdb has no threads for S3. */
const sentenceOf = (complaint: string): string =>
  complaint.includes('BackupsIOThreadPool')
    ? 'The embedded ClickHouse has backups on S3 under names alone: set LOGWEIR_BACKUP_DIR to the URL of a prefix there (docs/operations.md).'
    : (complaint.split(/,? Stack trace/)[0] ?? '').replace(/^Code: \d+\. DB::Exception: /, '').trim();
