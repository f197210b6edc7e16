import Joi from 'joi';
import { invalidParameter } from '../../../pipeline/core/errors.ts';
import { check, single, time } from '../parameters.ts';

/** The parameters that each of these endpoints knows. */
export const PATTERNS = ['sort', 'order', 'since', 'search', 'service', 'limit', 'offset'] as const;
export const PATTERN = ['since'] as const;
export const PATTERNS_DIFF = ['a', 'b', 'service', 'limit'] as const;

export const PATTERN_SORTS = ['count', 'first_seen', 'last_seen'] as const;

/** Of `GET /patterns`. */
export type PatternsParameters = {
  readonly sort: (typeof PATTERN_SORTS)[number];
  readonly order: 'asc' | 'desc';
  readonly since: string;
  /** Null for all. */
  readonly search: string | null;
  readonly service: string | null;
  readonly limit: number;
  readonly offset: number;
};

/** Of `GET /patterns/{fingerprint}`. */
export type PatternParameters = { readonly fingerprint: string; readonly since: string };

/** Of `GET /patterns/diff`: two windows, each as `start..end`. */
export type PatternDiffParameters = { readonly a: string; readonly b: string; readonly service: string | null; readonly limit: number };

const service = Joi.string().allow('').max(512).empty('').default(null).description('Of this service alone.');
const limit = Joi.number().integer().min(1).max(2000).default(50);

export const patternsSchema = Joi.object<PatternsParameters>({
  sort: Joi.string()
    .valid(...PATTERN_SORTS)
    .default('count'),
  order: Joi.string().valid('asc', 'desc').default('desc'),
  since: time.default('-24h'),
  search: Joi.string().allow('').max(1000).empty('').default(null).description('Text that the template has.'),
  ...{ service, limit },
  offset: Joi.number().integer().min(0).max(1_000_000_000).default(0),
});

export const patternSchema = Joi.object<Omit<PatternParameters, 'fingerprint'>>({ since: time.default('-7d') });
export const diffSchema = Joi.object<PatternDiffParameters>({
  a: Joi.string().max(200).default('-2h..-1h').description('The window before, as `start..end`.'),
  b: Joi.string().max(200).default('-1h..now').description('The window after it.'),
  ...{ service, limit },
});

/** Throws HttpError 400, as do all of these. */
export const patternsParameters = (query: URLSearchParams): PatternsParameters => check(patternsSchema, single(query, PATTERNS));

export function patternParameters(fingerprint: string | undefined, query: URLSearchParams): PatternParameters {
  const text = (fingerprint ?? '').toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(text))
    throw invalidParameter(`The fingerprint of a pattern is 64 hexadecimal digits (got ${JSON.stringify(fingerprint)}).`);
  return { ...check(patternSchema, single(query, PATTERN)), fingerprint: text };
}

export const patternDiffParameters = (query: URLSearchParams): PatternDiffParameters => check(diffSchema, single(query, PATTERNS_DIFF));
