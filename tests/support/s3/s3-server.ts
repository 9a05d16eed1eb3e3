// A server of the tests' own that speaks the part of S3 that the keeper needs: signed requests to put, get, delete and
// list objects of one bucket, in memory. It can be stopped, refuse, hang, or fail, as real storage does.
import { isSigned, type Credentials } from "./signature.ts";

const MAX_KEYS = 1_000;

/** What the server does in place of an answer. */
export type S3Fault = "fails" | "denies" | "hangs" | "stalls";

/** The pieces in which a slow line brings an object. */
const PIECES = 8;

export class S3Server {
  readonly bucket = "backups";
  readonly credentials: Credentials = { accessKeyId: "test-key", secretAccessKey: "test/secret+key" };
  /** By key. */
  readonly objects = new Map<string, Uint8Array>();
  /** How many requests of each method came. */
  readonly requests = new Map<string, number>();
  fault: S3Fault | null = null;
  /** How many further requests get the fault. */
  faultCount = Number.POSITIVE_INFINITY;
  /** Called before a write of an object, which waits for the promise: storage is slow for some objects only. */
  holdUp: (key: string) => Promise<void> | undefined = () => undefined;
  /** How long the line takes for an eighth of an object that is read. */
  pieceMs = 0;
  /** The most requests that were under way together. */
  mostAtOnce = 0;
  #atOnce = 0;
  #server: Bun.Server<undefined> | null = null;
  #port = 0;

  get endpoint(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Starts, at the same port as before; the objects are still there. */
  start(): this {
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: this.#port,
      idleTimeout: 0,
      fetch: async (request) => await this.#counted(request),
    });
    this.#port = this.#server.port ?? 0;
    return this;
  }

  async stop(): Promise<void> {
    await this.#server?.stop(true);
  }

  async #counted(request: Request): Promise<Response> {
    this.requests.set(request.method, (this.requests.get(request.method) ?? 0) + 1);
    this.#atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    try {
      return await this.#answer(request);
    } finally {
      this.#atOnce -= 1;
    }
  }

  async #answer(request: Request): Promise<Response> {
    const body = new Uint8Array(await request.arrayBuffer());
    if (this.fault !== null && this.faultCount > 0) {
      this.faultCount -= 1;
      return await this.#faulty(this.fault, request);
    }
    if (!isSigned(request, this.credentials)) return refusal(403, "SignatureDoesNotMatch");
    const { pathname, searchParams } = new URL(request.url);
    const [, bucket, ...parts] = decodeURIComponent(pathname).split("/");
    if (bucket !== this.bucket) return refusal(404, "NoSuchBucket");
    const key = parts.join("/");
    if (key === "") return this.#list(searchParams);
    if (request.method === "PUT") {
      await this.holdUp(key);
      this.objects.set(key, body);
    }
    if (request.method === "DELETE") this.objects.delete(key);
    if (request.method !== "GET") return new Response(null, { status: request.method === "PUT" ? 200 : 204 });
    const object = this.objects.get(key);
    if (object === undefined) return refusal(404, "NoSuchKey");
    return new Response(this.pieceMs === 0 ? new Uint8Array(object) : slowly(object, this.pieceMs));
  }

  async #faulty(fault: S3Fault, request: Request): Promise<Response> {
    if (fault === "fails") return refusal(503, "SlowDown");
    if (fault === "denies") return refusal(403, "AccessDenied");
    if (fault === "stalls")
      return new Response(new ReadableStream({ start: (body) => body.enqueue(new Uint8Array(1)) }));
    await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
    return new Response(null, { status: 500 });
  }

  #list(query: URLSearchParams): Response {
    const prefix = query.get("prefix") ?? "";
    const after = query.get("start-after") ?? "";
    const count = Math.min(Number(query.get("max-keys") ?? MAX_KEYS), MAX_KEYS);
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const contents = keys.slice(0, count).map((key) => {
      const size = this.objects.get(key)?.length ?? 0;
      return `<Contents><Key>${key}</Key><Size>${size}</Size></Contents>`;
    });
    const text = `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult><Name>${this.bucket}</Name><Prefix>${prefix}</Prefix><KeyCount>${contents.length}</KeyCount><MaxKeys>${count}</MaxKeys><IsTruncated>${keys.length > count}</IsTruncated>${contents.join("")}</ListBucketResult>`;
    return new Response(text, { headers: { "content-type": "application/xml" } });
  }
}

function slowly(object: Uint8Array, pieceMs: number): ReadableStream<Uint8Array> {
  const pieceBytes = Math.ceil(object.length / PIECES);
  let at = 0;
  return new ReadableStream({
    pull: async (body) => {
      await Bun.sleep(pieceMs);
      body.enqueue(object.slice(at, at + pieceBytes));
      at += pieceBytes;
      if (at >= object.length) body.close();
    },
  });
}

function refusal(status: number, code: string): Response {
  const text = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`;
  return new Response(text, { status, headers: { "content-type": "application/xml" } });
}
