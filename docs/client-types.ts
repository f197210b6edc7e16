/** The types of the TypeScript client (web/client/operations.ts), from the description of the API: what each operation takes and answers. */

type Json = Readonly<Record<string, unknown>>;
type Operation = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean; readonly schema: Json }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, { readonly schema: Json }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Json }>> } | { readonly $ref: string }>
  >;
};
type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

/** Sections that have clients of their own, or none: what shippers send, and the APIs of others. */
const LEFT_OUT = ['ingest', 'victorialogs', 'jaeger', 'prometheus'];

const HEAD = `// Written by \`npm run docs\` from docs/openapi.json; not to be edited.
/* eslint-disable */

/** What each operation takes and answers, by its method and path. */
export interface Operations {
`;

/** The whole file. */
export function clientTypes(document: object): string {
  const operations = Object.entries((document as Document).paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => !tags.some((tag) => LEFT_OUT.includes(tag)))
      .map(([method, operation]) => entryOf(`${method.toUpperCase()} ${path}`, operation)),
  );
  return `${HEAD}${operations.join('')}}\n`;
}

function entryOf(name: string, { summary, parameters = [], requestBody, responses }: Operation): string {
  const of = (place: string): string => {
    const own = parameters.filter((one) => one.in === place);
    return own.length === 0
      ? '{}'
      : `{ ${own.map(({ name: key, required, schema }) => `${keyOf(key)}${required ? '' : '?'}: ${typeOf(schema)}`).join('; ')} }`;
  };
  const body = Object.values(requestBody?.content ?? {})[0];
  const optional = requestBody?.required === false ? ' | undefined' : '';
  return [
    `  /** ${summary} */`,
    `  ${JSON.stringify(name)}: {`,
    `    path: ${of('path')};`,
    `    query: ${of('query')};`,
    `    body: ${body === undefined ? 'undefined' : typeOf(body.schema) + optional};`,
    `    answer: ${answerOf(responses)};`,
    '  };\n',
  ].join('\n');
}

/** The answers of statuses that are good, in JSON; others are text. */
function answerOf(responses: Operation['responses']): string {
  const types = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, response]) => {
      const content = 'content' in response ? (response.content ?? {}) : {};
      const schema = content['application/json']?.schema;
      return schema === undefined ? (Object.keys(content).length > 0 ? 'string' : 'undefined') : typeOf(schema);
    });
  // a WebSocket has none
  return types.length === 0 ? 'never' : [...new Set(types)].join(' | ');
}

const keyOf = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));

const PLAIN: Readonly<Record<string, string>> = { string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null' };

/** A schema as a type. Its bounds are for the service to check. */
function typeOf(schema: Json): string {
  const { type, properties, patternProperties, items, required = [] } = schema;
  const choices = (schema['anyOf'] ?? schema['oneOf']) as readonly Json[] | undefined;
  if (choices !== undefined) return union(choices.map(typeOf));
  if ('const' in schema) return JSON.stringify(schema['const']);
  if (Array.isArray(schema['enum'])) return union((schema['enum'] as readonly unknown[]).map((value) => JSON.stringify(value)));
  if (Array.isArray(type)) return union((type as readonly string[]).map((one) => typeOf({ ...schema, type: one })));
  if (type === 'null') return 'null';
  if (type === 'array') return `${wrapped(typeOf((items ?? {}) as Json))}[]`;
  if (type === 'object' || properties !== undefined)
    return objectOf(properties as Readonly<Record<string, Json>>, patternProperties, required as readonly string[]);
  return (typeof type === 'string' ? PLAIN[type] : undefined) ?? 'unknown';
}

function objectOf(properties: Readonly<Record<string, Json>> = {}, patterns: unknown, required: readonly string[]): string {
  const known = Object.entries(properties).map(([name, own]) => `${keyOf(name)}${required.includes(name) ? '' : '?'}: ${typeOf(own)}`);
  const values = Object.values((patterns ?? {}) as Readonly<Record<string, Json>>).map(typeOf);
  if (values.length === 0) return known.length === 0 ? '{ [name: string]: unknown }' : `{ ${known.join('; ')} }`;
  return `{ ${[...known, `[name: string]: ${known.length > 0 ? 'unknown' : union(values)}`].join('; ')} }`;
}

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ') || 'unknown';
const wrapped = (type: string): string => (type.includes(' | ') ? `(${type})` : type);
