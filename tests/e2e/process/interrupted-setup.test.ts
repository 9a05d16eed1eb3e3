// The set-up of a checkout whose earlier set-up was cut off: it begins anew, with npm itself.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../support/pilvi/program.ts";
import { ROOT } from "../../architecture/source.ts";

/** A package of the checkout itself, which npm installs without a registry. */
const PACKAGE = { name: "pilvi-setup-test", version: "1.0.0", dependencies: { part: "file:part" } };

let checkout: string;

beforeEach(() => {
  checkout = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-setup-"));
  cpSync(join(ROOT, "scripts", "setup.mjs"), join(checkout, "scripts", "setup.mjs"));
  mkdirSync(join(checkout, "part"));
  writeFileSync(join(checkout, "part", "package.json"), '{ "name": "part", "version": "1.0.0" }');
  writeFileSync(join(checkout, "package.json"), JSON.stringify(PACKAGE));
  const packages = {
    "": PACKAGE,
    "node_modules/part": { resolved: "part", link: true },
    part: { version: "1.0.0" },
  };
  const lock = { ...PACKAGE, lockfileVersion: 3, requires: true, packages };
  writeFileSync(join(checkout, "package-lock.json"), JSON.stringify(lock));
});
afterEach(() => rmSync(checkout, { recursive: true, force: true }));

function setUp() {
  const script = 'await (await import("./scripts/setup.mjs")).ensureDependencies();';
  return runCommand(["sh", "-c", `cd "$0" && node --input-type=module -e '${script}'`, checkout]);
}

/** A power cut can leave files without their text. */
test.each([
  ["npm's record is empty", [".package-lock.json"]],
  ["npm's record and the stamp are empty", [".package-lock.json", ".pilvi-lock"]],
  ["the stamp is empty", [".pilvi-lock"]],
])("a set-up begins anew where %s", async (_, emptied) => {
  expect(await setUp()).toMatchObject({ code: 0, stderr: expect.stringContaining("done in") });
  const modules = join(checkout, "node_modules");
  const stamp = readFileSync(join(modules, ".pilvi-lock"), "utf8");
  rmSync(join(modules, ".pilvi-lock"));
  for (const name of emptied) writeFileSync(join(modules, name), "");
  expect(await setUp()).toMatchObject({ code: 0 });
  expect(readFileSync(join(modules, ".pilvi-lock"), "utf8")).toBe(stamp);
  expect(existsSync(join(modules, "part", "package.json"))).toBe(true);
});
