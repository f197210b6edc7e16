/** Sign-in codes of a tenant that can be used at once. */
export const MAX_CODES = 20;

/** Sessions of a key that are remembered as signed out. */
export const MAX_ENDED = 200;

/** Saved searches of a tenant, whatever its plan allows, and the characters that all of them have. */
export const MAX_SAVED_SEARCHES = 1000;
export const MAX_SAVED_CHARACTERS = 4_000_000;

/** Playbooks of a tenant, and the characters that all of them have. */
export const MAX_PLAYBOOKS = 200;
export const MAX_PLAYBOOK_CHARACTERS = 1_000_000;

/** Projects of a tenant, whatever its flag is. */
export const MAX_PROJECTS = 10_000;

/** Keys of a tenant that are not revoked, whatever its plan allows; and revoked ones, after which their records are used again. */
export const MAX_KEYS = 1000;
export const MAX_REVOKED_KEYS = 1000;
