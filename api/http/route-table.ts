/** What was found for a path: the members by method, the parameters, and the template it matched. */
export type Found<Member> = {
  readonly template: string;
  readonly members: ReadonlyMap<string, Member>;
  readonly params: Readonly<Record<string, string>>;
};

type Leaf<Member> = { readonly template: string; readonly members: Map<string, Member> };
type Pattern<Member> = { readonly segments: readonly string[]; readonly leaf: Leaf<Member> };

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Paths to members. A segment `{name}` or `:name` is a parameter (one non-empty segment), a last segment `*` takes all the rest.
 * Exact paths win over patterns, and patterns are tried in the order in which they were added.
 */
export class RouteTable<Member> {
  readonly #exact = new Map<string, Found<Member> & Leaf<Member>>();
  readonly #patterns: Pattern<Member>[] = [];

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
    const segments = path.split('/');
    for (const { segments: pattern, leaf } of this.#patterns) {
      const params = matchSegments(pattern, segments);
      if (params !== null) return { ...leaf, params };
    }
    return null;
  }

  #leaf(template: string): Leaf<Member> {
    if (!/[{*]/.test(template)) {
      const known = this.#exact.get(template) ?? { template, members: new Map<string, Member>(), params: NO_PARAMS };
      this.#exact.set(template, known);
      return known;
    }
    const known = this.#patterns.find((pattern) => pattern.leaf.template === template);
    if (known !== undefined) return known.leaf;
    const leaf = { template, members: new Map<string, Member>() };
    this.#patterns.push({ segments: template.split('/'), leaf });
    return leaf;
  }
}

function matchSegments(pattern: readonly string[], segments: readonly string[]): Record<string, string> | null {
  const rest = pattern.at(-1) === '*';
  if (rest ? segments.length < pattern.length : segments.length !== pattern.length) return null;
  const params = Object.create(null) as Record<string, string>;
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (part === '*') params['*'] = segments.slice(index).join('/');
    else if (part.startsWith('{')) {
      const text = decodeSegment(segment);
      if (text === null || text === '') return null;
      params[part.slice(1, -1)] = text;
    } else if (part !== segment) return null;
  }
  return params;
}

/** The percent-decoded segment; null where its escapes are wrong. */
function decodeSegment(segment: string): string | null {
  try {
    return segment.includes('%') ? decodeURIComponent(segment) : segment;
  } catch {
    return null;
  }
}
