// The bounds on names that both the API and `pilvi token create` take. A short command must not load the API's schemas.

/** Characters of a token's name. */
export const MAX_TOKEN_NAME = 100;
/** Characters of an organization's name. */
export const MAX_ORGANIZATION_NAME = 60;

/** A terminal would obey control characters. */
export const WITHOUT_CONTROL_CHARACTERS = /^\P{Cc}*$/u;
