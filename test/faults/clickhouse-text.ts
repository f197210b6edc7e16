import type { Cluster } from './cluster.ts';

/** What ClickHouse answers to a query, as text. Throws what it complains of. */
export function clickhouseText({ clickhouse }: Cluster, query: string): Promise<string> {
  const { url, user, password, database } = clickhouse;
  const headers = { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password, 'X-ClickHouse-Database': database };
  return answerText(url, { method: 'POST', body: query, headers });
}

/** The body of an answer. Throws that of a failure. */
export async function answerText(url: string, init: RequestInit): Promise<string> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(60_000) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${String(response.status)}: ${text}`);
  return text;
}

/** The lines of a text that ends with one. */
export const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');
