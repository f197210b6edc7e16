/** Features of the conformance file that are not built yet: each is named here, so that none is hidden. */
export const NOT_BUILT: ReadonlySet<string> = new Set<string>([]);

/** Cases that are answered otherwise on purpose, with the reason (docs/logsql.md). */
export const ODDITIES: ReadonlyMap<string, string> = new Map([
  ['C-1616', '`* | limit`: VictoriaLogs gives any ten entries; here they are the newest'],
  ['C-1578', '`len_range(-1, 5)`: VictoriaLogs takes -1 for a huge length; here it is a 400'],
  ['B-1154', 'the last digit of a sum of decimals depends on the order in which VictoriaLogs adds; here sums are rounded right'],
  ['B-1285', '`field_names` lists the fields of the matching entries; VictoriaLogs those of the whole blocks they lie in'],
]);
