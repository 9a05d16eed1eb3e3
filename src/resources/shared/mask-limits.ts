// The bounds of the SQL that masks a clone.

/** Enough for hundreds of statements. */
export const MAX_MASK_CHARACTERS = 100_000;

/** All statements together may take so long. */
export const MASK_TIMEOUT_SECONDS = 600;
