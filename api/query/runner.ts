import type { QueryOptions, Store } from '../../pipeline/store/client.ts';
import type { Plan } from '../../logsql/planner/plan.ts';
import type { Position } from '../../logsql/base/position.ts';
import type { Pipe, RunRows } from '../../logsql/base/types.ts';
import type { Densities } from './slices.ts';
import type { StreamDirectory } from './streams.ts';

/** What running a query takes. */
export type Runner = {
  readonly store: Store;
  readonly streams: StreamDirectory;
  /** Absent: nothing is known of how many entries tenants have. */
  readonly densities?: Pick<Densities, 'rowsIn' | 'saw'> | undefined;
  readonly options: QueryOptions;
  /** Is given the pipes that rows go through in this process from now on. */
  readonly onPipes?: ((pipes: readonly Pipe[]) => void) | undefined;
};

/** A query that is ready to run, and how its subqueries are run. */
export type Prepared = { readonly plan: Plan; readonly run: RunRows };

/** At most `limit` rows; those behind a place (of a plan of entries); also rows without any value. */
export type Wanted = { readonly limit?: number; readonly after?: Position; readonly keepsEmpty?: boolean };

/** Some rows. The places of their entries may be read until the next chunk is; null where a row is not an entry. */
export type Chunk<T> = { readonly rows: readonly T[]; placeOf(index: number): Position | null };
