/** Conditions on labels: `a="b"`, `a!="b"`, `a=~"b.*"`, `a!~"b.*"`. */
import { compileRegexp, type Regexp } from '../../logsql/values/regexp.ts';
import { quote, type Labels } from './labels.ts';

export type MatchType = '=' | '!=' | '=~' | '!~';

/** One condition. Regexps hold for the whole value, have RE2's syntax, and are bounded like all of the program's. */
export class Matcher {
  readonly type: MatchType;
  readonly name: string;
  readonly value: string;
  readonly #regexp: Regexp | undefined;

  /** Throws RegexpError where the regexp is bad or too large. */
  constructor(type: MatchType, name: string, value: string) {
    this.type = type;
    this.name = name;
    this.value = value;
    this.#regexp = type === '=~' || type === '!~' ? compileRegexp(value, 'label') : undefined;
  }

  /** Instructions of its regexp; 0 where it has none. */
  get size(): number {
    return this.#regexp?.size ?? 0;
  }

  matches(value: string): boolean {
    if (this.type === '=') return value === this.value;
    if (this.type === '!=') return value !== this.value;
    return (this.#regexp?.test(value) ?? false) === (this.type === '=~');
  }

  toString(): string {
    return `${/^[A-Za-z_]\w*$/.test(this.name) ? this.name : quote(this.name)}${this.type}${quote(this.value)}`;
  }
}

/** Whether labels fulfil all conditions. */
export const matchesAll = (labels: Labels, matchers: readonly Matcher[]): boolean =>
  matchers.every((matcher) => matcher.matches(labels.get(matcher.name)));
