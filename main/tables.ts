import type { Config } from '../pipeline/core/config.ts';
import { Store } from '../pipeline/store/client.ts';
import { migrate } from '../pipeline/store/migrations.ts';
import { signalsWith } from './signals.ts';

/** Makes the database of this store where there is none, and brings its tables, those of signals of others too, to this version. Safe to repeat. */
export async function prepareTables(store: Store, signalFiles: Config['signals']['files']): Promise<void> {
  await migrate(store);
  for (const { schema = [] } of await signalsWith(signalFiles)) for (const statement of schema) await store.command(statement);
}
