/** The line of a process's log that tells most about its end. */
export function lastWords(file: string): string;

/** The same for text. */
export function telling(text: string): string;
