// A plan names what a commit does not have: the files of submodules and of Git LFS.
import { expect, test } from "bun:test";
import { planOf } from "./plan.ts";
import { NO_SETTINGS, sourceOf } from "./test-source.ts";

const AVAILABLE = { node: ["24.11.0"], bun: [], deno: [], php: [], python: [] };
const SITE = { "index.html": "hello" };

const pointer = (letter: string) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${letter.repeat(64)}\nsize 12345\n`;

async function notesOf(
  files: Record<string, string>,
  submodules: string[] = [],
  rootDirectory = "",
): Promise<string[]> {
  return (await planOf(sourceOf(files, [], submodules), { ...NO_SETTINGS, rootDirectory }, AVAILABLE)).notes;
}

test("submodules are named, with how to deploy their files", async () => {
  expect(await notesOf(SITE, ["vendor/lib"])).toEqual([
    "vendor/lib is a submodule, which Pilvi does not fetch: its folder is empty. pilvi deploy uploads a checked-out submodule with its files.",
  ]);
  const many = Array.from({ length: 12 }, (_, at) => `m${at}`);
  expect(await notesOf(SITE, many)).toEqual([
    "m0, m1, m2, m3, m4 and 7 more are submodules, which Pilvi does not fetch: their folders are empty. pilvi deploy uploads checked-out submodules with their files.",
  ]);
});

test("pointers of Git LFS are named, but no other files", async () => {
  const files = {
    ...SITE,
    ".gitattributes": "*.txt text\n",
    "assets/.gitattributes": "# pictures\n*.png filter=lfs diff=lfs merge=lfs -text\n",
    "assets/a.png": pointer("a"),
    "assets/b.png": "x".repeat(130),
    "assets/c.png": pointer("c"),
  };
  expect(await notesOf(files)).toEqual([
    "assets/a.png and assets/c.png are pointers of Git LFS, whose contents Pilvi does not fetch. Run git lfs pull, and deploy the folder with pilvi deploy.",
  ]);
  expect(await notesOf({ ...SITE, "a.png": pointer("a") })).toEqual([]);
});

test("an application in a submodule is refused with the reason", async () => {
  for (const root of ["shop", "shop/web"])
    await expect(notesOf(SITE, ["shop"], root)).rejects.toThrow(
      `root_directory is ${root}, which is in the submodule shop, and Pilvi fetches no submodules. pilvi deploy uploads a checked-out submodule with its files.`,
    );
});
