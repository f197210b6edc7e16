import { invalidBody } from '../../pipeline/core/errors.ts';

/** Deepest nesting of a JSON body of the app plane. */
const MAX_DEPTH = 64;

/** The value of a JSON body; undefined where it is empty. Throws HttpError 400. */
export function parseJson(body: Buffer): unknown {
  const text = body.toString('utf8').replace(/^\uFEFF/, '');
  if (text.trim() === '') return undefined;
  if (depthOf(text) > MAX_DEPTH) throw invalidBody(`The JSON body is nested deeper than ${String(MAX_DEPTH)} levels.`);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidBody(`The body is not JSON: ${(error as Error).message}.`);
  }
}

/** The deepest nesting of objects and arrays, found before JSON.parse would spend a second on a million brackets. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x5b || code === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return deepest;
}
