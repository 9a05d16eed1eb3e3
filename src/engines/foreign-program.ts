// Facts about the program of a foreign engine: how to recognise it, where it comes from, until when it is safe.

/** Families of distributions that share the names of packages. */
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
  /** The packages to install; their dependencies come along. */
  packages: string[];
  /** The server program inside the unpacked packages. */
  program: string;
  /** Programs beside the server that people use; the engine's folder `bin` offers them. */
  tools: string[];
  /**
   * Further files of a complete engine. An engine that an earlier Pilvi installed without them is installed anew; left
   * out where the server's package has all.
   */
  files?: string[];
  /**
   * The release of the same distribution that it comes from on an older release without security support for it. It
   * then brings the C library of its own release, since it would not run with the older library.
   */
  newer?: Release;
}

/** The lowest versions of one release line without known holes, and until when the line gets fixes. */
export interface Floor {
  /** The beginning of the versions, such as `8.1` or `17`. */
  line: string;
  /** The lowest upstream version without known holes; null where no such version is known. */
  lowest: string | null;
  /**
   * The lowest package without known holes, by distribution release, since distributions patch older versions in place.
   */
  packages?: Record<string, string>;
  /** The last day on which upstream fixes it, `YYYY-MM-DD`; null where that day is not known. */
  supportedUntil: string | null;
  /** The source of these facts. */
  source: string;
}

/** A program that opens sessions with the engine. */
export interface ClientProgram {
  /** Names on the PATH, the preferred name first. */
  names: string[];
  /** Its path in a stored engine; left out where the store does not have it. */
  stored?: string;
  packages: Packages;
}

/** The program of an engine that Pilvi installs or finds. */
export interface ForeignProgram {
  /** The name that people use. */
  label: string;
  /** File names of the server. */
  names: string[];
  /** A program that must stand beside the server, whose file is then found through links. */
  companion?: string;
  /** The option that has it say its version, for a program that does not know `--version`. */
  versionOption?: string;
  /** Matches the answer to `--version`, or to that option; its group is the version. */
  version: RegExp;
  /** Older versions lack what Pilvi relies on, such as access lists with hashed passwords, or get no fixes any more. */
  oldestVersion: string;
  packages: Packages;
  /** Left out by an engine that does not come from Debian packages. */
  debian?: DebianSource;
  client?: ClientProgram;
  /** The newest line first. Looked up on 2026-11-22. */
  floors: Floor[];
}
