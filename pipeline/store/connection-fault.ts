import { ClickHouseError } from '@clickhouse/client';
import { FIRST_SET, type ClickHouseAccess } from '../core/config-sets.ts';
import { ended, reasonOf } from '../core/connection-reason.ts';

/** The version that tests run. */
const TESTED = '26.7';
/** Of ClickHouse: unknown user or wrong password; a missing right. */
const [AUTHENTICATION, ACCESS] = [new Set(['516', '192', '193', '194']), '497'];

/** The sentence for an operator to whom ClickHouse could not be prepared; `version`: what it says of itself, where it says so; `set`: whose it is. */
export function clickHouseFault(
  error: unknown,
  { url, user }: Pick<ClickHouseAccess, 'url' | 'user'>,
  version: string | null,
  set = FIRST_SET,
): string {
  const isFirst = set === FIRST_SET;
  const named = isFirst ? 'LOGWEIR_CLICKHOUSE_URL' : `the set ${set} of LOGWEIR_CLICKHOUSE_SETS_FILE`;
  const begin = `ClickHouse cannot be used at ${url} (${named}) as ${user}`;
  if (!(error instanceof ClickHouseError)) return `${begin}: ${ended(reasonOf(error))}`;
  if (AUTHENTICATION.has(error.code))
    return `${begin}: it does not know the user, or the password is another${isFirst ? ' (LOGWEIR_CLICKHOUSE_USER, LOGWEIR_CLICKHOUSE_PASSWORD)' : ''}.`;
  const about = version === null ? '' : ` It is version ${version}; Logweir is tested with ${TESTED}.`;
  if (error.code === ACCESS)
    return `${begin}: the user lacks a right (docs/operations.md, ClickHouse users): ${ended(error.message)}${about}`;
  return `${begin}: it answered ${error.type ?? 'an error'} (${error.code}): ${ended(error.message)}${about}`;
}
