// The login of an application at a repository behind HTTPS: a user name, and a password or token that nobody sees again.
import { invalid } from "../../../api/jsonapi/errors.ts";
import type { Vault } from "../../../lib/secrets.ts";
import type { Login } from "../../../sources/http.ts";
import type { Repositories } from "../../../sources/repositories.ts";
import type { ApplicationRow, Repository, RepositoryLogin } from "../store.ts";

/** Servers of tokens want any name at all. */
const DEFAULT_USERNAME = "git";

/** What a request says of the login; a member that is left out stays as it is. */
interface LoginRequest {
  repository_username?: string | null | undefined;
  repository_password?: string | null | undefined;
}

/** The application that the login is for. */
interface LoginOwner {
  id: string;
  repository: Repository | null;
  /** The login that it has so far, if that is one of the same repository. */
  former: RepositoryLogin | null;
}

/**
 * The login after a request. A login is never taken to another address, where it could be read.
 * @throws ApiError 422 when there is nothing that it could be sent to.
 */
export function loginFor(
  { vault, repositories }: { vault: Vault; repositories: Repositories },
  { id, repository, former }: LoginOwner,
  { repository_username: username, repository_password: password }: LoginRequest,
): RepositoryLogin | null {
  if (password === null || (username === null && password === undefined)) return null;
  if (password === undefined && username === undefined) return former;
  if (password === undefined && former === null)
    throw invalid({ repository_password: ["A user name needs a password or a token."] });
  if (repository === null || !isConfidential(repositories, repository.url))
    throw invalid({
      repository_password: [
        "A password is only sent to a repository whose address begins with https://. Addresses for SSH have a deploy key.",
      ],
    });
  const sealed = password === undefined ? former?.sealed : vault.seal(password, contextOf(id));
  return { username: username ?? former?.username ?? DEFAULT_USERNAME, sealed: sealed ?? "" };
}

/** The login that a fetch uses; null for an application without one. */
export function openLogin(
  vault: Vault,
  { id, repositoryLogin: login }: Pick<ApplicationRow, "id" | "repositoryLogin">,
): Login | null {
  if (login === null) return null;
  return { username: login.username, password: vault.open(login.sealed, contextOf(id)) };
}

/** The request without the password, for the audit. */
export function withoutPassword<Body extends LoginRequest>(body: Body): Omit<Body, "repository_password"> {
  const { repository_password: _, ...rest } = body;
  return rest;
}

/** Whether nobody on the way can read what is sent: over TLS, or within the machine. */
function isConfidential(repositories: Repositories, url: string): boolean {
  if (/^https:/i.test(url)) return true;
  return /^http:/i.test(url) && repositories.mayBeLocal(url);
}

function contextOf(id: string): string {
  return `${id} repository`;
}
