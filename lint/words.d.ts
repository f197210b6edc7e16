/** The first word of a string that stands in the list, and what to write instead; undefined where there is none. */
export function wordToAvoid(text: string): { readonly word: string; readonly instead: string } | undefined;

/** The first word of an identifier or a file's name that is in the list, and what to write instead; undefined where there is none. */
export function wordToAvoidInName(name: string): { readonly word: string; readonly instead: string } | undefined;
