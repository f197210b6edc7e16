import type Joi from 'joi';
import { HttpError } from '../../pipeline/core/errors.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { InnerRequest } from '../http/inner-request.ts';
import { JSON_TYPE, type Operation } from '../http/operation.ts';
import { jsonSchemaOf, type JsonSchema } from '../openapi/schemas.ts';
import type { Tool } from './tools.ts';

/** Where a parameter of a tool goes. */
type Place = { readonly in: 'path' | 'query' | 'body'; readonly name: string };
type Properties = { readonly properties?: Readonly<Record<string, JsonSchema>>; readonly required?: readonly string[] };

/** A tool with the endpoint that answers it, and its parameters as JSON Schema. */
export type BoundTool = {
  readonly tool: Tool;
  readonly endpoint: Endpoint;
  readonly method: string;
  readonly summary: string;
  readonly schema: JsonSchema & { readonly type: 'object' };
  readonly places: ReadonlyMap<string, Place>;
};

/** Characters of an answer, unless a call asks for fewer or more; a page of it is read by a model at once. */
const USUAL_CHARACTERS = 20_000;
/** Most characters of an answer of a tool. */
const MAX_ANSWER_CHARACTERS = 100_000;
const LEAST_CHARACTERS = 500;
/** Where a page begins at most: as long as an answer is. */
const MAX_FROM_CHARACTER = 33_554_432;

const PAGING: Readonly<Record<string, JsonSchema>> = {
  max_characters: {
    ...{ type: 'integer', minimum: LEAST_CHARACTERS, maximum: MAX_ANSWER_CHARACTERS, default: USUAL_CHARACTERS },
    description: 'Most characters of the answer.',
  },
  from_character: {
    ...{ type: 'integer', minimum: 0, maximum: MAX_FROM_CHARACTER, default: 0 },
    description: 'Goes on with an answer that was cut: the same call with the values that it named.',
  },
};

/** Joins a tool with its operation. Its parameters are those of the operation, from the same schemas that check them. */
export function bindTool(tool: Tool, endpoints: readonly Endpoint[]): BoundTool {
  const endpoint = endpoints.find(({ operation }) => operation?.id === tool.operation);
  if (endpoint?.operation === undefined) throw new Error(`BUG: the tool ${tool.name} is for an operation that does not exist.`);
  const { operation } = endpoint;
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  const places = new Map<string, Place>();
  for (const { place, schema, isRequired } of parametersOf(endpoint, operation)) {
    if (tool.fixed !== undefined && Object.hasOwn(tool.fixed, place.name)) continue;
    // models' APIs take no brackets in names
    const name = place.name.replace(/\[\]$/, '');
    const fallback = tool.defaults?.[place.name];
    properties[name] = fallback === undefined ? schema : { ...schema, default: fallback };
    if (isRequired) required.push(name);
    places.set(name, place);
  }
  const [method = 'GET'] = endpoint.methods;
  return {
    ...{ tool, endpoint, method, summary: operation.summary, places },
    schema: { type: 'object', properties: { ...properties, ...PAGING }, required, additionalProperties: false },
  };
}

type Parameter = { readonly place: Place; readonly schema: JsonSchema; readonly isRequired: boolean };

function parametersOf({ path }: Endpoint, operation: Operation): Parameter[] {
  const known = operation.path === undefined ? {} : (propertiesOf(operation.path).properties ?? {});
  const parts = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).filter((name) => name !== 'tenant_id');
  const inPath = parts.map((name): Parameter => ({
    place: { in: 'path', name },
    schema: known[name] ?? { type: 'string' },
    isRequired: true,
  }));
  const body = operation.body?.content[JSON_TYPE];
  return [...inPath, ...parametersIn('query', operation.query), ...parametersIn('body', body)];
}

function parametersIn(where: 'query' | 'body', schema: Joi.Schema | undefined): Parameter[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = propertiesOf(schema);
  return Object.entries(properties).map(([name, one]) => ({
    place: { in: where, name },
    schema: one,
    isRequired: required.includes(name),
  }));
}

const propertiesOf = (schema: Joi.Schema): Properties => jsonSchemaOf(schema);

/** The arguments of a call. */
export type Arguments = Readonly<Record<string, unknown>>;

/** The request that a call stands for. Throws HttpError 400 for arguments that the tool does not have, or of a form that no parameter has. */
export function requestOf({ tool, method, places, endpoint }: BoundTool, given: Arguments, tenantId: number): InnerRequest {
  const params: Record<string, string> = { tenant_id: String(tenantId) };
  const query = new URLSearchParams(tool.fixed);
  const body = new Map<string, unknown>();
  const values = new Map<string, unknown>(Object.entries(tool.defaults ?? {}));
  for (const [name, value] of Object.entries(given)) if (value !== null && value !== undefined) values.set(name, value);
  for (const [name, value] of values) {
    if (Object.hasOwn(PAGING, name)) continue;
    const place = places.get(name);
    if (place === undefined)
      throw wrong(`The tool ${tool.name} has no argument ${JSON.stringify(name).slice(0, 100)}; it has: ${[...places.keys()].join(', ')}.`);
    if (place.in === 'body') body.set(place.name, value);
    else if (place.in === 'path') params[place.name] = textOf(name, value);
    else for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) query.append(place.name, textOf(name, one));
  }
  for (const [name, place] of places)
    if (place.in === 'path' && (params[place.name] ?? '') === '') throw wrong(`The argument ${name} is required.`);
  const hasBody = endpoint.operation?.body !== undefined && method === 'POST';
  return { method, params, query, ...(hasBody ? { body: Object.fromEntries(body) } : {}) };
}

/** How much of the answer is wanted, and from where on. Throws HttpError 400. */
export function pageOf(given: Arguments): { readonly from: number; readonly most: number } {
  const from = wholeOf('from_character', given['from_character'] ?? 0, 0, MAX_FROM_CHARACTER);
  const most = wholeOf('max_characters', given['max_characters'] ?? USUAL_CHARACTERS, LEAST_CHARACTERS, MAX_ANSWER_CHARACTERS);
  return { from, most };
}

function wholeOf(name: string, value: unknown, least: number, most: number): number {
  const isWhole = typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most;
  if (!isWhole) throw wrong(`${name} must be an integer from ${String(least)} to ${String(most)}.`);
  return value;
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw wrong(`The argument ${name} must be a string, a number or a boolean.`);
}

const wrong = (detail: string): HttpError => new HttpError(400, 'invalid_parameter', detail);
