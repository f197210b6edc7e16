/** Also the name of a range, which has that of its topic. */
const ID = /^[\w.-]{1,350}$/;

/** A condition that is false once the insert of this id is fenced. ClickHouse evaluates it once, after the statement is on its list of running queries. */
export function unlessFenced(id: string): string {
  if (!ID.test(id)) throw new Error('BUG: the id of an insert has other characters than letters, digits, _, . and -.');
  return `(SELECT count() FROM insert_fences WHERE id = '${id}') = 0`;
}

/** Counts the fences of `id`. */
export const FENCE_QUERY = 'SELECT count() FROM insert_fences WHERE id = {id:String}';

/** Fences an insert, with `fenceRow` as the body: what ClickHouse begins later under its id writes nothing. */
export const FENCE_STATEMENT = 'INSERT INTO insert_fences (id) FORMAT JSONEachRow';
export const fenceRow = (id: string): Buffer => Buffer.from(`${JSON.stringify({ id })}\n`);
