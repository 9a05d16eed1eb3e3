// Runs the tour of the README as it stands there, in one shell, against a real Pilvi.
import { expect, test } from "bun:test";
import packageJson from "../../package.json" with { type: "json" };
import { startPilvi, TOKEN } from "../support/pilvi/pilvi.ts";
import { tourBlocks } from "./markdown.ts";
import { ROOT } from "./source.ts";

/** Some forty programs start one after the other, each of which takes seconds on a busy machine. */
const TIMEOUT_MS = 540_000;

test(
  "the tour of the README works by copy and paste",
  async () => {
    const blocks = tourBlocks("README.md");
    expect(blocks.length).toBeGreaterThan(3);
    const pilvi = await startPilvi();
    try {
      // `-x` shows on stderr which command failed.
      const child = Bun.spawn(["bash", "-euxo", "pipefail", "-c", blocks.join("\n")], {
        cwd: ROOT,
        env: { ...pilvi.env, PILVI_URL: pilvi.url, PILVI_TOKEN: TOKEN },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const [stdout, stderr] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      expect({ code: await child.exited, stderr }).toMatchObject({ code: 0 });
      // The page that was deployed comes out of the edge.
      expect(stdout).toContain("<h1>moi from a page</h1>");
      // The value that the command line tool wrote comes out of the Node client.
      expect(stdout).toContain("moi 42");
      // What was published comes out of the channels, in both ways.
      expect(stdout).toContain("moi from the channel\n");
      expect(stdout).toMatch(/ {2}hello {2}\{"text": "moi from the terminal"\}$/m);
      // What was put to sleep answers, and names its waker.
      expect(stdout).toMatch(/^awake again, with \d+ sessions$/m);
      expect(stdout).toMatch(/^Last wake .* by app from 127\.0\.0\.1:\d+, database main, application tour$/m);
      expect(stdout).toContain("Deleted the cache sessions");
      expect(pilvi.instanceFolders()).toEqual([]);
    } finally {
      await pilvi.close();
    }
  },
  TIMEOUT_MS,
);

test("the tour needs no package that a start leaves out", () => {
  const packages = [
    ...tourBlocks("README.md")
      .join("\n")
      .matchAll(/^ *import .* from "([^"]+)";$/gm),
  ];
  expect(packages.length).toBeGreaterThan(3);
  const missing = packages.map(([, name = ""]) => name).filter((name) => !(name in packageJson.dependencies));
  expect(missing).toEqual([]);
});
