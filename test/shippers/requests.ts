import { expect } from 'chai';
import type { Passed } from './wire.ts';

/** All uploads of a client were the one that it is known for, and were taken, except for a first one that was refused. */
export function checkRequests(
  { request, resends }: { readonly request: string; readonly resends: boolean },
  passed: readonly Passed[],
  refusal = 429,
): void {
  const uploads = passed.filter(({ method }) => method === 'POST' || method === 'PUT');
  const shown = (one: Passed): string => `${one.method} ${one.path} ${one.contentType} ${one.contentEncoding}`.trim();
  expect([...new Set(uploads.map(shown))]).to.deep.equal([request]);
  const statuses = passed.map(({ status }) => status);
  expect(statuses.filter((status) => status !== refusal && (status < 200 || status > 299))).to.deep.equal([]);
  expect(statuses.filter((status) => status === refusal)).to.have.length(resends ? 1 : 0);
}
