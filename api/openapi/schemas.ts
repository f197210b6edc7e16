import type Joi from 'joi';

/** A JSON Schema of the dialect 2020-12, which is OpenAPI 3.1's. */
export type JsonSchema = Readonly<Record<string, unknown>>;

type Standard = { readonly '~standard': { readonly jsonSchema: { input(options: { readonly target: string }): JsonSchema } } };
type Notes = { readonly examples?: readonly unknown[]; readonly keys?: Readonly<Record<string, Notes>>; readonly items?: readonly Notes[] };

/** The JSON Schema of a joi schema, with its examples, which joi leaves out. Members that may be left out of what is sent are not required. */
export function jsonSchemaOf(schema: Joi.Schema): JsonSchema {
  const made = (schema as unknown as Standard)['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
  return withExamples(forClients(made) as JsonSchema, schema.describe() as Notes);
}

function withExamples(schema: JsonSchema, { examples, keys = {}, items = [] }: Notes): JsonSchema {
  const { properties } = schema as { readonly properties?: Readonly<Record<string, JsonSchema>> };
  const inside = Object.entries(properties ?? {}).map(([name, one]) => [name, withExamples(one, keys[name] ?? {})]);
  const [item] = items;
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: Object.fromEntries(inside) as JsonSchema }),
    ...(schema['items'] === undefined || item === undefined ? {} : { items: withExamples(schema['items'] as JsonSchema, item) }),
    ...(examples === undefined ? {} : { examples }),
  };
}

/** The same in words that generators of clients know: members of any name are additional ones, and an array has items, be they anything. */
function forClients(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forClients);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { patternProperties, ...rest } = Object.fromEntries(Object.entries(schema).map(([name, one]) => [name, forClients(one)])) as {
    readonly patternProperties?: JsonSchema;
  } & JsonSchema;
  const isOpen = Object.keys(patternProperties ?? {}).join() === '.*' && rest['additionalProperties'] === false;
  const hasItems = 'items' in rest || 'prefixItems' in rest;
  return {
    ...rest,
    ...(patternProperties === undefined ? {} : isOpen ? { additionalProperties: patternProperties['.*'] } : { patternProperties }),
    ...(rest['type'] === 'array' && !hasItems ? { items: {} } : {}),
  };
}
