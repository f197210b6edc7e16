/** Bounds of an expression and of its evaluation. */

/** Characters of an expression. */
export const MAX_CHARACTERS = 10_000;
/** Parentheses, brackets, braces and calls that stand within each other. */
export const MAX_NESTING = 200;
/** Operators and modifiers of an expression: each may be a level of its tree, and the grammar's parser gives up at some 800. */
export const MAX_OPERATORS = 500;
/** Points that a range query has for each series. */
export const MAX_POINTS = 11_000;
/** Samples that an evaluation holds at once: of the series that is read, and of all results that are not yet used up. */
export const MAX_SAMPLES = 50_000_000;
/** Characters of a label's value that a function makes: calls in each other could double it again and again. */
export const MAX_LABEL_LENGTH = 65_536;
