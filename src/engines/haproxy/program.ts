// HAProxy's program: how it is recognised, where it comes from, until when its versions are safe.
import type { ForeignProgram } from "../foreign-program.ts";

const RELEASES =
  "the newest release in docker-library/official-images #21945 and #22151 (July and August 2026); older releases lack fixes";

/** The versions that Debian patches in place carry the fixes without the number. */
export const program: ForeignProgram = {
  label: "HAProxy",
  names: ["haproxy"],
  versionOption: "-v",
  version: /^HAProxy version (\d+(?:\.\d+)+)/,
  // The names of headers can be restricted from here on.
  oldestVersion: "2.6",
  packages: { debian: "haproxy", fedora: "haproxy", alpine: "haproxy", arch: "haproxy" },
  debian: {
    packages: ["haproxy"],
    program: "usr/sbin/haproxy",
    tools: [],
  },
  floors: [
    { line: "3.4", lowest: "3.4.4", supportedUntil: null, source: RELEASES },
    { line: "3.3", lowest: "3.3.14", supportedUntil: null, source: RELEASES },
    { line: "3.2", lowest: "3.2.23", supportedUntil: null, source: RELEASES },
    {
      line: "3.0",
      lowest: "3.0.27",
      packages: { trixie: "3.0.11-1+deb13u5" },
      supportedUntil: null,
      source: `${RELEASES}; Debian's security archive, November 2026`,
    },
    { line: "2.8", lowest: "2.8.28", supportedUntil: null, source: RELEASES },
    {
      line: "2.6",
      lowest: "2.6.33",
      packages: { bookworm: "2.6.12-1+deb12u4" },
      supportedUntil: "2027-06-30",
      source: `${RELEASES}; Debian's changelog of +deb12u4: CVE-2026-33555, short PING frames, long chunk sizes`,
    },
  ],
};
