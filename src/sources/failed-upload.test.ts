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
