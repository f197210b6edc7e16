/** A tenant whose rule fires, with entries that are markup: made before any file runs, since a window begins a minute later; the files of a process share it. */
import { expect } from 'chai';
import { repeat } from '../../pipeline/core/repeat.ts';
import { atEnd } from '../at-end.ts';
import type { Instance } from './instance.ts';
import { newTenant, sharedInstance } from './shared.ts';
import type { Tenant } from './ui-visits.ts';

export const MARKUP = '<img src=x onerror="document.title=1"><script>alert(1)</script> <b>bold</b>';
export type Watched = { readonly instance: Instance; readonly tenant: Tenant; readonly rule: string };

let made: Promise<Watched> | null = null;

export const authorized = ({ key }: Tenant): Record<string, string> => ({
  Authorization: `Bearer ${key}`,
  'Content-Type': 'application/json',
});

/** The one of this process. */
export function watched(): Promise<Watched> {
  made ??= make();
  return made;
}

async function make(): Promise<Watched> {
  const instance = await sharedInstance();
  const tenant = await newTenant(instance);
  const rules = `${instance.app}/api/v1/tenants/${String(tenant.id)}/rules`;
  const rule = { name: `too many ${MARKUP}`, query: 'service:=shop level:error | stats count()', if: 'value >= 2', severity: 'critical' };
  const { status, body } = await instance.call('POST', rules, rule, authorized(tenant));
  expect(status).to.equal(201);
  const over = new AbortController();
  const entry = (at: number): object => ({ service: 'shop', level: 'error', _msg: `${MARKUP} broke ${String(at)}`, version: MARKUP, trace_id: 'ab'.repeat(16) }); // prettier-ignore
  const lines = Array.from({ length: 5 }, (_none, at) => JSON.stringify(entry(at))).join('\n');
  const headers = { ...authorized(tenant), 'Content-Type': 'application/x-ndjson' };
  const sending = repeat(3000, over.signal, async () => {
    await fetch(`${instance.ingest}/api/v1/ingest`, { method: 'POST', headers, body: lines }).catch(() => undefined);
  });
  atEnd(async () => {
    over.abort();
    await sending;
  });
  return { instance, tenant, rule: (body as { id: string }).id };
}
