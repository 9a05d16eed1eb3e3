// The `pilvi` command in other folders than its own: it works there, and does not trust them, since a cloned project may
// have any file.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import packageJson from "../../../package.json" with { type: "json" };
import { markdown } from "../../architecture/markdown.ts";
import { runCommand } from "../../support/pilvi/program.ts";
import { ROOT } from "../../architecture/source.ts";

const SCRIPT = join(ROOT, "scripts", "pilvi.mjs");

let folder: string;

beforeEach(() => void (folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-cli-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Without an address of a Pilvi in the environment. */
function runIn(place: string, script: string) {
  return runCommand(["env", "-u", "PILVI_URL", "PILVI_TOKEN=secret", "sh", "-c", `cd ${place} && ${script}`]);
}

test("a project's settings of Bun run no code, and its .env sends no token elsewhere", async () => {
  const seen: (string | null)[] = [];
  const other = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      seen.push(request.headers.get("authorization"));
      return Response.json({ data: [] });
    },
  });
  writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./first.ts"]\n');
  writeFileSync(join(folder, "first.ts"), 'await Bun.write("ran", "");\n');
  writeFileSync(join(folder, ".env"), `PILVI_URL=http://127.0.0.1:${other.port}\n`);
  writeFileSync(join(folder, "package.json"), "{");
  try {
    const { stderr } = await runIn(folder, `node ${SCRIPT} caches list`);
    expect(stderr).not.toContain("package.json");
    expect(existsSync(join(folder, "ran"))).toBe(false);
    expect(seen).toEqual([]);
  } finally {
    await other.stop(true);
  }
});

test("the command works in every folder after the step of the documentation that installs it", async () => {
  const text = markdown("docs/cli.md").split("\n## Install the command\n")[1] ?? "";
  const [, install = ""] = /^```bash\n(.*?)^```/ms.exec(text) ?? [];
  expect(install).toContain("ln ");
  expect(markdown("README.md")).toContain(install);
  const elsewhere = join(folder, "elsewhere");
  mkdirSync(elsewhere);
  const found = await runIn(ROOT, `export HOME=${folder}; ${install}cd ${elsewhere} && pilvi --version`);
  expect(found).toMatchObject({ code: 0, stdout: `${packageJson.version}\n` });
});

test("a folder that was deleted is named as the reason", async () => {
  const gone = join(folder, "gone");
  mkdirSync(gone);
  const { code, stderr } = await runIn(gone, `rmdir ${gone} && node ${SCRIPT} deploy`);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: "The present folder does not exist any more. Change to another folder, and try again.\n",
  });
});
