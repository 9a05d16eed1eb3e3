// A bucket of S3-compatible storage as a target. Requests are bounded in number and time, and repeated a few times.
import { S3Client } from "bun";
import { backoffMs } from "../../lib/backoff.ts";
import { codeOf, messageOf } from "../../lib/errors.ts";
import { MAX_ENVELOPE_BYTES, MAX_PLAIN_BYTES } from "../envelope.ts";
import { ownerOf } from "../names.ts";
import { DamagedObject, MissingObject, type StoredObject } from "../object-store.ts";
import { SharedPlaces } from "../../lib/shared-places.ts";
import { checkName, TargetError, type Target } from "./target.ts";

const MAX_REQUESTS = 8;
/** The requests about one archive, such as of a log that is slow to store, leave places to others. */
const MAX_REQUESTS_OF_ONE = 3;
const ATTEMPTS = 4;
const [FIRST_RETRY_MS, LONGEST_RETRY_MS] = [200, 5_000];
/** A request may take this long, and longer by the bytes that it sends or gets on a slow line. */
const TIMEOUT_MS = 30_000;
const SLOWEST_BYTES_PER_MS = 64;
const PRESIGNED_SECONDS = 3_600;
const KEYS_AT_ONCE = 1_000;

/** Answers to a request that came too late or too early. */
const PASSING_STATUSES = new Set([408, 429]);

/** Codes of a listing that is refused for good; Bun does not give its status. */
const REFUSALS = new Set([
  "AccessDenied",
  "InvalidAccessKeyId",
  "InvalidBucketName",
  "NoSuchBucket",
  "PermanentRedirect",
  "SignatureDoesNotMatch",
]);

/** The bucket of a target, and the credentials for it. */
interface Bucket {
  bucket: string;
  /** Names of objects begin with it, and with a slash after it; may be empty. */
  prefix: string;
  endpoint?: string;
  region?: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** For tests. */
interface S3Timing {
  firstRetryMs?: number;
  timeoutMs?: number;
}

/** What an S3 server says no to by its own code, such as `AccessDenied`. */
class S3Refusal extends Error {
  override name = "S3Refusal";
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(`S3 answered ${status} ${code}`);
    this.status = status;
    this.code = code;
  }
}

type Method = "GET" | "PUT" | "DELETE";

export class S3Target implements Target {
  readonly name: string;
  readonly isRemote = true;
  readonly #client: S3Client;
  readonly #prefix: string;
  readonly #places = new SharedPlaces(MAX_REQUESTS, MAX_REQUESTS_OF_ONE);
  readonly #timing: Required<S3Timing>;

  constructor({ prefix, ...bucket }: Bucket, timing: S3Timing = {}) {
    this.name = `s3://${bucket.bucket}${prefix === "" ? "" : `/${prefix}`}`;
    this.#prefix = prefix === "" ? "" : `${prefix}/`;
    this.#client = new S3Client(bucket);
    this.#timing = { firstRetryMs: FIRST_RETRY_MS, timeoutMs: TIMEOUT_MS, ...timing };
  }

  async write(name: string, sealed: Uint8Array): Promise<void> {
    await this.#request("PUT", name, sealed);
  }

  async read(name: string): Promise<Uint8Array> {
    return await this.#request("GET", name);
  }

  async delete(name: string): Promise<void> {
    await this.#request("DELETE", name).catch((error: unknown) => {
      if (!(error instanceof MissingObject)) throw error;
    });
  }

  async list(prefix: string): Promise<StoredObject[]> {
    const found: StoredObject[] = [];
    let startAfter: string | undefined;
    for (;;) {
      const page = await this.#page(prefix, startAfter);
      for (const { key, size } of page.contents ?? []) {
        found.push({ name: key.slice(this.#prefix.length), storedBytes: size ?? 0 });
        startAfter = key;
      }
      if (page.isTruncated !== true || (page.contents ?? []).length === 0) return found;
    }
  }

  /** A listing goes on after a key, which every compatible server knows. */
  async #page(prefix: string, startAfter: string | undefined) {
    return await this.#repeatedly(prefix, async () => {
      const listed = this.#client.list({
        prefix: this.#prefix + prefix,
        maxKeys: KEYS_AT_ONCE,
        ...(startAfter !== undefined && { startAfter }),
      });
      return await withTimeout(listed, this.#timing.timeoutMs);
    });
  }

  async #request(method: Method, name: string, body?: Uint8Array): Promise<Uint8Array> {
    checkName(name);
    return await this.#repeatedly(name, async () => {
      const url = this.#client.presign(this.#prefix + name, { method, expiresIn: PRESIGNED_SECONDS });
      const deadline = new Deadline(this.#timing.timeoutMs, body?.length ?? 0);
      try {
        const response = await fetch(url, {
          method,
          signal: deadline.signal,
          ...(body !== undefined && { body: new Uint8Array(body) }),
        });
        if (response.ok) return await bodyOf(response, name, deadline);
        const code = codeIn(await response.text());
        if (response.status === 404 && code !== "NoSuchBucket") throw new MissingObject(name);
        throw new S3Refusal(response.status, code);
      } finally {
        deadline.end();
      }
    });
  }

  /** Repeats what may succeed later. @param name of an object, or what the names of objects begin with. */
  async #repeatedly<T>(name: string, task: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#places.run(ownerOf(name)?.archive ?? "", task);
      } catch (error) {
        if (error instanceof MissingObject || error instanceof DamagedObject) throw error;
        if (attempt === ATTEMPTS || !isPassing(error))
          throw new TargetError(this.name, faultOf(error), error);
        await Bun.sleep(backoffMs(attempt, this.#timing.firstRetryMs, LONGEST_RETRY_MS));
      }
    }
  }
}

/** Ends a request that is without an answer for too long, or whose answer comes slower than on the slowest line. */
class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  /** Half of what the slowest line has in that time, since its speed varies. */
  readonly #stepBytes: number;
  #bytes = 0;

  /** @param sentBytes of the request. */
  constructor(timeoutMs: number, sentBytes: number) {
    this.#stepBytes = (timeoutMs * SLOWEST_BYTES_PER_MS) / 2;
    const late = new DOMException("The operation timed out.", "TimeoutError");
    this.#timer = setTimeout(
      () => this.#controller.abort(late),
      timeoutMs + sentBytes / SLOWEST_BYTES_PER_MS,
    );
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** So many bytes of the answer have come. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < this.#stepBytes) return;
    this.#bytes = 0;
    this.#timer.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

/** The body of an answer, which is read only as far as an object can reach. */
async function bodyOf(response: Response, name: string, deadline: Deadline): Promise<Uint8Array> {
  const maxBytes = MAX_PLAIN_BYTES + MAX_ENVELOPE_BYTES;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    deadline.add(chunk.length);
    if (length > maxBytes) throw new DamagedObject(name, "it is too large");
    chunks.push(chunk);
  }
  const announced = response.headers.get("content-length");
  if (announced !== null && Number(announced) !== length) throw new Error("the answer ended early");
  return Buffer.concat(chunks);
}

/** Whether the same request may succeed later. */
function isPassing(error: unknown): boolean {
  if (error instanceof S3Refusal) return error.status >= 500 || PASSING_STATUSES.has(error.status);
  return !REFUSALS.has(codeOf(error) ?? "");
}

function faultOf(error: unknown): string {
  if (error instanceof S3Refusal) return `refused a request (${error.status} ${error.code})`;
  const code = codeOf(error);
  return isPassing(error) ? `does not answer (${code ?? messageOf(error)})` : `refused a request (${code})`;
}

/** The code in the XML of a refusal. */
function codeIn(text: string): string {
  return /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(text)?.[1] ?? "without a reason";
}

async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(new Error("the time is over")), timeoutMs);
  try {
    return await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
