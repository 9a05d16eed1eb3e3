// The lowest versions of engines that have no known holes, and until when each line of versions gets fixes. Looked up on 2026-11-22.
import type { ForeignEngine } from "../../drivers/driver.ts";

/** What is known of one line of versions. */
export interface Floor {
  name: ForeignEngine;
  /** The beginning of the versions, such as `8.1` or `17`. */
  line: string;
  /** The lowest upstream version without known holes; null where none is known. */
  lowest: string | null;
  /** The lowest package without known holes, by the release of the distribution, which patches older versions in place. */
  packages?: Record<string, string>;
  /** The day after which upstream fixes nothing any more, `YYYY-MM-DD`; null where none is known. */
  supportedUntil: string | null;
  /** Where this is said. */
  source: string;
}

/** The days after which a release of a distribution gets no security fixes any more, its long-term support included. */
export const RELEASE_ENDS: Record<string, string> = {
  bookworm: "2028-06-30",
  trixie: "2030-06-30",
};

const REDIS = "CVE-2026-81934 names the fixed versions";
const VALKEY = "upstream's release notes";
/** Minors of all majors are released on one day: 18.7 with 17.12, as 18.6 with 17.11 and 14.24. */
const POSTGRES = "Debian's changelogs of 15.20 and 17.12: CVE-2026-116303 and others";

/** The newest line of each engine first. */
export const FLOORS: Floor[] = [
  {
    name: "valkey",
    line: "9.1",
    lowest: "9.1.1",
    supportedUntil: null,
    source: `${VALKEY} of 9.1.1: CVE-2026-56684`,
  },
  {
    name: "valkey",
    line: "9.0",
    lowest: "9.0.4",
    supportedUntil: null,
    source: `${VALKEY} of 9.0.4: CVE-2026-23479`,
  },
  {
    name: "valkey",
    line: "8.1",
    lowest: "8.1.10",
    packages: { trixie: "8.1.1+dfsg1-3+deb13u3" },
    supportedUntil: null,
    source: `${VALKEY} of 8.1.9 and 8.1.10: CVE-2026-56684; Debian's changelog of +deb13u3: the same and CVE-2026-63639`,
  },
  { name: "valkey", line: "8.0", lowest: "8.0.11", supportedUntil: null, source: `${VALKEY} of 8.0.11` },
  { name: "valkey", line: "7.2", lowest: "7.2.12", supportedUntil: null, source: "CVE-2025-67733" },
  { name: "redis", line: "8.10", lowest: "8.10.1", supportedUntil: null, source: REDIS },
  { name: "redis", line: "8.8", lowest: "8.8.2", supportedUntil: null, source: REDIS },
  { name: "redis", line: "8.6", lowest: "8.6.6", supportedUntil: null, source: REDIS },
  { name: "redis", line: "8.4", lowest: "8.4.6", supportedUntil: null, source: REDIS },
  { name: "redis", line: "8.2", lowest: "8.2.9", supportedUntil: null, source: REDIS },
  {
    name: "redis",
    line: "8.0",
    lowest: null,
    packages: { trixie: "5:8.0.2-3+deb13u3" },
    supportedUntil: "2026-08-26",
    source: "Debian's changelog: CVE-2026-81934, which upstream fixed on 2026-08-27 in 8.2 and later only",
  },
  { name: "redis", line: "7.4", lowest: "7.4.11", supportedUntil: null, source: REDIS },
  { name: "redis", line: "7.2", lowest: "7.2.16", supportedUntil: null, source: REDIS },
  {
    name: "redis",
    line: "7.0",
    lowest: null,
    packages: { bookworm: "5:7.0.15-1~deb12u10" },
    supportedUntil: "2024-07-29",
    source:
      "Debian's changelog: CVE-2026-81934 and, before, CVE-2025-49844; upstream fixes 7.2 and later only",
  },
  { name: "redis", line: "6.2", lowest: "6.2.24", supportedUntil: null, source: REDIS },
  { name: "postgres", line: "18", lowest: "18.7", supportedUntil: "2030-11-14", source: POSTGRES },
  { name: "postgres", line: "17", lowest: "17.12", supportedUntil: "2029-11-08", source: POSTGRES },
  { name: "postgres", line: "16", lowest: "16.16", supportedUntil: "2028-11-09", source: POSTGRES },
  { name: "postgres", line: "15", lowest: "15.20", supportedUntil: "2027-11-11", source: POSTGRES },
  { name: "postgres", line: "14", lowest: "14.25", supportedUntil: "2026-11-12", source: POSTGRES },
  {
    name: "mariadb",
    line: "11.8",
    lowest: "11.8.6",
    supportedUntil: "2028-06-04",
    source: "Debian's changelog of 11.8.6: CVE-2026-21968",
  },
  {
    name: "mariadb",
    line: "10.11",
    lowest: "10.11.19",
    supportedUntil: "2028-02-16",
    source: "Debian's changelog of 10.11.19: CVE-2026-61081 and others",
  },
  {
    name: "mariadb",
    line: "10.6",
    lowest: null,
    supportedUntil: "2026-07-06",
    source: "upstream's list of releases",
  },
  {
    name: "mysql",
    line: "8.4",
    lowest: null,
    supportedUntil: "2032-04-30",
    source: "upstream's lifetime support",
  },
  {
    name: "mysql",
    line: "8.0",
    lowest: null,
    supportedUntil: "2026-04-30",
    source: "upstream's lifetime support",
  },
];
