/** The first word of a string that stands in the list, and what to write instead; undefined where there is none. */
export function wordToAvoid(text: string): { readonly word: string; readonly instead: string } | undefined;
