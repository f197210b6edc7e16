/** A list of what a tenant has, in pages: one form for all endpoints that list what a process holds. Those of others' APIs have theirs. */
import Joi from 'joi';
import { HttpError, httpErrorOf, invalidParameter } from '../../pipeline/core/errors.ts';
import { list, members, ok, whole, type Operation } from './operation.ts';

/** What every answer of a list has beside its items. `total`: items in all pages. */
export type Page<Item> = {
  readonly items: readonly Item[];
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  readonly has_more: boolean;
};

type Parameters = {
  readonly limit: number;
  readonly offset: number;
  readonly sort?: string;
  readonly order: 'asc' | 'desc';
  readonly filter: string;
};

const MAX_LIMIT = 1000;
/** Characters of the items of a page, behind the first one at the earliest: the next page goes on behind them. */
export const MAX_PAGE = 2_000_000;
const MAX_FILTER = 200;

/** Parameters of a list that is sorted by one of these members; in the order in which they were made without `sort`. */
export const listParameters = <More = object>(
  sorts: readonly string[],
  more: Readonly<Record<string, Joi.Schema>> = {},
): Joi.ObjectSchema<Parameters & More> =>
  Joi.object({
    limit: Joi.number()
      .integer()
      .min(1)
      .max(MAX_LIMIT)
      .default(100)
      .description(
        'Most items of the page; it has fewer where they are long: `has_more` is true where there are further ones, from `offset` and their number on.',
      ),
    offset: Joi.number().integer().min(0).default(0).description('Items to leave out.'),
    sort: Joi.string()
      .valid(...sorts)
      .description('The member to sort by; without it the oldest come first.'),
    order: Joi.string().valid('asc', 'desc').default('asc').description('Of `sort`.'),
    filter: Joi.string()
      .allow('')
      .max(MAX_FILTER)
      .default('')
      .description('Items one of whose texts has this; letters of both cases are the same.'),
    ...more,
  });

/** The answers of an operation that lists these. */
export const pageAnswer = (
  item: Joi.Schema,
  more: Readonly<Record<string, Joi.Schema>> = {},
  optional: Readonly<Record<string, Joi.Schema>> = {},
): Operation['answers'] =>
  ok(members({ items: list(item), total: whole(), limit: whole(), offset: whole(), has_more: Joi.boolean(), ...more }, optional));

/** A parameter that a function reads; the HttpError that it throws is the answer. */
export const readBy = (read: (text: string) => unknown): Joi.StringSchema =>
  Joi.string()
    .custom(read)
    .error((errors) => thrownBy(read, errors) ?? errors);

/** What the function has thrown, or throws of the empty string, which joi refuses before. */
function thrownBy(read: (text: string) => unknown, errors: readonly Joi.ErrorReport[]): HttpError | null {
  try {
    if (errors.some(({ code }) => code === 'string.empty')) read('');
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
  return errors.map(({ local }) => (local as { readonly error?: unknown }).error).find((error) => error instanceof HttpError) ?? null;
}

/** Parameters of a URL as the schema wants them. Throws HttpError 400 that names all that is wrong; those that are not known are ignored. */
export function checkedQuery<Value>(schema: Joi.ObjectSchema<Value>, query: URLSearchParams): Value {
  const result = schema.validate(Object.fromEntries(query), { abortEarly: false, stripUnknown: true });
  if (result.error !== undefined)
    throw httpErrorOf(result.error) ?? invalidParameter(`${result.error.details.map(({ message }) => message).join('; ')}.`);
  return result.value;
}

/** The page that is asked for, of all items in the order in which they were made. Throws HttpError 400. */
export function pageOf<Item extends object>(
  items: readonly Item[],
  schema: Joi.ObjectSchema<Parameters>,
  query: URLSearchParams,
): Page<Item> {
  const { limit, offset, sort, order, filter } = checkedQuery(schema, query);
  const wanted = filter.toLowerCase();
  const found = wanted === '' ? items : items.filter((item) => Object.values(item).some((value) => typeof value === 'string' && value.toLowerCase().includes(wanted))); // prettier-ignore
  const sorted = sort === undefined ? found : found.toSorted((a, b) => compared(memberOf(a, sort), memberOf(b, sort)));
  const all = order === 'desc' ? sorted.toReversed() : sorted;
  const page = bounded(all.slice(offset, offset + limit));
  return { items: page, total: all.length, limit, offset, has_more: offset + page.length < all.length };
}

/** The first of these items that a page has room for. */
function bounded<Item extends object>(items: readonly Item[]): readonly Item[] {
  let length = 0;
  const end = items.findIndex((item, index) => {
    length += JSON.stringify(item).length;
    return index > 0 && length > MAX_PAGE;
  });
  return end < 0 ? items : items.slice(0, end);
}

const memberOf = (item: object, name: string): unknown => (item as Readonly<Record<string, unknown>>)[name];

/** Numbers by size, anything else as text; what is missing comes first. */
function compared(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [one, other] = [textOf(a), textOf(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
