import { ClickHouseError } from '@clickhouse/client';
import type { Config } from '../core/config.ts';
import { ended, reasonOf } from '../core/connection-reason.ts';

/** The version that tests run. */
const TESTED = '26.7';
/** Of ClickHouse: unknown user or wrong password; a missing right. */
const [AUTHENTICATION, ACCESS] = [new Set(['516', '192', '193', '194']), '497'];

/** The sentence for an operator to whom ClickHouse could not be prepared; `version`: what it says of itself, where it says so. */
export function clickHouseFault(error: unknown, { url, user }: Pick<Config['clickhouse'], 'url' | 'user'>, version: string | null): string {
  const begin = `ClickHouse cannot be used at ${url} (LOGWEIR_CLICKHOUSE_URL) as ${user}`;
  if (!(error instanceof ClickHouseError)) return `${begin}: ${ended(reasonOf(error))}`;
  if (AUTHENTICATION.has(error.code))
    return `${begin}: it does not know the user, or the password is another (LOGWEIR_CLICKHOUSE_USER, LOGWEIR_CLICKHOUSE_PASSWORD).`;
  const about = version === null ? '' : ` It is version ${version}; Logweir is tested with ${TESTED}.`;
  if (error.code === ACCESS)
    return `${begin}: the user lacks a right (docs/operations.md, ClickHouse users): ${ended(error.message)}${about}`;
  return `${begin}: it answered ${error.type ?? 'an error'} (${error.code}): ${ended(error.message)}${about}`;
}
