// What is known of an engine's program that others make: how it is recognised, where it comes from, until when it is safe.

/** Families of distributions that name their packages alike. */
export type Family = "debian" | "fedora" | "alpine" | "arch";

/** Names of the package with a program, by family. */
export type Packages = Record<Family, string>;

/** A release of a distribution, as os-release(5) names it. */
export interface Release {
  id: string;
  versionId: number;
  codename: string;
}

/** How an engine comes out of Debian packages. */
export interface DebianSource {
  /** What is asked for; their dependencies come along. */
  packages: string[];
  /** The server program inside the unpacked packages. */
  program: string;
  /** Programs beside it that people may want to use; they are offered in the engine's folder `bin`. */
  tools: string[];
  /**
   * The release of the same distribution that it comes from on an older one, which has none with security support. It comes with
   * the C library of that release, since it would not run with the older one.
   */
  newer?: Release;
}

/** The lowest versions of one line that have no known holes, and until when the line gets fixes. */
export interface Floor {
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

/** A program that opens sessions with the engine. */
export interface ClientProgram {
  /** Names on the PATH, the preferred one first. */
  names: string[];
  /** Where it is in a stored engine; left out where the engine is stored without it. */
  stored?: string;
  packages: Packages;
}

/** The program of an engine that Pilvi installs or finds. */
export interface ForeignProgram {
  /** What people call it. */
  label: string;
  /** File names of the server. */
  names: string[];
  /** A program that must stand beside the server; its file is then found through links. */
  companion?: string;
  /** The answer to `--version`; its group is the version. */
  version: RegExp;
  /** An older one lacks what Pilvi relies on, such as access lists with hashed passwords, or gets no fixes any more. */
  oldestVersion: string;
  packages: Packages;
  /** Left out by an engine that does not come from Debian packages. */
  debian?: DebianSource;
  client?: ClientProgram;
  /** The newest line first. Looked up on 2026-11-22. */
  floors: Floor[];
}
