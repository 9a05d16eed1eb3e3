// Serves a repository to git's own clients over HTTP, through git's own program for it.
import { failpoint } from "../lib/failpoint.ts";
import { ByteReader } from "./byte-reader.ts";
import { SourceRefusal } from "./faults.ts";
import { GitProcess } from "./git.ts";
import { channelPacket, CHANNELS, packetOf } from "./packets.ts";
import { withProgress } from "./push-progress.ts";
import { PushRecord } from "./push-records.ts";
import { reportPush, type PushedBranch } from "./push-reports.ts";
import type { Repository } from "./repository.ts";
import { bodyOf, isPacked } from "./request-body.ts";
import { streamOf } from "./streams.ts";

export interface GitHttpOptions {
  /** The name of the caller, who was checked before; also who may write. */
  user: string;
  mayPush: boolean;
  /**
   * Called after a push that changed branches, also when the client has gone meanwhile. Each text of the result goes to
   * the terminal of the person that pushes, which waits for the end. After a failure, and where `again` was called, the
   * push is kept for `reportLeftPushes`.
   */
  onPush(branches: PushedBranch[], again: () => void): Promise<AsyncIterable<string>>;
  /** The names of branches whose changes are reported however many branches there are; of others, the first 1,000. */
  followed?(): Promise<readonly string[]>;
  /**
   * Asked while a push comes, and before its last byte, whether its caller still may; a push that is refused changes
   * nothing.
   */
  mayGoOn?(): Promise<boolean>;
  /** The largest pack that is taken, where the repository has less room than a pack may have. */
  roomBytes?: number;
  deadlineMs?: number;
}

type Service = "git-receive-pack" | "git-upload-pack";

const DEADLINE_MS = 15 * 60_000;
const MAX_HEADER_BYTES = 16 << 10;

/** The time after which a push that still comes asks about its caller again. */
const ASK_MS = 1_000;

/** The request is none of git's clients. */
const NOT_FOUND = { status: 404, text: "There is nothing here but a git repository." };
const FORBIDDEN = { status: 403, text: "This token may not push." };

/**
 * Answers a request of git's client.
 * @param path the part of the path behind the repository, such as `/info/refs`.
 */
export async function serveGit(
  repository: Repository,
  request: Request,
  path: string,
  options: GitHttpOptions,
): Promise<Response> {
  const url = new URL(request.url);
  const service = serviceOf(request.method, path, url.searchParams);
  if (service === null) return plain(NOT_FOUND);
  const isPush = service === "git-receive-pack";
  if (isPush && !options.mayPush) return plain(FORBIDDEN);
  const isChange = isPush && request.method === "POST";
  const followed = isChange ? ((await options.followed?.()) ?? []) : [];
  const branches = () => repository.branches(followed);
  const record = isChange ? await PushRecord.begin(repository.path, branches) : null;
  const run = begun(record, () => runBackend(repository, request, { path, url, service, options, record }));
  const pushed = record === null ? null : afterPush(repository, run, record, { ...options, followed });
  // A client that has gone asks for no texts, and then nobody else waits for them.
  pushed?.catch(() => {});
  const reader = new ByteReader(run.child.stdout, Infinity);
  const head = await headOf(reader);
  if (head === null) {
    run.kill();
    return plain({ status: 500, text: "The repository could not be served." });
  }
  const body = bodyOf(request, isPush);
  // Git has begun its answer, so that a refusal can be the end of it.
  const refusals = feed(run, isChange ? admitted(body, options) : body);
  const parts = withRefusal(endingWith(run, reader.pieces(Infinity)), refusals, isPush);
  if (pushed === null) return new Response(streamOf(parts), head);
  return new Response(streamOf(withProgress(parts, () => textsOf(pushed))), head);
}

function serviceOf(method: string, path: string, query: URLSearchParams): Service | null {
  const name = path === "/info/refs" && method === "GET" ? query.get("service") : path.slice(1);
  const isService = name === "git-receive-pack" || name === "git-upload-pack";
  if (!isService) return null;
  return path === "/info/refs" || method === "POST" ? name : null;
}

/** Git's process; a push whose git cannot be started leaves no note. */
function begun(record: PushRecord | null, start: () => GitProcess): GitProcess {
  try {
    return start();
  } catch (error) {
    record?.end();
    throw error;
  }
}

interface Call {
  path: string;
  url: URL;
  service: Service;
  options: GitHttpOptions;
  /** The note of a push; null for all other requests. */
  record: PushRecord | null;
}

/** The variables of CGI; nothing of the request but what git needs. */
function runBackend(repository: Repository, request: Request, call: Call): GitProcess {
  const { limits } = repository;
  const { options } = call;
  return new GitProcess(repository.git, ["http-backend"], {
    repository: repository.path,
    // A small pack has its size twice: as it comes, and with the objects that it builds on.
    maxFileBytes: 2 * limits.transferBytes,
    deadlineMs: options.deadlineMs ?? DEADLINE_MS,
    signal: request.signal,
    settings: settingsOf(repository, options),
    env: variablesOf(repository, request, call),
    ...(call.record !== null && { lock: call.record.fd }),
  });
}

function variablesOf(
  repository: Repository,
  request: Request,
  { path, service, options }: Call,
): Record<string, string> {
  const header = (name: string) => request.headers.get(name) ?? "";
  return {
    GIT_HTTP_EXPORT_ALL: "1",
    PATH_TRANSLATED: repository.path + path,
    REQUEST_METHOD: request.method,
    QUERY_STRING: request.method === "GET" ? `service=${service}` : "",
    REMOTE_USER: options.user.replaceAll(/[^\w.@-]/g, "_"),
    CONTENT_TYPE: header("content-type").slice(0, 200),
    ...(header("content-length") !== "" &&
      !isPacked(request) && {
        CONTENT_LENGTH: header("content-length").replaceAll(/\D/g, ""),
      }),
    ...(/^[\w=:]{1,100}$/.test(header("git-protocol")) && { GIT_PROTOCOL: header("git-protocol") }),
  };
}

function settingsOf({ limits }: Repository, options: GitHttpOptions): Record<string, string> {
  return {
    "http.receivepack": String(options.mayPush),
    "http.uploadpack": "true",
    // Zero would mean no bound.
    "receive.maxInputSize": String(
      Math.max(1, Math.min(limits.transferBytes, options.roomBytes ?? Infinity)),
    ),
    "receive.fsckObjects": "true",
    "receive.autogc": "false",
    "receive.denyDeleteCurrent": "ignore",
    "receive.denyCurrentBranch": "ignore",
    // A pack is one sync, and a single file, which has a bound.
    "receive.unpackLimit": "1",
    "receive.keepAlive": "5",
    // Branches of Pilvi's own are nobody's to see or to change.
    "transfer.hideRefs": "refs/pilvi",
  };
}

/**
 * The body of a push, as long as its caller may go on. Without the last byte, git changes nothing.
 * @throws SourceRefusal
 */
async function* admitted(
  body: AsyncIterable<Uint8Array>,
  { mayGoOn = () => Promise.resolve(true) }: GitHttpOptions,
): AsyncGenerator<Uint8Array> {
  let last = new Uint8Array();
  let askedAt = performance.now();
  const ask = async () => {
    if (!(await mayGoOn())) throw new SourceRefusal(FORBIDDEN.text);
    askedAt = performance.now();
  };
  for await (const part of body) {
    if (performance.now() - askedAt > ASK_MS) await ask();
    const whole = Buffer.concat([last, part]);
    yield whole.subarray(0, -1);
    last = new Uint8Array(whole.subarray(-1));
  }
  await ask();
  yield last;
}

/**
 * Gives git the body of the request as fast as git takes it.
 * @returns a list that gets the refusal of the body, once git is ended for it.
 */
function feed(run: GitProcess, body: AsyncIterable<Uint8Array>): readonly SourceRefusal[] {
  const refusals: SourceRefusal[] = [];
  void feedAll(run, body, (refusal) => refusals.push(refusal));
  return refusals;
}

async function feedAll(
  run: GitProcess,
  body: AsyncIterable<Uint8Array>,
  refused: (refusal: SourceRefusal) => void,
): Promise<void> {
  const { stdin } = run.child;
  try {
    for await (const part of body) {
      void stdin.write(part);
      await stdin.flush();
    }
  } catch (error) {
    // Any other error says that git has ended, or that the client has gone: the answer says which.
    if (error instanceof SourceRefusal) {
      refused(error);
      run.kill();
    }
  } finally {
    await Promise.resolve(stdin.end()).catch(() => {});
  }
}

/** What git has answered, and why it was ended, which its client shows. */
async function* withRefusal(
  parts: AsyncIterable<Uint8Array>,
  refusals: readonly SourceRefusal[],
  isPush: boolean,
): AsyncGenerator<Uint8Array> {
  yield* parts;
  const [refusal] = refusals;
  if (refusal === undefined) return;
  const { message } = refusal;
  yield isPush
    ? channelPacket(CHANNELS.fault, Buffer.from(`${message}\n`))
    : packetOf(Buffer.from(`ERR ${message}`));
}

/** The header of CGI: lines until an empty line. Null when there is none. */
async function headOf(
  reader: ByteReader,
): Promise<{ status: number; headers: Record<string, string> } | null> {
  let text = "";
  while (!text.endsWith("\r\n\r\n")) {
    const byte = await reader.read(1);
    if (byte.length === 0 || text.length > MAX_HEADER_BYTES) return null;
    text += byte.toString("latin1");
  }
  const lines = text
    .trim()
    .split("\r\n")
    .map((line) => /^([\w-]+):\s*(.*)$/.exec(line));
  const headers = Object.fromEntries(lines.map((line) => [line?.[1]?.toLowerCase() ?? "", line?.[2] ?? ""]));
  const { status = "200", ...rest } = headers;
  return { status: Number.parseInt(status, 10), headers: rest };
}

async function* endingWith(run: GitProcess, parts: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let isWhole = false;
  try {
    yield* parts;
    isWhole = true;
  } finally {
    // A client that leaves needs no git any more.
    if (!isWhole) run.kill();
  }
}

async function afterPush(
  repository: Repository,
  run: GitProcess,
  record: PushRecord,
  { onPush, followed }: Pick<GitHttpOptions, "onPush"> & { followed: readonly string[] },
): Promise<AsyncIterable<string>> {
  const endPush = repository.pushes.begin();
  await run.child.exited;
  // A git that was killed alone leaves children behind.
  if (run.child.signalCode !== null) run.kill();
  // All that git has started holds the pipe of its messages, and may make locks, until it has ended.
  await run.messages;
  await endPush();
  await failpoint("push.received");
  return (await reportPush(repository, record, onPush, followed)) ?? noTexts();
}

async function* textsOf(pushed: Promise<AsyncIterable<string>>): AsyncGenerator<string> {
  yield* await pushed;
}

// oxlint-disable-next-line require-yield -- a push that changed nothing has nothing to report
async function* noTexts(): AsyncGenerator<string> {
  await Promise.resolve();
}

function plain({ status, text }: { status: number; text: string }): Response {
  return new Response(`${text}\n`, { status, headers: { "content-type": "text/plain; charset=utf-8" } });
}
