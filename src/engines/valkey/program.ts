// Valkey's program: how it is recognised, where it comes from, until when its versions are safe.
import type { ForeignProgram } from "../foreign-program.ts";

const RELEASE_NOTES = "upstream's release notes";

/** The binaries are in the tools package, which the server package depends on. */
export const program: ForeignProgram = {
  label: "Valkey",
  names: ["valkey-server"],
  version: /^Valkey server v=(\d+(?:\.\d+)+)/,
  oldestVersion: "7.2",
  packages: { debian: "valkey-server", fedora: "valkey", alpine: "valkey", arch: "valkey" },
  debian: {
    packages: ["valkey-server", "valkey-tools"],
    program: "usr/bin/valkey-server",
    tools: ["usr/bin/valkey-cli"],
    newer: { id: "debian", versionId: 13, codename: "trixie" },
  },
  floors: [
    {
      line: "9.1",
      lowest: "9.1.1",
      supportedUntil: null,
      source: `${RELEASE_NOTES} of 9.1.1: CVE-2026-56684`,
    },
    {
      line: "9.0",
      lowest: "9.0.4",
      supportedUntil: null,
      source: `${RELEASE_NOTES} of 9.0.4: CVE-2026-23479`,
    },
    {
      line: "8.1",
      lowest: "8.1.10",
      packages: { trixie: "8.1.1+dfsg1-3+deb13u3" },
      supportedUntil: null,
      source: `${RELEASE_NOTES} of 8.1.9 and 8.1.10: CVE-2026-56684; Debian's changelog of +deb13u3: the same and CVE-2026-63639`,
    },
    { line: "8.0", lowest: "8.0.11", supportedUntil: null, source: `${RELEASE_NOTES} of 8.0.11` },
    { line: "7.2", lowest: "7.2.12", supportedUntil: null, source: "CVE-2025-67733" },
  ],
};
