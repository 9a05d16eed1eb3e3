// Uploads of sources: an archive as a stream, with what its commit says about itself.
import type { PlanResource } from "../resources/applications/schema.ts";
import type { Connection } from "./connection.ts";
import type { SingleDocument } from "./documents.ts";
import { newIdempotencyKey } from "./idempotency-key.ts";

/** As long as Pilvi takes an upload. */
const UPLOAD_TIMEOUT_MS = 15 * 60_000;

/** A source to upload. */
export interface NewUpload {
  /** Opens a tar, packed with gzip. An upload that is sent again opens it again. */
  archive(): ReadableStream<Uint8Array>;
  /** The message of the commit. */
  message?: string;
  authorName?: string;
  authorEmail?: string;
  /** Makes repetitions over several processes safe; by default each call has its own. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** What a deployment would do, each part with its origin. */
export type PlanDocument = SingleDocument<PlanResource, never>;

/** @param path of the operation that takes the archive. */
export async function sendUpload<Document>(
  connection: Connection,
  path: string,
  upload: NewUpload,
): Promise<Document> {
  const { archive, message, authorName, authorEmail, signal } = upload;
  const { idempotencyKey = newIdempotencyKey() } = upload;
  const members = { message, author_name: authorName, author_email: authorEmail };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) if (value !== undefined) query.set(name, value);
  return await connection.send<Document>({
    method: "POST",
    path,
    query,
    upload: { contentType: "application/gzip", open: archive },
    headers: { "Idempotency-Key": idempotencyKey },
    timeoutMs: UPLOAD_TIMEOUT_MS,
    signal,
  });
}
