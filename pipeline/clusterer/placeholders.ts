/** Types of placeholders, as numbers: what the masks work with. `YEAR` is a number that may belong to a time, and is shown as one. */
export const NONE = 0;
export const ANY = 1;
export const N = 2;
export const IP = 3;
export const ID = 4;
export const HOST = 5;
export const PATH = 6;
export const URL = 7;
export const TS = 8;
export const YEAR = 9;

/** What stands in a template for each type, in ASCII. */
export const PLACEHOLDERS: readonly string[] = ['', '<*>', '<N>', '<IP>', '<ID>', '<HOST>', '<PATH>', '<URL>', '<TS>', '<N>'];

/** Finds the placeholders of a template. */
export const PLACEHOLDER = /<(?:\*|N|IP|ID|HOST|PATH|URL|TS)>/g;
