/** The item of the least rank, which is compared number by number; of equal ones the first. Undefined where there is none. */
export function least<Item>(items: readonly Item[], rank: (item: Item) => readonly number[]): Item | undefined {
  const ranked = items.map((item) => ({ item, numbers: rank(item) }));
  return ranked.sort((a, b) => firstDifference(a.numbers, b.numbers))[0]?.item;
}

function firstDifference(a: readonly number[], b: readonly number[]): number {
  for (const [index, number] of a.entries()) {
    const difference = number - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
