// A full disk, for tests that run as root: only root may mount.
import { cpSync, mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Replaces a folder by a small disk of its own, with its content. Resolves to the function that removes it again. */
export function mountSmallDisk(folder: string): () => void {
  const copy = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-copy-"));
  const { uid, gid } = statSync(folder);
  cpSync(folder, copy, { recursive: true });
  run("mount", "-t", "tmpfs", "-o", `size=2m,mode=0700,uid=${uid},gid=${gid}`, "pilvi-test", folder);
  cpSync(copy, folder, { recursive: true });
  run("chown", "-R", `${uid}:${gid}`, folder);
  rmSync(copy, { recursive: true });
  return () => run("umount", "--lazy", folder);
}

/** Takes all room that is left. @returns the file that takes it. */
export function fill(folder: string): string {
  const file = join(folder, "filler");
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(file, Buffer.alloc(bavail * bsize));
  return file;
}

function run(...argv: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(argv);
  if (exitCode !== 0) throw new Error(`${argv.join(" ")}: ${stderr.toString()}`);
}
