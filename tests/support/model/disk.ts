// A disk for models of the host: a real disk with delays, which ignores the writes of a host that is gone.
import { spyOn } from "bun:test";
import { ManifestFile } from "../../../src/host/manifest/manifest-file.ts";
import type { ModelClock, Random } from "./clock.ts";
import type { Life } from "./machine.ts";

/** @param lifeOf the present host. */
export function watchDisk(random: Random, clock: ModelClock, lifeOf: () => Life): void {
  const { read, replace, note } = ManifestFile.prototype;
  const lives = new WeakMap<ManifestFile, Life>();
  const ownerOf = (file: ManifestFile): Life => {
    const life = lives.get(file) ?? lifeOf();
    lives.set(file, life);
    return life;
  };
  spyOn(ManifestFile.prototype, "read").mockImplementation(function (this: ManifestFile) {
    ownerOf(this);
    return read.call(this);
  });
  spyOn(ManifestFile.prototype, "note").mockImplementation(function (this: ManifestFile, change) {
    if (!ownerOf(this).isOver) note.call(this, change);
  });
  spyOn(ManifestFile.prototype, "replace").mockImplementation(function (this: ManifestFile, manifest) {
    const life = ownerOf(this);
    if (life.isOver) return new Promise(() => undefined);
    const durable = replace.call(this, manifest);
    clock.waitFor(durable);
    const taken = Promise.all([durable, Bun.sleep(1 + random(20))]).then(() => undefined);
    // As on the real disk, a caller that need not wait for the disk need not learn of its failure either.
    taken.catch(() => undefined);
    return life.of(taken);
  });
}
