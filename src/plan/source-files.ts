// The files of a source, as a plan reads them: a commit, or a folder.

/** The most that a plan reads of a repository, whose author may be anyone. */
export const SOURCE_BOUNDS = {
  /** Entries of the whole tree. */
  entries: 100_000,
  /** Bytes of a path. */
  path: 1_000,
  /** Bytes of a file that a plan reads. */
  file: 1 << 20,
  /** Bytes of a lock file that a plan reads. */
  lock: 8 << 20,
} as const;

/** An entry of a source: a link and a submodule are never read. */
export interface SourceEntry {
  /** Relative to the top, with `/` between names. */
  path: string;
  kind: "file" | "link" | "submodule";
  /** The size of a file; 0 for all else. */
  bytes: number;
  /** The id of its content, such as git's own: files with the same id have the same content. */
  object: string;
}

/** The files of a source. */
export interface SourceFiles {
  /** All entries, at most `SOURCE_BOUNDS.entries`. */
  readonly entries: readonly SourceEntry[];
  /** The content of the given files, by path. Only entries of the kind `file` are asked for. */
  read(paths: readonly string[]): Promise<Map<string, Uint8Array>>;
}
