import Router from '@koa/router';

/** What was found for a path: the members by method, the parameters, and the template it matched. */
export type Found<Member> = {
  readonly template: string;
  readonly members: ReadonlyMap<string, Member>;
  readonly params: Readonly<Record<string, string>>;
};

type Leaf<Member> = { readonly template: string; readonly members: Map<string, Member> };

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});
const REST = 'rest';

/**
 * Paths to members. A segment `{name}` or `:name` is a parameter (one non-empty segment), a last segment `*` takes all the rest, as the parameter `rest`.
 * Paths without parameters, all of those that entries come on, are looked up in one step; the others are matched by @koa/router, in the order in
 * which they were added.
 */
export class RouteTable<Member> {
  readonly #leaves = new Map<string, Leaf<Member>>();
  readonly #exact = new Map<string, Found<Member>>();
  readonly #router = new Router({ sensitive: true, strict: true });

  /** Adds a member; the same method and path twice is a bug. */
  add(methods: readonly string[], path: string, member: Member): void {
    const template = path.replace(/\/:(\w+)/g, '/{$1}');
    const leaf = this.#leaf(template);
    for (const method of methods) {
      if (leaf.members.has(method)) throw new Error(`BUG: ${method} ${template} is routed twice.`);
      leaf.members.set(method, member);
    }
  }

  /** What this path (without its query) leads to, or null. */
  find(path: string): Found<Member> | null {
    const exact = this.#exact.get(path);
    if (exact !== undefined) return exact;
    for (const layer of this.#router.match(path, '').path) {
      const captures = layer.captures(path);
      const leaf = this.#leaves.get(layer.name ?? '');
      if (leaf !== undefined && captures.every(isWellFormed)) return { ...leaf, params: layer.params(path, captures) };
    }
    return null;
  }

  #leaf(template: string): Leaf<Member> {
    const known = this.#leaves.get(template);
    if (known !== undefined) return known;
    const leaf = { template, members: new Map<string, Member>() };
    this.#leaves.set(template, leaf);
    if (/[{*]/.test(template)) this.#router.register(patternOf(template), [], () => undefined, { name: template });
    else this.#exact.set(template, { ...leaf, params: NO_PARAMS });
    return leaf;
  }
}

/** As path-to-regexp writes it. */
const patternOf = (template: string): string => template.replace(/\{(\w+)\}/g, ':$1').replace(/\*$/, `{*${REST}}`);

/** Whether the escapes of a segment are right: the router would leave wrong ones as they are. */
function isWellFormed(segment: string | undefined): boolean {
  try {
    if (segment?.includes('%') === true) decodeURIComponent(segment);
    return true;
  } catch {
    return false;
  }
}
