import type { Plan } from './plans.ts';

/** What a key may be used for. */
export type Scope = 'read' | 'write' | 'ingest';

/** Who sends the request: a key that was accepted, with its tenant's plan as it is now. */
export type Principal = {
  readonly tenantId: number;
  readonly keyId: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly plan: Plan;
  /** A public demo tenant: operations that need `write` are refused. */
  readonly demo: boolean;
};
