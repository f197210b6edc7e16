/** Classes of reasons for which an entry is rejected: the label of the counter, whose values must be few. */
const CLASSES: readonly (readonly [RegExp, string])[] = [
  [/^_time is not a time/, 'time_unreadable'],
  [/^_time is|^a time /, 'time_out_of_bounds'],
  [/^no message|^a record without fields|^the event field is (?:missing|blank)/, 'no_message'],
  [/not supported/, 'action_not_supported'],
  [/more than|longer than|deeper than|too (?:many|long|deep)|nested/, 'over_a_limit'],
];

/** The class of a reason; all that is none of the known ones is `form`. What stands behind a colon is the entry's own and is not looked at. */
export function reasonClass(reason: string): string {
  const colon = reason.indexOf(':');
  const own = colon < 0 ? reason : reason.slice(0, colon);
  return CLASSES.find(([pattern]) => pattern.test(own))?.[1] ?? 'form';
}

/** How many rejections are of each class, given how often each reason was given. */
export function classCounts(reasons: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [reason, count] of reasons) {
    const name = reasonClass(reason);
    counts.set(name, (counts.get(name) ?? 0) + count);
  }
  return counts;
}
