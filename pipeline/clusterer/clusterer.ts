import { anyToken, clusterKey, isWord, joinValues } from './cluster-key.ts';
import { OneWordIndex, hashWithout } from './one-word-index.ts';
import { fingerprintOf } from './shapes.ts';
import { anyMethod, isClause, showsMethods, showsValues, shownToken } from './value-words.ts';

/** Constant words that templates which differ in one token must have besides. */
const WORDS = 2;
/** Templates of more tokens are not merged: the more words, the less does a differing one mean. */
const MAX_TOKENS = 24;

/** A template as the clusterer got it: when it was first seen, in milliseconds. */
export type SeenTemplate = { readonly template: string; readonly firstSeen: number };
/** From now on `alias` belongs to the cluster of `root`. Both are fingerprints. */
export type Alias = { readonly alias: string; readonly root: string };
/** What the state is as JSON. */
export type ClusterSnapshot = { readonly templates: readonly (readonly [string, number])[]; readonly overflow: number };

export type ClustererOptions = {
  /** Templates of a tenant; beyond it there is only the overflow. */
  readonly maxTemplates: number;
};

/** Messages past the cap on templates are counted under this template. */
export const OVERFLOW_TEMPLATE = '<overflow>';
export const OVERFLOW_FINGERPRINT: string = fingerprintOf(OVERFLOW_TEMPLATE);

/**
 * Groups the templates of one tenant into clusters (docs/patterns.md): those of one key, and those that differ in one token which has shown that
 * it is a value. It is called for new fingerprints only. Which templates are one cluster does not depend on the order in which they come: a
 * cluster's root is the one that was seen first, then the one with the smallest fingerprint.
 */
export class Clusterer {
  readonly #maxTemplates: number;
  /** The templates, in the order they came, and the node of each. */
  readonly #templates: SeenTemplate[] = [];
  readonly #fingerprints: string[] = [];
  readonly #nodeOf = new Map<string, number>();
  /** Nodes are keys, with the node above each; the uppermost one has the index of the cluster's root. */
  readonly #nodes = new Map<string, number>();
  readonly #keys: string[] = [];
  readonly #above: number[] = [];
  readonly #root: number[] = [];
  /** The indexes of the templates of each uppermost node. */
  readonly #members: (number[] | undefined)[] = [];
  readonly #index = new OneWordIndex();
  #overflow = 0;
  #aliases: Alias[] = [];

  constructor(options: ClustererOptions) {
    this.#maxTemplates = options.maxTemplates;
  }

  /** Takes in a template and gives the fingerprint of its cluster's root. */
  add(template: string, firstSeen: number): string {
    const fingerprint = fingerprintOf(template);
    const known = this.#nodeOf.get(fingerprint);
    if (known !== undefined) return this.#rootOf(known);
    if (this.#templates.length >= this.#maxTemplates) {
      this.#overflow += 1;
      return OVERFLOW_FINGERPRINT;
    }
    const index = this.#templates.length;
    this.#templates.push({ template, firstSeen });
    this.#fingerprints.push(fingerprint);
    const key = clusterKey(template);
    const isNew = !this.#nodes.has(key);
    const node = this.#node(key);
    this.#nodeOf.set(fingerprint, node);
    this.#enter(this.#top(node), index);
    if (isNew) this.#relate(node, key);
    return this.#rootOf(node);
  }

  /** The root's fingerprint of a fingerprint that was added; undefined for another. */
  rootOf(fingerprint: string): string | undefined {
    const node = this.#nodeOf.get(fingerprint);
    return node === undefined ? undefined : this.#rootOf(node);
  }

  /** The root's template, with `<*>` for the words that turned out to be values; undefined for a fingerprint that was not added. */
  shownTemplate(fingerprint: string): string | undefined {
    const node = this.#nodeOf.get(fingerprint);
    if (node === undefined) return undefined;
    const { template } = this.#templates[this.#root[this.#top(node)] as number] as SeenTemplate;
    return withValues(template, this.#generalised(clusterKey(template).split(' ')));
  }

  /** The tokens of a key with those that turned out to be values as such, the first one first. */
  #generalised(tokens: readonly string[]): readonly string[] {
    if (tokens.length > MAX_TOKENS) return tokens;
    const at = tokens.findIndex((token, index) => isWord(token) && this.#isValue(tokens, index));
    return at === -1 ? tokens : this.#generalised(tokens.with(at, anyMethod(tokens, at) ?? anyToken(tokens[at] as string)));
  }

  #isValue(tokens: readonly string[], index: number): boolean {
    const method = anyMethod(tokens, index);
    if (method === undefined && (index === 0 || isClause(tokens[index] as string))) return false;
    return this.#index.isJoined(hashWithout(tokens, index, method ?? anyToken(tokens[index] as string)));
  }

  /** The fingerprints of a cluster, its root first, the others in the order they came. */
  aliasesOf(fingerprint: string): readonly string[] {
    const node = this.#nodeOf.get(fingerprint);
    if (node === undefined) return [];
    const top = this.#top(node);
    const root = this.#root[top] as number;
    return [root, ...(this.#members[top] ?? []).filter((index) => index !== root).sort((a, b) => a - b)].map(
      (index) => this.#fingerprints[index] as string,
    );
  }

  /** Which fingerprints got another root since the last call. */
  takeAliases(): readonly Alias[] {
    const aliases = this.#aliases;
    this.#aliases = [];
    return aliases;
  }

  /** The number of templates that were not added because it is full. */
  get overflow(): number {
    return this.#overflow;
  }

  get size(): number {
    return this.#templates.length;
  }

  snapshot(): ClusterSnapshot {
    return { templates: this.#templates.map(({ template, firstSeen }) => [template, firstSeen] as const), overflow: this.#overflow };
  }

  /** The clusterer that gave a snapshot. */
  static restored(snapshot: ClusterSnapshot, options: ClustererOptions): Clusterer {
    const clusterer = new Clusterer(options);
    for (const [template, firstSeen] of snapshot.templates) clusterer.add(template, firstSeen);
    clusterer.#overflow = snapshot.overflow;
    clusterer.#aliases = [];
    return clusterer;
  }

  #node(key: string): number {
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    const node = this.#above.length;
    this.#nodes.set(key, node);
    this.#keys.push(key);
    this.#above.push(node);
    this.#root.push(-1);
    this.#members.push(undefined);
    return node;
  }

  #top(node: number): number {
    let top = node;
    while (this.#above[top] !== top) top = this.#above[top] as number;
    while (this.#above[node] !== top) [this.#above[node], node] = [top, this.#above[node] as number];
    return top;
  }

  #rootOf(node: number): string {
    return this.#fingerprints[this.#root[this.#top(node)] as number] as string;
  }

  /** Whether template `a` is a better root than `b`. */
  #isBefore(a: number, b: number): boolean {
    const [first, second] = [this.#templates[a] as SeenTemplate, this.#templates[b] as SeenTemplate];
    if (first.firstSeen !== second.firstSeen) return first.firstSeen < second.firstSeen;
    return (this.#fingerprints[a] as string) < (this.#fingerprints[b] as string);
  }

  /** A template enters the cluster of an uppermost node. */
  #enter(top: number, index: number): void {
    const root = this.#root[top] as number;
    const members = this.#members[top];
    if (members === undefined) this.#members[top] = [index];
    else members.push(index);
    if (root === -1) this.#root[top] = index;
    else this.#settle(top, root, index, [index], members ?? []);
  }

  /** Decides the root of two that meet, and adds an alias for each template whose root changes. */
  #settle(top: number, root: number, other: number, othersMembers: readonly number[], members: readonly number[]): void {
    const isOther = this.#isBefore(other, root);
    const winner = isOther ? other : root;
    this.#root[top] = winner;
    for (const index of isOther ? members : othersMembers)
      if (index !== winner) this.#aliases.push({ alias: this.#fingerprints[index] as string, root: this.#fingerprints[winner] as string });
  }

  #unite(a: number, b: number): void {
    const [into, from] = [this.#top(a), this.#top(b)];
    if (into === from) return;
    const [root, other] = [this.#root[into] as number, this.#root[from] as number];
    const [members, others] = [this.#members[into] ?? [], this.#members[from] ?? []];
    this.#above[from] = into;
    this.#members[from] = undefined;
    if (root === -1) this.#root[into] = other;
    else if (other !== -1) this.#settle(into, root, other, [...others], [...members]);
    this.#members[into] = members.length >= others.length ? append(members, others) : append(others, members);
  }

  /** Enters a new key among those that are equal but for one token, and unites those whose token has shown enough values. */
  #relate(node: number, key: string): void {
    const tokens = key.split(' ');
    if (tokens.length > MAX_TOKENS) return;
    const words = tokens.filter(isWord).length;
    for (let index = 0; index < tokens.length; index += 1) {
      const token = tokens[index] as string;
      const method = anyMethod(tokens, index);
      if (method === undefined && (index === 0 || words - (isWord(token) ? 1 : 0) < WORDS || isClause(token))) continue;
      const any = method ?? anyToken(token);
      const slot = this.#index.slot(hashWithout(tokens, index, any));
      const joined = this.#index.joined(slot);
      if (joined >= 0) {
        this.#unite(joined, node);
        continue;
      }
      this.#index.add(slot, node);
      const members = this.#index.members(slot);
      const seen = members.map((member) => (this.#keys[member] as string).split(' ')[index] as string);
      if (method === undefined ? showsValues(seen) : showsMethods(seen.length))
        this.#merge(slot, members, tokens.with(index, any).join(' '));
    }
  }

  #merge(slot: number, members: readonly number[], merged: string): void {
    const [first] = members as [number, ...number[]];
    this.#index.join(slot, first);
    for (const member of members) this.#unite(first, member);
    const key = joinValues(merged);
    const isNew = !this.#nodes.has(key);
    const node = this.#node(key);
    this.#unite(first, node);
    if (isNew) this.#relate(node, key);
  }
}

function append(to: number[], from: readonly number[]): number[] {
  for (const index of from) to.push(index);
  return to;
}

/** A template with `<*>` for those of its words that are values in `wanted`, the tokens of its key. */
function withValues(template: string, wanted: readonly string[]): string {
  const tokens = template.split(' ');
  for (const [index, token] of clusterKey(template).split(' ').entries()) {
    const shown = wanted[index] as string;
    if (shown === token) continue;
    const at = tokens.indexOf(token);
    if (at >= 0 && tokens.indexOf(token, at + 1) === -1) tokens[at] = shownToken(shown);
  }
  return tokens.join(' ');
}
