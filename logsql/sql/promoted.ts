/** Fields of the map `fields` that have a column of their own too, which is far cheaper to read (pipeline/store/schema/002_logs.sql). */
import { sql, type Sql } from '../../pipeline/core/sql.ts';

const LABELS: ReadonlyMap<string, Sql> = new Map([
  ['app', sql`f_app`],
  ['host', sql`f_host`],
  ['env', sql`f_env`],
  ['namespace', sql`f_namespace`],
  ['pod', sql`f_pod`],
  ['container', sql`f_container`],
  ['job', sql`f_job`],
]);
const STATUS = sql`f_status`;

/** The names of promoted fields. */
export const PROMOTED: readonly string[] = [...LABELS.keys(), 'status'];

/** The column of a promoted field: its string, '' where an entry lacks it; undefined for other fields. */
export const promotedColumn = (field: string): Sql | undefined => (field === 'status' ? STATUS : LABELS.get(field));

/** The column of a promoted field that the hourly counts have too. */
export const labelColumn = (field: string): Sql | undefined => LABELS.get(field);
