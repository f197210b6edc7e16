import { NEW_PATTERN } from '../book/alert.ts';

/** The detector of error templates that were never seen before, and when it fires. */
export const newPattern = { name: NEW_PATTERN, description: 'An error comes whose template was never seen before.' } as const;
