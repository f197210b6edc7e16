import { PEM } from './config-files.ts';

/** The variables that are set or have a default, as values. */
export type Environment = Readonly<Record<string, string | number | boolean | undefined>>;

const MECHANISM = 'LOGWEIR_KAFKA_SASL_MECHANISM';

/** Settings that contradict each other, as sentences. */
export function contradictions(env: Environment): string[] {
  const has = (name: string): boolean => env[name] !== undefined;
  const faults: string[] = [];
  for (const kind of ['KAFKA', 'CLICKHOUSE'])
    if (has(`LOGWEIR_${kind}_CERT_FILE`) !== has(`LOGWEIR_${kind}_KEY_FILE`))
      faults.push(`LOGWEIR_${kind}_CERT_FILE and LOGWEIR_${kind}_KEY_FILE must be given together`);
  const isTls = env['LOGWEIR_KAFKA_TLS'] === true;
  if (
    ['AI_MODEL', 'AI_KEY'].some((name) => has(`LOGWEIR_${name}`) && !has('LOGWEIR_AI_URL')) ||
    (has('LOGWEIR_AI_URL') && !has('LOGWEIR_AI_MODEL'))
  )
    faults.push('LOGWEIR_AI_URL and LOGWEIR_AI_MODEL must be given together, and LOGWEIR_AI_KEY with them');
  faults.push(...saslFaults(env, isTls));
  if (!isTls && PEM.some((name) => has(`LOGWEIR_KAFKA_${name}`))) faults.push('LOGWEIR_KAFKA_*_FILE need LOGWEIR_KAFKA_TLS=true');
  if ((isTls || has(MECHANISM)) && !has('LOGWEIR_KAFKA_BROKERS'))
    faults.push('LOGWEIR_KAFKA_TLS and LOGWEIR_KAFKA_SASL_* are for the brokers of LOGWEIR_KAFKA_BROKERS, which is not set');
  const isHttps = String(env['LOGWEIR_CLICKHOUSE_URL'] ?? '').startsWith('https:');
  if (!isHttps && PEM.some((name) => has(`LOGWEIR_CLICKHOUSE_${name}`)))
    faults.push('LOGWEIR_CLICKHOUSE_*_FILE are for a LOGWEIR_CLICKHOUSE_URL that begins with https://');
  if (Number(env['LOGWEIR_KAFKA_MIN_IN_SYNC'] ?? 0) > Number(env['LOGWEIR_KAFKA_REPLICATION'] ?? 9))
    faults.push('LOGWEIR_KAFKA_MIN_IN_SYNC is more than LOGWEIR_KAFKA_REPLICATION: Kafka would take no record');
  return faults;
}

/** Who this client is to Kafka must be whole, and on an open line nothing may go that lets others in. */
function saslFaults(env: Environment, isTls: boolean): string[] {
  const nameOf = (part: string): string => `LOGWEIR_KAFKA_SASL_${part}`;
  const has = (part: string): boolean => env[nameOf(part)] !== undefined;
  const mechanism = env[MECHANISM];
  const isByToken = mechanism === 'oauthbearer';
  const faults: string[] = [];
  if (['USERNAME', 'PASSWORD'].some((part) => has(part) !== (mechanism !== undefined && !isByToken)))
    faults.push(`${MECHANISM} (plain, scram-…), ${nameOf('USERNAME')} and ${nameOf('PASSWORD')} must be given together`);
  if (has('TOKEN_FILE') && has('TOKEN_COMMAND')) faults.push(`${nameOf('TOKEN_FILE')} and ${nameOf('TOKEN_COMMAND')} exclude each other`);
  else if ((has('TOKEN_FILE') || has('TOKEN_COMMAND')) !== isByToken)
    faults.push(`${MECHANISM}=oauthbearer and ${nameOf('TOKEN_FILE')} or ${nameOf('TOKEN_COMMAND')} must be given together`);
  if (mechanism === 'plain' && !isTls)
    faults.push(`${MECHANISM}=plain needs LOGWEIR_KAFKA_TLS=true, else anyone on the way reads the password`);
  if (isByToken && !isTls) faults.push(`${MECHANISM}=oauthbearer needs LOGWEIR_KAFKA_TLS=true, else anyone on the way reads the token`);
  return faults;
}
