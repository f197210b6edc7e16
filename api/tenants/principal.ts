import type { Plan } from './plans.ts';

/** What a key may be used for. */
export type Scope = 'read' | 'write' | 'ingest';

/** A part of a tenant that a key is narrowed to. */
export type Project = {
  readonly id: string;
  readonly name: string;
  /** LogsQL that every entry which the key reads must match. */
  readonly filter: string;
  /** What is added to what the key writes. */
  readonly labels: Readonly<Record<string, string>>;
};

/** Who sends the request: a key that was accepted, with its tenant's plan as it is now. */
export type Principal = {
  readonly tenantId: number;
  readonly keyId: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly plan: Plan;
  /** A public demo tenant: operations that need `write` are refused. */
  readonly demo: boolean;
  /** Absent: the key reads and writes all of its tenant. */
  readonly project?: Project;
};
