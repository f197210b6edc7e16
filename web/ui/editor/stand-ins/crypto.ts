/** In place of `node:crypto`: the editor parses, and never computes a fingerprint. */
export function createHash(): never {
  throw new Error('BUG: the editor does not hash.');
}
