/** Sets of field names: which fields a pipe needs, keeps or drops. A name that ends in `*` stands for all that begin so. */

const isPattern = (name: string): boolean => name.endsWith('*');

/** True when one of the names or prefixes (`k8s.*`, `*`) covers the field. */
export function coversField(patterns: readonly string[], field: string): boolean {
  return patterns.some((pattern) => (isPattern(pattern) ? field.startsWith(pattern.slice(0, -1)) : pattern === field));
}

/** An immutable set of field names: all but some, or only some. */
export class FieldSet {
  /** True when the set is everything except `names`. */
  readonly isOpen: boolean;
  /** Names and patterns: those in the set, or of an open set those that are not. */
  readonly names: readonly string[];
  private constructor(isOpen: boolean, names: readonly string[]) {
    this.isOpen = isOpen;
    this.names = names;
  }

  static readonly all = new FieldSet(true, []);
  static readonly none = new FieldSet(false, []);
  static of(names: readonly string[]): FieldSet {
    return names.includes('*') ? FieldSet.all : new FieldSet(false, [...new Set(names)]);
  }

  has(field: string): boolean {
    return coversField(this.names, field) !== this.isOpen;
  }
  /** With these names and patterns too. */
  plus(names: readonly string[]): FieldSet {
    if (names.includes('*')) return FieldSet.all;
    if (!this.isOpen) return FieldSet.of([...this.names, ...names]);
    return new FieldSet(
      true,
      this.names.filter((name) =>
        isPattern(name)
          ? !names.some((other) => name.startsWith(other.replace(/\*$/, '')) || other.startsWith(name.slice(0, -1)))
          : !coversField(names, name),
      ),
    );
  }
  /** Without these names and patterns. */
  minus(names: readonly string[]): FieldSet {
    if (this.isOpen) return new FieldSet(true, [...new Set([...this.names, ...names])]);
    // An own pattern that reaches beyond the others stays whole: too many fields do no harm, too few would.
    return new FieldSet(
      false,
      this.names.filter((name) => !coversField(names.filter(isPattern).concat(isPattern(name) ? [] : names), name)),
    );
  }
  /** What is in this set and matched by one of the patterns. */
  within(patterns: readonly string[]): FieldSet {
    if (patterns.includes('*')) return this;
    if (this.isOpen) return FieldSet.of(patterns.filter((pattern) => isPattern(pattern) || this.has(pattern)));
    const both = patterns.flatMap((pattern) => this.names.flatMap((name) => narrower(pattern, name)));
    return FieldSet.of(both);
  }
  /** The names, when the set is a short list without patterns; else null. */
  list(): readonly string[] | null {
    return this.isOpen || this.names.some(isPattern) ? null : this.names;
  }
}

/** The narrower of two names or patterns when one covers the other. */
function narrower(a: string, b: string): readonly string[] {
  if (coversField([a], b.replace(/\*$/, '')) && (isPattern(a) || !isPattern(b))) return [b];
  return coversField([b], a.replace(/\*$/, '')) && isPattern(b) ? [a] : [];
}
