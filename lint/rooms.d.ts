/** Which room may import which; `api/*` are all rooms of `api`. */
export const ROOMS: Readonly<Record<string, readonly string[]>>;
/** The room of a file, by its path from the root of the project; undefined where it is in none. */
export function roomOf(file: string): string | undefined;
/** The rooms that a room may import, beside itself. */
export function importsOf(room: string): readonly string[];
