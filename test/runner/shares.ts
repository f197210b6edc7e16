/** Files with what takes longest first. */
export const longestFirst = (files: readonly string[], msOf: (file: string) => number): readonly string[] =>
  [...files].sort((a, b) => msOf(b) - msOf(a) || (a < b ? -1 : 1));

/** Spreads files over so many processes, each of which is to take about as long as the others: the longest first, to who has least. */
export function shares(files: readonly string[], count: number, msOf: (file: string) => number): readonly (readonly string[])[] {
  const lists = Array.from({ length: Math.max(1, Math.min(count, files.length)) }, () => ({ files: [] as string[], ms: 0 }));
  for (const file of longestFirst(files, msOf)) {
    const least = lists.reduce((a, b) => (b.ms < a.ms ? b : a));
    least.files.push(file);
    least.ms += msOf(file);
  }
  return lists.map((list) => list.files.sort());
}
