/** The tenant that rows of another signal are sent as. */
export type SentTenant = { readonly tenant_id: number; readonly key: string };
