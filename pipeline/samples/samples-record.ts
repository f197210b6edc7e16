import type { SignalRecord } from '../bus/records/signal-record.ts';

/** The header that states where the second part of a value begins, bytes. */
export const DEFINITIONS_AT = 'definitions_at';

/**
 * The header that states how the second part is cut: how many frames behind its first have whole definitions, and how many definitions follow
 * behind those. Records of before have no such header, and all of their definitions in one stream.
 */
export const DEFINITION_PAGES = 'definition_pages';

/** How definitions are cut. */
export type DefinitionCut = { readonly pages: number; readonly loose: number };

/** A record of `samples.v1`: its value is two parts, each a list of columns in frames of its own. */
export type SamplesRecord = SignalRecord & { readonly definitionsAt: number; readonly cut: DefinitionCut | null };

/** The part that the table takes. */
export const numbersOf = ({ value, definitionsAt }: SamplesRecord): Buffer => value.subarray(0, definitionsAt);
/** The part that has what the series of the rows are. */
export const definitionsOf = ({ value, definitionsAt }: SamplesRecord): Buffer => value.subarray(definitionsAt);
