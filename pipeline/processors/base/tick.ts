import type { KafkaMessage } from '../../bus/connection/kafka.ts';
import { parseSetting, SETTING } from '../../core/setting.ts';
import type { Tick } from './processor.ts';
import type { Position } from './position.ts';

/** What processors and mergers see of a tick, with the setting that it may carry. */
export function tickOf(position: Position, { headers }: Pick<KafkaMessage, 'headers'>): Tick {
  const setting = parseSetting(headers?.[SETTING]?.toString() ?? '');
  return { kind: 'tick', ...position, ...(setting === null ? {} : { setting }) };
}
