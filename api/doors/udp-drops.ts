import { readFile } from 'node:fs/promises';

/** Linux' tables of UDP sockets: the second column has the local address, the last one how many datagrams were dropped. */
const TABLES = ['/proc/net/udp', '/proc/net/udp6'];

/** How many datagrams the system has dropped for sockets of this port; null where it does not tell. */
export async function droppedByKernel(port: number): Promise<number | null> {
  const tables = await Promise.all(TABLES.map((file) => readFile(file, 'utf8').catch(() => null)));
  const known = tables.filter((table) => table !== null);
  return known.length === 0 ? null : known.reduce((sum, table) => sum + dropsOf(table, port), 0);
}

/** Of one table. */
export function dropsOf(table: string, port: number): number {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  let drops = 0;
  for (const line of table.split('\n').slice(1)) {
    const columns = line.trim().split(/\s+/);
    if (columns[1]?.endsWith(suffix) === true) drops += Number(columns.at(-1)) || 0;
  }
  return drops;
}
