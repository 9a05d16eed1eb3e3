// Uploads a folder with a line of progress.
import type { NewUpload } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import type { Io } from "../io.ts";
import { isNeverDeployed } from "./file-names.ts";
import { packFolder } from "./pack.ts";

const REDRAW_MS = 100;

/** Stands after the message of the latest commit where the folder has other files than that commit. */
const CHANGED = " (with changes)";

const SENT = "Interrupted. All files were sent, so a deployment may have begun; pilvi deployments says so.";

/** Facts about the latest commit of a folder, for the commit that an upload becomes. */
interface Facts {
  message?: string;
  authorName?: string;
  authorEmail?: string;
}

/**
 * Packs a folder and sends it.
 * @throws CommandError when the folder cannot be packed, or with the exit code 130 on Ctrl-C.
 */
export async function uploadFolder<Document>(
  io: Io,
  folder: string,
  message: string | undefined,
  send: (upload: NewUpload) => Promise<Document>,
): Promise<Document> {
  const packed = await packFolder(folder);
  for (const name of packed.omitted)
    io.err(
      `${name} is left out: git does not list its files. Fill a submodule with: git submodule update --init\n`,
    );
  io.err(`Uploading ${packed.files} file${packed.files === 1 ? "" : "s"} (${amountText(packed.bytes)})\n`);
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const forget = io.onInterrupt(() => interrupt.abort());
  const facts = factsOf(folder);
  let fault: unknown;
  let isSent = false;
  const archive = () => {
    const end = { failed: (error: unknown) => void (fault = error), read: () => void (isSent = true) };
    return watched(packed.archive(), end).pipeThrough(counter(io));
  };
  try {
    return await send({ archive, ...facts, ...(message !== undefined && { message }), signal });
  } catch (error) {
    // Pilvi goes on with an archive that it has as a whole.
    if (signal.aborted) throw new CommandError(isSent ? SENT : "Interrupted. Nothing was deployed.", 130);
    // The failure of the request alone does not say that a file could not be read.
    throw fault ?? error;
  } finally {
    if (io.isErrTerminal) io.redraw("");
    if (!signal.aborted) forget();
  }
}

/** The same stream, whose end is also said to a listener. */
function watched(
  stream: ReadableStream<Uint8Array>,
  end: { failed(error: unknown): void; read(): void },
): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        end.read();
        controller.close();
      } catch (error) {
        end.failed(error);
        controller.error(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Shows on a terminal how much has been sent. */
function counter(io: Io): TransformStream<Uint8Array, Uint8Array> {
  let sent = 0;
  let drawnMs = -Infinity;
  return new TransformStream({
    transform(chunk, controller) {
      sent += chunk.byteLength;
      controller.enqueue(chunk);
      if (!io.isErrTerminal || io.nowMs() - drawnMs < REDRAW_MS) return;
      drawnMs = io.nowMs();
      io.redraw(`Uploading: ${amountText(sent)} packed`);
    },
  });
}

/** The message and the author of the commit that a folder is at; empty for a folder without git. */
function factsOf(folder: string): Facts {
  if (Bun.which("git") === null) return {};
  const argv = ["git", "-c", "log.showSignature=false", "log", "-1", "--format=%s%n%an%n%ae"];
  const { stdout, exitCode } = Bun.spawnSync(argv, { cwd: folder, stdin: "ignore", stderr: "ignore" });
  if (exitCode !== 0) return {};
  const [message = "", authorName = "", authorEmail = ""] = stdout.toString().split("\n");
  return {
    ...(message !== "" && { message: message.slice(0, 1000) + (isChanged(folder) ? CHANGED : "") }),
    ...(authorName.trim() !== "" && { authorName: authorName.trim().slice(0, 200) }),
    ...(authorEmail.trim() !== "" && { authorEmail: authorEmail.trim().slice(0, 200) }),
  };
}

/** Whether a folder has other files to deploy than its latest commit. */
function isChanged(folder: string): boolean {
  const argv = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--porcelain", "-z"];
  const { stdout, exitCode } = Bun.spawnSync(
    [...argv, "--no-renames", "--untracked-files=normal", "--", "."],
    { cwd: folder, stdin: "ignore", stderr: "ignore" },
  );
  const lines = stdout.toString().split("\0").slice(0, -1);
  return exitCode === 0 && lines.some(isChange);
}

/** A line such as `?? web/new.html`. The link of a folder is never deployed either. */
function isChange(line: string): boolean {
  const path = line.slice(3);
  return !line.startsWith("??") || !(isNeverDeployed(path) || /(?:^|\/)\.pilvi\//.test(path));
}

/** An amount of bytes in words. */
function amountText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 ** 2) return `${Math.round(bytes / 1024)} KiB`;
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
