/** What the tenants of a partition may hold, of one kind: so that it always fits into a snapshot. */
export type Bounds = {
  /** As long as all tenants together have no more than this, one may have `ofTenant`. */
  readonly most: number;
  readonly ofTenant: number;
  /** Where they have more, up to `last`, one may have `few`; beyond that what it has. */
  readonly few: number;
  readonly last: number;
};

/** How much a tenant may have that has `own` of `all`. */
export function mostOf(own: number, all: number, { most, ofTenant, few, last }: Bounds): number {
  const within = (ofOne: number, end: number): number => Math.min(ofOne, own + Math.max(0, end - all));
  return Math.max(within(ofTenant, most), within(few, last));
}
