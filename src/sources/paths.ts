// Which paths and links a source may have.
import { MAX_NAME_BYTES, MAX_PATH_BYTES, type SourceLimits } from "./bounds.ts";
import { SourceRefusal, shown } from "./faults.ts";

/** Names that some file system takes for git's own folder. */
const GIT_FOLDER = /^(?:\.git|git~\d+)[ .]*(?::.*)?$/i;

/** Names that some file system takes for `.gitmodules`. Git reads no commit in which such a name is a link. */
const GIT_MODULES = /^(?:\.gitmodules|gitmod~\d+|gi7eba~\d+)[ .]*(?::.*)?$/i;

/** Characters that file systems pass over, so that `.g\u200cit` is `.git` there. */
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * The path of an entry of an archive, without `./` and slashes at the end; empty for the top itself.
 * @throws SourceRefusal that names the path.
 */
export function archivePath(path: string, limits: SourceLimits): string {
  if (path.startsWith("/")) throw refusal(path, "begins with a slash; paths in an archive are relative");
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) throw refusal(path, "leaves the folder");
  if (/\p{Cc}/u.test(path)) throw refusal(path, "has a control character in its name");
  if (hasName(path, GIT_FOLDER)) throw refusal(path, "is in git's own folder");
  if (names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES))
    throw refusal(path, "has too long a name");
  const result = names.join("/");
  checkPathBounds(result, limits);
  return result;
}

/** @throws SourceRefusal when a path is too long or too deep. */
export function checkPathBounds(path: string, limits: SourceLimits): void {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw refusal(path, "is too long a path");
  if (path.split("/").length > limits.depth) throw refusal(path, "is in too many folders");
}

/**
 * Refuses a link that may lead out of the source. A way up is allowed at the beginning of the target alone: behind the
 * name of another link, `..` would go up from the target of that link.
 * @throws SourceRefusal that names the link.
 */
export function checkLink(path: string, target: string): void {
  if (hasName(path, GIT_MODULES)) throw refusal(path, "is a link, and git takes no link of this name");
  if (
    target === "" ||
    target.startsWith("/") ||
    Buffer.byteLength(target) > MAX_PATH_BYTES ||
    target.includes("\0")
  ) {
    throw refusal(path, `is a link to ${shown(target)}, which is not in the source`);
  }
  const names = target.split("/").filter((name) => name !== "" && name !== ".");
  const ups = names.findIndex((name) => name !== "..");
  const count = ups < 0 ? names.length : ups;
  const folders = path.split("/").length - 1;
  if (count > folders || names.slice(count).includes("..")) {
    throw refusal(path, `is a link to ${shown(target)}, which leads out of the source`);
  }
}

/** Whether a name of the path is of a form; a backslash parts names as well where git is careful. */
function hasName(path: string, form: RegExp): boolean {
  return path.split(/[/\\]/).some((name) => form.test(name.replaceAll(IGNORED, "")));
}

function refusal(path: string, fault: string): SourceRefusal {
  return new SourceRefusal(`${shown(path)} ${fault}.`);
}
