/** Templates of labels and annotations, expanded for a sample. */
import { functionOf, isTrue, MAX_TEXT, shownValue } from './functions.ts';
import { parseTemplate } from './parse-template.ts';
import { TemplateError, type Node, type Operand, type Pipeline, type TemplateValue } from './tree.ts';

/** What a template is expanded for: the labels of the sample, and its value. */
export type TemplateData = { readonly labels: ReadonlyMap<string, string>; readonly value: number };

/** A template that was read. */
export type Template = { readonly nodes: readonly Node[] };

/** Reads a template. Throws TemplateError with the reason. */
export const readTemplate = (source: string): Template => ({ nodes: parseTemplate(source) });

/** What a template gives; one that cannot be expanded gives the error, as Prometheus has it. At most 10,000 characters. */
export function expandTemplate({ nodes }: Template, data: TemplateData): string {
  try {
    return new Expansion(data).list(nodes);
  } catch (error) {
    if (error instanceof TemplateError) return `<error expanding template: ${error.message}>`;
    throw error;
  }
}

const NO_LABELS: ReadonlyMap<string, string> = new Map();

class Expansion {
  readonly #data: TemplateData;
  readonly #variables: Map<string, TemplateValue>;
  /** What the dot is; undefined for all of it, which is no value by itself. */
  #dot: TemplateValue | undefined;
  #length = 0;

  constructor(data: TemplateData) {
    this.#data = data;
    this.#variables = new Map<string, TemplateValue>([
      ['$labels', data.labels],
      ['$value', data.value],
      ['$externalLabels', NO_LABELS],
      ['$externalURL', ''],
    ]);
  }

  list(nodes: readonly Node[]): string {
    let text = '';
    for (const node of nodes) {
      const part = this.#node(node);
      if (node.kind === 'text' || node.kind === 'show') this.#length += part.length;
      if (this.#length > MAX_TEXT) throw new TemplateError(`more than ${String(MAX_TEXT)} characters`);
      text += part;
    }
    return text;
  }

  #node(node: Node): string {
    switch (node.kind) {
      case 'text':
        return node.text;
      case 'show':
        return shownValue(this.#pipeline(node.pipeline));
      case 'set':
        this.#variables.set(node.name, this.#pipeline(node.pipeline));
        return '';
      case 'if':
      case 'with': {
        const value = this.#pipeline(node.pipeline);
        if (!isTrue(value)) return this.list(node.otherwise);
        if (node.name !== null) this.#variables.set(node.name, value);
        const before = this.#dot;
        if (node.kind === 'with') this.#dot = value;
        const text = this.list(node.then);
        this.#dot = before;
        return text;
      }
    }
  }

  #pipeline(commands: Pipeline): TemplateValue {
    let last: TemplateValue | undefined;
    for (const command of commands) last = this.#command(command, last);
    return last ?? null;
  }

  #command([first, ...rest]: readonly Operand[], last: TemplateValue | undefined): TemplateValue {
    if (first === undefined) return null;
    if (first.kind !== 'function') {
      if (last !== undefined) throw new TemplateError("can't give argument to what is not a function");
      return this.#operand(first);
    }
    const found = functionOf(first.name);
    const args = [...rest.map((operand) => this.#operand(operand)), ...(last === undefined ? [] : [last])];
    if (found === undefined || args.length < found.least || args.length > found.most)
      throw new TemplateError(`wrong number of args for ${first.name}: got ${String(args.length)}`);
    return found.apply(args);
  }

  #operand(operand: Operand): TemplateValue {
    switch (operand.kind) {
      case 'value':
        return operand.value;
      case 'function':
        return this.#command([operand], undefined);
      case 'group':
        return fieldOf(this.#pipeline(operand.pipeline), operand.fields);
      case 'variable':
        return this.#variable(operand.name, operand.fields);
    }
  }

  #variable(name: string, fields: readonly string[]): TemplateValue {
    const isAll = name === '$' || (name === '.' && this.#dot === undefined);
    if (isAll) {
      const [field = '', ...more] = fields;
      if (field === 'Labels') return fieldOf(this.#data.labels, more);
      if (field === 'Value') return fieldOf(this.#data.value, more);
      if (field === 'ExternalLabels') return fieldOf(NO_LABELS, more);
      if (field === 'ExternalURL') return '';
      throw new TemplateError(`can't evaluate field ${field}`);
    }
    if (name === '.') return fieldOf(this.#dot ?? null, fields);
    const value = this.#variables.get(name);
    if (value === undefined) throw new TemplateError(`undefined variable ${JSON.stringify(name)}`);
    return fieldOf(value, fields);
  }
}

/** A label of a set; one that is not there is empty. */
function fieldOf(value: TemplateValue, fields: readonly string[]): TemplateValue {
  const [name, ...more] = fields;
  if (name === undefined) return value;
  if (value === null || typeof value !== 'object' || more.length > 0) throw new TemplateError(`can't evaluate field ${name}`);
  return value.get(name) ?? '';
}
