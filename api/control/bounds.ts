/** Sign-in codes of a tenant that can be used at once. */
export const MAX_CODES = 20;

/** Sessions of a key that are remembered as signed out. */
export const MAX_ENDED = 200;
