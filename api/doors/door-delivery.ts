import { randomUUID } from 'node:crypto';
import type { Delivery, IngestOptions, SignalIntake } from '../ingest/signal-intake.ts';
import { REQUESTS } from '../ingest/refused-requests.ts';
import type { RejectionLog } from '../ingest/rejection-log.ts';
import type { KeyStore } from '../auth/authenticate.ts';
import type { HttpError } from '../../pipeline/core/errors.ts';
import type { RowWriter } from '../../pipeline/intake/rows.ts';
import type { Normalizer } from '../../pipeline/normalizers/normalizer.ts';
import type { Principal } from '../tenants/principal.ts';

/** A body that came in at a door. */
export type DoorBody = {
  readonly principal: Principal;
  /** The door's name and kind, and who sent it, as rejections show them. */
  readonly path: string;
  readonly client: string;
  readonly contentType: string;
  readonly query: URLSearchParams;
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
};

/** What a request of HTTP would be, of a body that came by another door. */
export function doorDelivery({ principal, path, client, contentType, query, body, headers = {} }: DoorBody): Delivery {
  const own: Readonly<Record<string, string>> = { ...headers, 'user-agent': client, 'content-length': String(body.length) };
  return {
    ...{ principal, path, contentType, query, requestId: randomUUID(), startedAt: performance.now() },
    header: (name) => (Object.hasOwn(own, name) ? (own[name] ?? '') : ''),
    bytes: (caps, _implied, meter) => {
      if (body.length > caps.inflated)
        return Promise.reject(caps.tooLarge({ received: body.length, more: false, cap: caps.inflated, compressed: true, inflated: true }));
      meter?.add(body.length);
      meter?.received();
      return Promise.resolve(body);
    },
  };
}

/** What every door has. */
export type DoorContext = {
  readonly keys: KeyStore;
  /** By the name of their signal. */
  readonly intakes: ReadonlyMap<string, SignalIntake>;
  readonly rejections: RejectionLog;
  /** Counts what is refused. */
  readonly tallies?: Pick<NonNullable<IngestOptions['tallies']>, 'refuse'>;
};

/** The intake of a signal, and one of its formats by name. Throws where the service has none. */
export function formatOf(
  intakes: DoorContext['intakes'],
  name: string,
): { readonly intake: SignalIntake; readonly normalizer: Normalizer<RowWriter> } {
  for (const intake of intakes.values()) {
    const normalizer = intake.normalizers.find((one) => one.name === name);
    if (normalizer !== undefined) return { intake, normalizer };
  }
  throw new Error(`There is no wire format ${JSON.stringify(name)}.`);
}

/** What was refused as a whole. `count`: how often. */
export type Refusal = {
  readonly format: string;
  readonly path: string;
  readonly client: string;
  readonly count?: number;
  readonly sample?: string;
};

/** Counts and notes for a tenant that something of a door was refused as a whole; a 400 is noted by who has read it. */
export function noteRefusal(
  { rejections, tallies, intakes }: Pick<DoorContext, 'rejections' | 'tallies' | 'intakes'>,
  tenantId: number | null,
  { status, slug, message }: Pick<HttpError, 'status' | 'slug' | 'message'>,
  { format, path, client, count, sample = '' }: Refusal,
): void {
  if (tenantId === null) return;
  const signal = format === '' ? REQUESTS : formatOf(intakes, format).normalizer.signal;
  tallies?.refuse(tenantId, { signal, status, error: slug }, { reason: message, ...(count === undefined ? {} : { entries: count }) });
  if (status === 400) return;
  rejections.add(tenantId, [
    {
      ...{ time: new Date().toISOString(), format, reason: message, sample, index: null, request_id: randomUUID() },
      ...{ status, path, client, ...(count === undefined ? {} : { count }) },
    },
  ]);
}
