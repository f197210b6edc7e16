/** What a request came to: its status, and how many entries were taken. */
export type Outcome = { readonly status: number; readonly accepted: number; readonly rejected: number };
