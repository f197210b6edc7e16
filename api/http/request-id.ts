import { randomUUID } from 'node:crypto';

const VALID = /^[A-Za-z0-9._-]{1,128}$/;

/** The client's own id where it is valid, else a new one. */
export function requestIdOf(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' && VALID.test(header) ? header : randomUUID();
}
