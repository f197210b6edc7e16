/** What a bound counts for. */
export type Whose =
  | 'a tenant'
  | 'a key'
  | 'a connection'
  | 'a request'
  | 'a body'
  | 'an entry'
  | 'a query'
  | 'a tail'
  | 'a rule'
  | 'an alert'
  | 'a worker'
  | 'a partition'
  | 'a process'
  | 'all tenants';

/** A constant of the source that is a bound. */
export type Constant = {
  /** From the root of the repository. */
  readonly file: string;
  readonly name: string;
  /** The place in a list, or the member of an object, which may be one of another: `watched.most`. */
  readonly index?: number | string;
  /** `bytes`, `KiB`, `ns`, `us`, `ms`, `s`, `min` and `part` (1/n) are shown in words of their own; what follows them, or any other word, stands behind the figure. */
  readonly unit: string;
};

/** Something that is kept, counted or awaited on behalf of a tenant. */
export type Limit = {
  readonly what: string;
  readonly of: Whose;
  readonly bound: readonly Constant[];
  /** What of the bound is no constant: a plan, or a variable of the configuration. */
  readonly by?: string;
  /** What happens at the bound to the tenant itself. */
  readonly beyond: string;
  /** What the other tenants see at the bound. */
  readonly others: string;
  /** Attacks of `npm run hostile` that come to it. */
  readonly attack?: readonly string[];
  /** The test that holds it. */
  readonly test?: string;
};

export type Section = { readonly title: string; readonly rows: readonly Limit[] };

/** Constants that bound no tenant, and why that is so: names by files. */
export type NotOfTenants = { readonly reason: string; readonly constants: Readonly<Record<string, readonly string[]>> };

/** The constants of a file. */
export const from =
  (file: string) =>
  (name: string, unit: string, index?: number | string): Constant => ({ file, name, unit, ...(index === undefined ? {} : { index }) });
