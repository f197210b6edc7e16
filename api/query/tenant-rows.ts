import type { Sql } from '../../pipeline/core/sql.ts';
import type { Row } from '../../pipeline/store/client.ts';
import type { Deps, Request } from './deps.ts';

/** All rows of a statement that looks at what is derived from entries: for the tenant of a request, within its time and its bounds. */
export function tenantRows(statement: Sql, request: Request, deps: Deps): Promise<Row[]> {
  const { store, options } = deps.runner(request);
  return store.rows(statement, options);
}
