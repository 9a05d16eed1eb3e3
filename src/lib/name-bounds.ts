// The bounds on names that both the API and `pilvi token create` take. A short command must not load the API's schemas.

/** Characters of a token's name. */
export const TOKEN_NAME = { min: 1, max: 100 } as const;
/** Characters of an organization's name. */
export const ORGANIZATION_NAME = { min: 2, max: 60 } as const;

/** A terminal would obey control characters. */
export const WITHOUT_CONTROL_CHARACTERS = /^\P{Cc}*$/u;
