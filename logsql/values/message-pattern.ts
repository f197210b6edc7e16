import { MessagePatterns } from '../../pipeline/clusterer/message-patterns.ts';
import { Shapes } from '../../pipeline/clusterer/shapes.ts';

/** What is remembered of messages that were looked at in memory; few are. */
const [MAX_SHAPES, MAX_WORDS] = [1024, 32_768] as const;
let patterns: MessagePatterns | null = null;
/** The last one: several filters test the same entry. */
const last = { message: '', pattern: '' };

/** The first 16 digits of the fingerprint of a message, as the column `pattern` has it; empty for an empty one. */
export function patternOf(message: string): string {
  if (message === last.message) return last.pattern;
  const { high, low } = read(message);
  last.message = message;
  last.pattern = [high, low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
  return last.pattern;
}

/** The template of a message. */
export const templateOf = (message: string): string => read(message).template();

function read(message: string): MessagePatterns {
  const bytes = Buffer.from(message);
  patterns ??= new MessagePatterns(new Shapes(MAX_SHAPES, MAX_WORDS));
  patterns.read(bytes, 0, bytes.length);
  return patterns;
}
