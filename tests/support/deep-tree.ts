// Trees of files as customers can make them, with more levels than a path can have.
import { expect } from "bun:test";
import { mkdirSync } from "node:fs";

/** More levels than a path can have. */
export const DEEP = 2_500;
/** So many that Bun's own removal takes minutes, longer than a test may take. */
export const VERY_DEEP = 6_000;

/** Makes a folder with so many levels of folders in it. */
export function makeDeep(path: string, levels = DEEP): void {
  mkdirSync(path);
  const script = `for (1..${levels}) { mkdir "d" or die; chdir "d" or die }`;
  expect(Bun.spawnSync(["perl", "-e", script], { cwd: path }).exitCode).toBe(0);
}
