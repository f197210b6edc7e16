import { ASSISTANT_ATTACKS } from './assistant-attacks.ts';
import type { Attack } from './attack.ts';
import { CONNECTION_ATTACKS } from './connection-attacks.ts';
import { DOOR_ATTACKS } from './door-attacks.ts';
import { INGEST_ATTACKS } from './ingest-attacks.ts';
import { METRIC_ATTACKS } from './metric-attacks.ts';
import { REPLAY_ATTACKS } from './replay-attacks.ts';
import { QUERY_ATTACKS } from './query-attacks.ts';
import { SPAN_ATTACKS } from './span-attacks.ts';
import { STORAGE_ATTACKS } from './storage-attacks.ts';

/** Every attack, in the order in which they are run. */
export const ATTACKS: readonly Attack[] = [
  ...QUERY_ATTACKS,
  ...INGEST_ATTACKS,
  ...CONNECTION_ATTACKS,
  ...STORAGE_ATTACKS,
  ...SPAN_ATTACKS,
  ...METRIC_ATTACKS,
  ...REPLAY_ATTACKS,
  ...ASSISTANT_ATTACKS,
  ...DOOR_ATTACKS,
];

/** The attack of this name. Throws where there is none. */
export function attackOf(name: string): Attack {
  const found = ATTACKS.find((attack) => attack.name === name);
  if (found === undefined)
    throw new Error(`There is no attack ${JSON.stringify(name)}; there are ${ATTACKS.map((attack) => attack.name).join(', ')}.`);
  return found;
}
