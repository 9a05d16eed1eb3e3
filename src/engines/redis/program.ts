// Redis's program: how it is recognised, where it comes from, until when its versions are safe.
import type { ForeignProgram } from "../foreign-program.ts";

const CVE = "CVE-2026-81934 names the fixed versions";

/** The binaries are in the tools package, which the server package depends on. */
export const program: ForeignProgram = {
  label: "Redis",
  names: ["redis-server"],
  version: /^Redis server v=(\d+(?:\.\d+)+)/,
  oldestVersion: "6.2",
  packages: { debian: "redis-server", fedora: "redis", alpine: "redis", arch: "redis" },
  debian: {
    packages: ["redis-server", "redis-tools"],
    program: "usr/bin/redis-server",
    tools: ["usr/bin/redis-cli"],
  },
  floors: [
    { line: "8.10", lowest: "8.10.1", supportedUntil: null, source: CVE },
    { line: "8.8", lowest: "8.8.2", supportedUntil: null, source: CVE },
    { line: "8.6", lowest: "8.6.6", supportedUntil: null, source: CVE },
    { line: "8.4", lowest: "8.4.6", supportedUntil: null, source: CVE },
    { line: "8.2", lowest: "8.2.9", supportedUntil: null, source: CVE },
    {
      line: "8.0",
      lowest: null,
      packages: { trixie: "5:8.0.2-3+deb13u3" },
      supportedUntil: "2026-08-26",
      source: "Debian's changelog: CVE-2026-81934, which upstream fixed on 2026-08-27 in 8.2 and later only",
    },
    { line: "7.4", lowest: "7.4.11", supportedUntil: null, source: CVE },
    { line: "7.2", lowest: "7.2.16", supportedUntil: null, source: CVE },
    {
      line: "7.0",
      lowest: null,
      packages: { bookworm: "5:7.0.15-1~deb12u10" },
      supportedUntil: "2024-07-29",
      source:
        "Debian's changelog: CVE-2026-81934 and, before, CVE-2025-49844; upstream fixes 7.2 and later only",
    },
    { line: "6.2", lowest: "6.2.24", supportedUntil: null, source: CVE },
  ],
};
