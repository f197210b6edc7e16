/** `AND` (or nothing between filters), `OR`, `NOT` (`!`, `-`) and `*`. */
import type { LogEntry } from '../../pipeline/core/entry.ts';
import type { Sql } from '../../pipeline/core/sql.ts';
import { TRUE, and, not, or } from '../sql/text.ts';
import type { Filter, SqlContext } from '../base/types.ts';

const fieldsOf = (parts: readonly Filter[]): readonly string[] => [...new Set(parts.flatMap((part) => part.fields))];

function sqlOf(parts: readonly Filter[], context: SqlContext, combine: (conditions: readonly Sql[]) => Sql): Sql | null {
  const conditions = parts.map((part) => part.sql(context));
  return conditions.every((condition) => condition !== null) ? combine(conditions) : null;
}

/** Matches everything. */
export class AnyFilter implements Filter {
  readonly fields: readonly string[] = [];
  toString(): string {
    return '*';
  }
  matches(): boolean {
    return true;
  }
  sql(): Sql {
    return TRUE;
  }
}

export class AndFilter implements Filter {
  readonly parts: readonly Filter[];
  readonly fields: readonly string[];
  constructor(parts: readonly Filter[]) {
    this.parts = parts;
    this.fields = fieldsOf(parts);
  }
  withParts(parts: readonly Filter[]): Filter {
    return new AndFilter(parts);
  }
  toString(): string {
    return this.parts.map((part) => (part instanceof OrFilter ? `(${part.toString()})` : part.toString())).join(' ');
  }
  matches(entry: LogEntry): boolean {
    return this.parts.every((part) => part.matches(entry));
  }
  sql(context: SqlContext): Sql | null {
    return sqlOf(this.parts, context, and);
  }
}

export class OrFilter implements Filter {
  readonly parts: readonly Filter[];
  readonly fields: readonly string[];
  constructor(parts: readonly Filter[]) {
    this.parts = parts;
    this.fields = fieldsOf(parts);
  }
  withParts(parts: readonly Filter[]): Filter {
    return new OrFilter(parts);
  }
  toString(): string {
    return this.parts.map((part) => part.toString()).join(' or ');
  }
  matches(entry: LogEntry): boolean {
    return this.parts.some((part) => part.matches(entry));
  }
  sql(context: SqlContext): Sql | null {
    return sqlOf(this.parts, context, or);
  }
}

export class NotFilter implements Filter {
  readonly parts: readonly [Filter];
  readonly fields: readonly string[];
  constructor(part: Filter) {
    this.parts = [part];
    this.fields = part.fields;
  }
  withParts(parts: readonly Filter[]): Filter {
    return new NotFilter(parts[0] ?? this.parts[0]);
  }
  toString(): string {
    const [part] = this.parts;
    return part instanceof AndFilter || part instanceof OrFilter ? `!(${part.toString()})` : `!${part.toString()}`;
  }
  matches(entry: LogEntry): boolean {
    return !this.parts[0].matches(entry);
  }
  sql(context: SqlContext): Sql | null {
    const condition = this.parts[0].sql(context);
    return condition === null ? null : not(condition);
  }
}

/** All of them: flat, without `*`; a lone one as it is. */
export function allOf(parts: readonly Filter[]): Filter {
  const flat = parts.flatMap((part) => (part instanceof AndFilter ? part.parts : [part])).filter((part) => !(part instanceof AnyFilter));
  const [first] = flat;
  return first === undefined ? new AnyFilter() : flat.length === 1 ? first : new AndFilter(flat);
}
