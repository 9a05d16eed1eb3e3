// Until when releases of distributions get security fixes. Looked up on 2026-11-22.

/** The days after which a release of a distribution gets no security fixes any more, its long-term support included. */
export const RELEASE_ENDS: Record<string, string> = {
  bookworm: "2028-06-30",
  trixie: "2030-06-30",
};
