import type Joi from 'joi';

/** A JSON Schema of the dialect 2020-12, which is OpenAPI 3.1's. */
export type JsonSchema = Readonly<Record<string, unknown>>;

type Standard = { readonly '~standard': { readonly jsonSchema: { input(options: { readonly target: string }): JsonSchema } } };
type Notes = { readonly examples?: readonly unknown[]; readonly keys?: Readonly<Record<string, Notes>>; readonly items?: readonly Notes[] };

/** The JSON Schema of a joi schema, with its examples, which joi leaves out. Members that may be left out of what is sent are not required. */
export function jsonSchemaOf(schema: Joi.Schema): JsonSchema {
  const made = (schema as unknown as Standard)['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
  return withExamples(made, schema.describe() as Notes);
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
