// Uploads whose git fails after it has changed the ref, as when it is killed in its last moment.
import { expect, test } from "bun:test";
import { findGit } from "./git.ts";
import { Repository } from "./repository.ts";
import { openRepository, refusalOf, streamed, tarOf, testFolder, TEXT } from "./test-support.ts";

const REF = "refs/pilvi/uploads/env-1";

/** Runs git, and fails after an import. */
const FAILING = ["/bin/sh", "-c", '"$@" || exit; case "$*" in *fast-import*) exit 1;; esac', "sh"];

function upload(repository: Repository, content: string): Promise<string> {
  return repository.commitUpload(streamed(tarOf([{ path: "a", content }])), REF, TEXT);
}

test.each(["a new ref", "a ref with an upload"])("a failed upload leaves %s as it was", async (what) => {
  using folder = testFolder();
  const first = await openRepository(folder.path);
  if (what !== "a new ref") await upload(first, "former");
  const before = await first.resolve(REF);
  const repository = await Repository.open(first.path, { git: { ...findGit(), prefix: FAILING } });
  expect(await refusalOf(upload(repository, "next"))).toStartWith("The upload could not be stored");
  expect(await first.resolve(REF)).toBe(before);
});

test("an upload whose git ends among many small files is refused, and no error goes astray", async () => {
  using folder = testFolder();
  const { path } = await openRepository(folder.path);
  const ending = [
    "/bin/sh",
    "-c",
    'case "$*" in *fast-import*) head -c 100000 >/dev/null; exit 1;; esac; exec "$@"',
    "sh",
  ];
  const repository = await Repository.open(path, { git: { ...findGit(), prefix: ending } });
  const files = Array.from({ length: 2_000 }, (_, at) => ({ path: `n${at}`, content: "x".repeat(500) }));
  const refusal = await refusalOf(repository.commitUpload(streamed(tarOf(files)), REF, TEXT));
  expect(refusal).toStartWith("The upload could not be stored");
  expect(await repository.resolve(REF)).toBeNull();
});
