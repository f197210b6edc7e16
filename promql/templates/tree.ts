/** What a template is made of. */

/** An error of a template, in Go's manner: where it is parsed, or where it is expanded. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/** A value while a template is expanded. */
export type TemplateValue = string | number | boolean | null | ReadonlyMap<string, string>;

/** A part of a command: a value, a variable or the dot with its fields, a function's name, or a pipeline in parentheses. */
export type Operand =
  | { readonly kind: 'value'; readonly value: TemplateValue }
  | { readonly kind: 'variable'; readonly name: string; readonly fields: readonly string[] }
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'group'; readonly pipeline: Pipeline; readonly fields: readonly string[] };

/** Commands, each of which is given the value of the one before as its last argument. */
export type Pipeline = readonly (readonly Operand[])[];

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'show'; readonly pipeline: Pipeline }
  | { readonly kind: 'set'; readonly name: string; readonly pipeline: Pipeline }
  | {
      readonly kind: 'if' | 'with';
      readonly pipeline: Pipeline;
      /** `with $x := …` names its value. */
      readonly name: string | null;
      readonly then: readonly Node[];
      readonly otherwise: readonly Node[];
    };
