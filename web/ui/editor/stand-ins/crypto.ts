/** In place of `node:crypto`: modules of the parser name a fingerprint as they are loaded; the editor uses none. */
type Hash = { update(): Hash; digest(): string };

export const createHash = (): Hash => {
  const none: Hash = { update: () => none, digest: () => '' };
  return none;
};
