// The commands that copy a folder as an archive, without users, which are of one machine.

const TAR = "/usr/bin/tar";

/** Writes what follows in the command to standard output; paths are relative to the folder. */
export function tarCreate(folder: string): string[] {
  return [TAR, "--create", "--file=-", `--directory=${folder}`, "--owner=0", "--group=0", "--numeric-owner"];
}

/** Unpacks an archive from standard input into the folder. */
export function tarExtract(folder: string): string[] {
  return [TAR, "--extract", "--file=-", `--directory=${folder}`];
}
