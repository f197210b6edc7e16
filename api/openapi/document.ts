import { CREDENTIAL_FORMS, extractCredential, type CredentialRequest } from '../auth/forms.ts';
import type { Plane } from '../auth/planes.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { JSON_TYPE, TAGS, type Answer, type Operation } from '../http/operation.ts';
import type { ErrorStyle } from '../http/render-error.ts';
import { errorAnswer, errorStatuses } from './errors.ts';
import { jsonSchemaOf, type JsonSchema } from './schemas.ts';

/** The version of the interface (not of the program). */
const INTERFACE_VERSION = '1.0.0';
const FORM_TYPE = 'application/x-www-form-urlencoded';
/** What an operation may answer that runs a query. */
const QUERY_TIMEOUT = 504;
/** The methods whose requests have a body. */
const WITH_BODY = ['POST', 'PUT'];

type Json = Readonly<Record<string, unknown>>;

/** Headers of answers, by their names in `components`. */
const NAMED_HEADERS: Json = {
  RequestId: { description: 'Names the request in the log of the service.', schema: { type: 'string' } },
  RetryAfter: {
    description: 'Seconds to wait before the request is sent again. A 503 without it does not pass by itself: the plan does not have this.',
    schema: { type: 'integer', minimum: 0 },
  },
  Set: { description: 'The set that the query was run on, where there are several.', schema: { type: 'string' } },
};
const HEADERS: Json = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };
const OF_QUERIES: Json = { 'X-Set': { $ref: '#/components/headers/Set' } };
const OF_WAITS: Json = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };
/** The errors that a client may wait out. */
const WAITS: readonly number[] = [429, 503];

/** The description of these endpoints as OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1). Those without an operation are left out. */
export function openApi(endpoints: readonly Endpoint[]): Json {
  const paths: Record<string, Record<string, Json>> = {};
  const errors: Errors = { answers: new Map(), bodies: new Map() };
  for (const endpoint of endpoints)
    for (const method of endpoint.methods) {
      if (endpoint.operation === undefined) continue;
      const path = templateOf(endpoint.path);
      paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(endpoint, endpoint.operation, method, errors) };
    }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Logweir',
      version: INTERFACE_VERSION,
      summary: 'Logs, traces and metrics of many tenants.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This host.' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      headers: NAMED_HEADERS,
      responses: Object.fromEntries(errors.answers),
      schemas: Object.fromEntries(errors.bodies),
      securitySchemes: SCHEMES,
    },
  };
}

/** Answers that many operations have, and their bodies, by name. */
type Errors = { readonly answers: Map<string, Json>; readonly bodies: Map<string, JsonSchema> };

/** A path as OpenAPI writes it. */
export const templateOf = (path: string): string => (path === '' ? '/' : path).replace(/\/:(\w+)/g, '/{$1}').replace(/\*$/, '{rest}');

/** `errors` collects the answers that many operations have. */
function operationOf(endpoint: Endpoint, operation: Operation, method: string, errors: Errors): Json {
  const { id, tag, summary, description, answers } = operation;
  const isForm = operation.isForm === true && method === 'POST';
  const parameters = [...pathParameters(endpoint.path, operation), ...(isForm ? [] : queryParameters(operation))];
  const body = bodyOf(operation, isForm, method);
  const statuses = errorStatuses(endpoint, operation, method);
  const own = endpoint.access?.scope === 'read' && statuses.includes(QUERY_TIMEOUT) ? OF_QUERIES : {};
  const good = Object.entries(answers).map(([status, answer]) => [status, responseOf(answer, own)] as const);
  const bad = statuses.map((status) => {
    const name = `${endpoint.errors}_${String(status)}`;
    if (!errors.answers.has(name)) errors.answers.set(name, errorOf(endpoint.errors, status, errors));
    return [String(status), { $ref: `#/components/responses/${name}` }] as const;
  });
  return {
    operationId:
      endpoint.methods.length > 1 && method !== endpoint.methods[0] ? `${id}By${method.charAt(0)}${method.slice(1).toLowerCase()}` : id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === null ? {} : { requestBody: body }),
    responses: Object.fromEntries([...good, ...bad].sort(([a], [b]) => (a < b ? -1 : 1))) as Json,
    security: endpoint.access === null ? [] : securityOf(endpoint.access.plane, endpoint.path),
  };
}

function pathParameters(path: string, { path: schema }: Operation): Json[] {
  const known = schema === undefined ? {} : propertiesOf(schema).properties;
  return [...templateOf(path).matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    ...{ name, in: 'path', required: true },
    schema:
      known[name] ?? (name === 'tenant_id' ? { type: 'integer', minimum: 1, description: 'The tenant of the key.' } : { type: 'string' }),
  }));
}

function queryParameters({ query }: Operation): Json[] {
  if (query === undefined) return [];
  const { properties, required } = propertiesOf(query);
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    ...{ name, in: 'query', required: required.includes(name) },
    ...(typeof description === 'string' ? { description } : {}),
    ...(schema['type'] === 'array' ? { explode: true } : {}),
    schema,
  }));
}

type Properties = { readonly properties: Readonly<Record<string, JsonSchema>>; readonly required: readonly string[] };
const propertiesOf = (schema: Parameters<typeof jsonSchemaOf>[0]): Properties => ({
  ...{ properties: {}, required: [] },
  ...(jsonSchemaOf(schema) as Partial<Properties>),
});

function bodyOf({ body, query }: Operation, isForm: boolean, method: string): Json | null {
  if (isForm && query !== undefined) return { required: false, content: { [FORM_TYPE]: { schema: jsonSchemaOf(query) } } };
  if (body === undefined || !WITH_BODY.includes(method)) return null;
  const content = Object.entries(body.content).map(([type, schema]) => [type, { schema: jsonSchemaOf(schema) }]);
  return { required: body.isOptional !== true, content: Object.fromEntries(content) as Json };
}

/** `headers`: what it has beside those of every answer. */
function responseOf({ description, content = {} }: Answer, headers: Json): Json {
  const types = Object.entries(content).map(([type, schema]) => [type, { schema: jsonSchemaOf(schema) }]);
  return {
    description,
    headers: { ...HEADERS, ...headers },
    ...(types.length === 0 ? {} : { content: Object.fromEntries(types) as Json }),
  };
}

/** An answer whose JSON has a name of its own, so that clients have one type for it. */
function errorOf(style: ErrorStyle, status: number, { bodies }: Errors): Json {
  const answer = responseOf(errorAnswer(style, status), WAITS.includes(status) ? OF_WAITS : {});
  const content = (answer['content'] ?? {}) as Readonly<Record<string, { readonly schema: JsonSchema }>>;
  const named = Object.entries(content).map(([type, { schema }]) => {
    if (type !== JSON_TYPE) return [type, { schema }] as const;
    const name = `${style.split('_').map(capital).join('')}Error`;
    bodies.set(name, schema);
    return [type, { schema: { $ref: `#/components/schemas/${name}` } }] as const;
  });
  return { ...answer, content: Object.fromEntries(named) };
}

const capital = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;

const noHeader = (): string => '';
const inHeader = (name: string, value: string) => (sent: string) => (sent === name ? value : '');

/** The ways to send a key (`api/auth/forms.ts`), as OpenAPI has words for them, each with a request that sends one so. */
const WAYS: Readonly<
  Record<string, { readonly scheme: Json; readonly sent: Pick<CredentialRequest, 'header'> & { readonly parameter?: string } }>
> = {
  bearer: {
    scheme: { type: 'http', scheme: 'bearer', description: CREDENTIAL_FORMS.map(({ name }) => name).join('; ') },
    sent: { header: inHeader('authorization', 'Bearer k') },
  },
  basic: {
    scheme: { type: 'http', scheme: 'basic', description: 'The key is the name; the password is ignored.' },
    sent: { header: inHeader('authorization', `Basic ${Buffer.from('k:').toString('base64')}`) },
  },
  header: { scheme: { type: 'apiKey', in: 'header', name: 'X-API-Key' }, sent: { header: inHeader('x-api-key', 'k') } },
  firehose: {
    scheme: { type: 'apiKey', in: 'header', name: 'X-Amz-Firehose-Access-Key', description: 'As Amazon Data Firehose sends it.' },
    sent: { header: inHeader('x-amz-firehose-access-key', 'k') },
  },
  subprotocol: {
    scheme: { type: 'apiKey', in: 'header', name: 'Sec-WebSocket-Protocol', description: '`logweir.v1, logweir.bearer.KEY`' },
    sent: { header: inHeader('sec-websocket-protocol', 'logweir.v1, logweir.bearer.k') },
  },
  parameter: { scheme: { type: 'apiKey', in: 'query', name: 'api_key' }, sent: { header: noHeader, parameter: 'api_key' } },
  token: { scheme: { type: 'apiKey', in: 'query', name: 'token' }, sent: { header: noHeader, parameter: 'token' } },
};
const SCHEMES: Json = Object.fromEntries(Object.entries(WAYS).map(([name, { scheme }]) => [name, scheme]));

/** Ways that a path takes, one of them: those whose request has a key by what reads it. */
function securityOf(plane: Plane, path: string): Json[] {
  const takes = ({ header, parameter }: (typeof WAYS)[string]['sent']): boolean =>
    extractCredential({ path, header, query: new URLSearchParams(parameter === undefined ? {} : { [parameter]: 'k' }) }, plane) !== null;
  return Object.entries(WAYS)
    .filter(([, { sent }]) => takes(sent))
    .map(([name]) => ({ [name]: [] }));
}
