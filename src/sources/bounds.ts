// The most that a source may have. What a customer sends is data for git, and git has no bounds of its own for most of it.

/** The bounds of one commit of an application. */
export interface SourceLimits {
  /** Bytes of all files, unpacked. */
  bytes: number;
  /** Bytes of a single file. */
  fileBytes: number;
  /** Files, links and submodules. */
  files: number;
  /** Folders within each other. */
  depth: number;
  /** Bytes that come over the network at once: an archive, a pack. */
  transferBytes: number;
  /** Bytes of all commits of an application, as the repository keeps them. */
  repositoryBytes: number;
}

export const SOURCE_LIMITS: SourceLimits = {
  bytes: 1 << 30,
  fileBytes: 256 << 20,
  files: 50_000,
  depth: 40,
  transferBytes: 512 << 20,
  repositoryBytes: 4 * 1024 ** 3,
};

/** Bytes of a path, as file systems have it. */
export const MAX_PATH_BYTES = 1_000;

/** Bytes of a name in a path, likewise. */
export const MAX_NAME_BYTES = 255;

/** Bytes of git's own messages that are kept. */
export const MAX_MESSAGE_BYTES = 64 << 10;
