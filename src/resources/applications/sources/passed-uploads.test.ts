// Uploads that a push comes after, while another upload is under way.
import { expect, test } from "bun:test";
import { newUploadRef } from "../../../sources/uploads.ts";
import { openRepository, streamed, tarOf, testFolder, TEXT } from "../../../sources/test-support.ts";
import { until } from "../../../../tests/support/pilvi/pilvi.ts";
import { passUploads } from "./passed-uploads.ts";

const TIP = "a".repeat(40);
const ENVIRONMENTS = [{ id: "env-1", branch: "main" }];
const PUSHED = [{ name: "main", hash: "b".repeat(40), before: TIP }];

test("a push does not wait for an upload, at whose end those before it are passed", async () => {
  using folder = testFolder();
  const repository = await openRepository(folder.path);
  const archive = streamed(tarOf([{ path: "a", content: "b" }]));
  await repository.commitUpload(archive, newUploadRef("env-1", TIP), TEXT);
  const cancel = new AbortController();
  const begun = Promise.withResolvers<void>();
  const stalled = new ReadableStream<Uint8Array>({ pull: () => begun.resolve() });
  const upload = repository.commitUpload(stalled, newUploadRef("env-2", null), TEXT, {
    signal: cancel.signal,
  });
  upload.catch(() => {});
  await begun.promise;
  await passUploads(repository, PUSHED, ENVIRONMENTS);
  const bases = async () => (await repository.uploads("env-1")).map(({ base }) => base);
  expect(await bases()).toEqual([TIP]);
  cancel.abort();
  await until("the upload is passed", async () => (await bases())[0] !== TIP);
});
