// Asks the keeper, the process that stores backups, over its unix socket.
import * as z from "zod/mini";
import {
  archiveStateSchema,
  archiveStatesSchema,
  archiveWatchLineSchema,
  backupInfoSchema,
  checkLineSchema,
  logStateSchema,
  planRefusalSchema,
  restorePlanSchema,
  storedStreamSchema,
  type Announcement,
  type ArchiveState,
  type ArchiveWatchLine,
  type BackupFacts,
  type BackupInfo,
  type CheckLine,
  type LogState,
  type RestorePlan,
  type RestoreTarget,
  type Retention,
  type StoredStream,
} from "../../contracts/keeper.ts";
import { ContractError, readAs, readJsonAs } from "../../contracts/read.ts";
import { keeperPath } from "../../contracts/versions.ts";
import { PublicError } from "../../lib/errors.ts";
import { readLines } from "../../contracts/lines.ts";
import { socketAddress } from "../../lib/unix-socket.ts";
import { KeeperPulse, type PulseParts } from "./keeper-pulse.ts";

const ANSWER = "The answer of the keeper";

/** How long an answer may take that needs no stream. A target far away may be slow, and the keeper asks it again. */
const TIMEOUT_MS = 60_000;

/** The keeper does not answer; all else is as before. */
export class KeeperUnreachable extends PublicError {
  override name = "KeeperUnreachable";

  constructor(cause: unknown) {
    super("The keeper of backups does not answer.", cause);
  }
}

/** There is no plan for a restore target, for a reason that another attempt does not change. */
export class PlanRefused extends PublicError {
  override name = "PlanRefused";
  readonly code: string;

  constructor({ code, message }: z.infer<typeof planRefusalSchema>) {
    super(message);
    this.code = code;
  }
}

const refusalSchema = z.looseObject({ message: z.string() });

/** Options of a request. */
interface Ask {
  body?: object;
  stream?: AsyncIterable<Uint8Array>;
  signal?: AbortSignal | undefined;
}

/** A request. A bounded request has its answer within a minute. */
interface Asked extends Ask {
  method: string;
  path: string;
  isBounded: boolean;
}

/** Every request ends when the keeper is silent, with `KeeperUnreachable`. */
export class KeeperClient {
  readonly #socket: string;
  readonly #pulse: KeeperPulse;

  /** @param socket the path of the keeper's unix socket. */
  constructor(socket: string, timing: Omit<PulseParts, "ask"> = {}) {
    this.#socket = socket;
    const ask = (signal: AbortSignal) => this.#fetch("GET", "/alive", { signal });
    this.#pulse = new KeeperPulse({ ...timing, ask });
  }

  /** Names an instance to the keeper, with the place of its log. */
  async announce(id: string, announcement: Announcement, signal?: AbortSignal): Promise<void> {
    await this.#ask("PUT", `/archives/${id}`, { body: announcement, signal });
  }

  async archives(): Promise<ArchiveState[]> {
    return await this.#askFor(archiveStatesSchema, "GET", "/archives");
  }

  /** The state of an archive; null when there is none. */
  async archive(id: string, signal?: AbortSignal): Promise<ArchiveState | null> {
    const asked = { method: "GET", path: `/archives/${id}`, signal, isBounded: true };
    return await this.#request(asked, async (response) => {
      if (response.status === 404) return null;
      return readAs(archiveStateSchema, await (await checked(response)).json(), ANSWER);
    });
  }

  /** The state of each archive, `synced`, and then each change, until the signal is aborted or the keeper ends. */
  async *watch(signal: AbortSignal): AsyncGenerator<ArchiveWatchLine> {
    const stream = await this.#stream("GET", "/archives/watch", signal);
    for await (const line of readLines(stream)) yield readJsonAs(archiveWatchLineSchema, line, ANSWER);
  }

  /** Ships the log of an instance up to now. */
  async flush(id: string, signal?: AbortSignal): Promise<LogState> {
    return await this.#askFor(logStateSchema, "POST", `/archives/${id}/flush`, { signal });
  }

  /** Stores the stream of a backup, which is no backup yet. @throws what the stream throws. */
  async store(
    archive: string,
    backup: string,
    stream: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<StoredStream> {
    const path = `/archives/${archive}/backups/${backup}`;
    return await this.#askFor(storedStreamSchema, "PUT", path, { stream, signal });
  }

  /** Makes a stored stream a backup. */
  async complete(
    archive: string,
    backup: string,
    facts: BackupFacts,
    signal?: AbortSignal,
  ): Promise<BackupInfo> {
    const path = `/archives/${archive}/backups/${backup}/complete`;
    return await this.#askFor(backupInfoSchema, "POST", path, { body: facts, signal });
  }

  /** The stream of a backup, checked part by part: it breaks off at damage. */
  async read(archive: string, backup: string, signal: AbortSignal): Promise<AsyncGenerator<Uint8Array>> {
    return await this.#stream("GET", `/archives/${archive}/backups/${backup}`, signal);
  }

  /** A segment of a log, or a timeline history. */
  async readLog(archive: string, name: string, signal: AbortSignal): Promise<AsyncGenerator<Uint8Array>> {
    return await this.#stream("GET", `/archives/${archive}/log/${name}`, signal);
  }

  async deleteBackup(archive: string, backup: string): Promise<void> {
    await this.#ask("DELETE", `/archives/${archive}/backups/${backup}`);
  }

  async deleteArchive(archive: string): Promise<void> {
    await this.#ask("DELETE", `/archives/${archive}`);
  }

  async retain(archive: string, retention: Retention): Promise<void> {
    await this.#ask("POST", `/archives/${archive}/retain`, { body: retention });
  }

  /** @throws PlanRefused when the target cannot be restored. */
  async plan(archive: string, target: RestoreTarget, signal?: AbortSignal): Promise<RestorePlan> {
    const path = `/archives/${archive}/plan`;
    const asked = { method: "POST", path, body: target, signal, isBounded: true };
    return await this.#request(asked, async (response) => {
      if (response.status === 409)
        throw new PlanRefused(readAs(planRefusalSchema, await response.json(), ANSWER));
      return readAs(restorePlanSchema, await (await checked(response)).json(), ANSWER);
    });
  }

  /** Reads every object of every target back: faults and progress, and last the sum. @throws KeeperUnreachable. */
  async *check(): AsyncGenerator<CheckLine> {
    const stream = await this.#stream("POST", "/check");
    for await (const line of readLines(stream)) yield readJsonAs(checkLineSchema, line, ANSWER);
  }

  /** The stream has the silence of the keeper as an error too. */
  async #stream(method: string, path: string, signal?: AbortSignal): Promise<AsyncGenerator<Uint8Array>> {
    const ending = new AbortController();
    const ends = AbortSignal.any([ending.signal, ...(signal ? [signal] : [])]);
    const { body } = await this.#request({ method, path, signal: ends, isBounded: false }, checked);
    if (body === null) throw new KeeperUnreachable(new Error("there is no body"));
    return this.#unsilent(body, ending);
  }

  async *#unsilent(stream: AsyncIterable<Uint8Array>, ending: AbortController): AsyncGenerator<Uint8Array> {
    const { silence, end } = this.#pulse.watch();
    silence.addEventListener("abort", () => ending.abort(silence.reason));
    try {
      yield* stream;
    } catch (error) {
      throw silence.aborted ? new KeeperUnreachable(silence.reason) : error;
    } finally {
      end();
    }
  }

  async #askFor<T>(schema: z.core.$ZodType<T>, method: string, path: string, ask: Ask = {}): Promise<T> {
    const asked = { method, path, ...ask, isBounded: ask.stream === undefined };
    return await this.#request(asked, async (response) =>
      readAs(schema, await (await checked(response)).json(), ANSWER),
    );
  }

  async #ask(method: string, path: string, ask: Ask = {}): Promise<void> {
    await this.#request({ method, path, ...ask, isBounded: true }, checked);
  }

  /** @throws KeeperUnreachable, or what the stream of the body throws, or what is made of the answer. */
  async #request<T>(
    { method, path, isBounded, signal, ...ask }: Asked,
    use: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { silence, end } = this.#pulse.watch();
    const bound = AbortSignal.any([silence, ...(isBounded ? [AbortSignal.timeout(TIMEOUT_MS)] : [])]);
    const ends = AbortSignal.any([bound, ...(signal ? [signal] : [])]);
    const broken: { error?: unknown } = {};
    const stream = ask.stream && noting(ask.stream, broken);
    try {
      return await use(await this.#fetch(method, path, { ...ask, ...(stream && { stream }), signal: ends }));
    } catch (error) {
      if (broken.error !== undefined) throw broken.error;
      signal?.throwIfAborted();
      if (error instanceof PublicError || error instanceof ContractError) throw error;
      throw new KeeperUnreachable(bound.aborted ? bound.reason : error);
    } finally {
      end();
    }
  }

  async #fetch(method: string, path: string, { body, stream, signal }: Ask): Promise<Response> {
    return await fetch(`http://keeper${keeperPath(path as `/${string}`)}`, {
      method,
      unix: socketAddress(this.#socket),
      timeout: false,
      ...(signal && { signal }),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(stream === undefined ? {} : { body: stream }),
    });
  }
}

/** The same stream; notes the error that it ends with. */
async function* noting(
  stream: AsyncIterable<Uint8Array>,
  broken: { error?: unknown },
): AsyncGenerator<Uint8Array> {
  try {
    yield* stream;
  } catch (error) {
    broken.error = error;
    throw error;
  }
}

/** @throws PublicError with the keeper's sentence when it refused. */
async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  const text = await response.text();
  throw new PublicError(readJsonAs(refusalSchema, text, ANSWER).message);
}
