import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { openApi } from '../../api/openapi/document.ts';
import { describedEndpoints } from '../../main/description.ts';
import { noteSeen } from './seen.ts';

type Json = Readonly<Record<string, unknown>>;
type Response = { readonly content?: Readonly<Record<string, { readonly schema: Json }>> };
type Described = { readonly operationId: string; readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>> };
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Response>>; readonly schemas: Readonly<Record<string, Json>> };
};
type Path = { readonly pattern: RegExp; readonly methods: Readonly<Record<string, Described>> };

/** An answer as a client has it; `body` is parsed where it is JSON. */
export type Answered = {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly type: string;
  readonly body: unknown;
};

/** Checks answers against the description of the API. */
export class DescribedAnswers {
  readonly #document: Document;
  /** What has no parameters comes first, as when requests are routed. */
  readonly #paths: readonly Path[];
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false });
  readonly #checks = new Map<Json, ValidateFunction>();

  readonly #onSeen: (operationId: string, status: number) => void;

  /** `onSeen` is given what was answered as it is described. */
  constructor(document: Document, onSeen: (operationId: string, status: number) => void = () => undefined) {
    this.#document = document;
    this.#onSeen = onSeen;
    const parameters = (path: string): number => path.split('{').length;
    this.#paths = Object.entries(document.paths)
      .sort(([a], [b]) => parameters(a) - parameters(b))
      .map(([path, methods]) => ({ pattern: patternOf(path), methods }));
  }

  static ofService(): DescribedAnswers {
    return new DescribedAnswers(openApi(describedEndpoints()) as unknown as Document, noteSeen);
  }

  /** What in an answer differs from the description; null where nothing does, or where the path or its method is not in it. */
  fault(answered: Answered): string | null {
    const { pathname } = new URL(answered.url);
    const operation = this.#paths.find(({ pattern }) => pattern.test(pathname))?.methods[answered.method.toLowerCase()];
    if (operation === undefined) return null;
    const fault = this.#faultOf(operation, answered);
    if (fault === null) this.#onSeen(operation.operationId, answered.status);
    return fault;
  }

  #faultOf({ operationId, responses }: Described, { status, type, body }: Answered): string | null {
    const found = responses[String(status)];
    if (found === undefined) return `${operationId} answered ${String(status)}, and is described with ${Object.keys(responses).join(', ')}`;
    const { content = {} } = '$ref' in found ? (this.#document.components.responses[found.$ref.split('/').at(-1) ?? ''] ?? {}) : found;
    const [media = ''] = type.split(';');
    const schema = content[media.trim()]?.schema;
    if (schema === undefined) {
      const isNothing = body === '' || body === undefined;
      return isNothing || Object.keys(content).length === 0
        ? null
        : `${operationId} ${String(status)} answered ${media || 'no type'}, and is described with ${Object.keys(content).join(', ')}`;
    }
    if (media !== 'application/json') return null;
    const check = this.#checkOf(schema);
    if (check(body)) return null;
    const [error] = check.errors ?? [];
    return `${operationId} ${String(status)}: ${error?.instancePath ?? ''} ${error?.message ?? ''} ${JSON.stringify(error?.params)}`;
  }

  #checkOf(described: Json): ValidateFunction {
    const { $ref: name } = described as { readonly $ref?: string };
    const schema = name === undefined ? described : (this.#document.components.schemas[name.split('/').at(-1) ?? ''] ?? false);
    if (schema === false) throw new Error(`The description has no ${String(name)}.`);
    const known = this.#checks.get(schema) ?? this.#ajv.compile(schema);
    this.#checks.set(schema, known);
    return known;
  }
}

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.+?^$()|[\]\\]/g, '\\$&').replace(/\{rest\}/g, '.*').replace(/\{\w+\}/g, '[^/]+')}/?$`); // prettier-ignore
