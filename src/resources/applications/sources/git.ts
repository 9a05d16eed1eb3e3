// Git's own protocol: clones and pushes of applications' sources at `/git/<id or slug>.git`.
import { can, isStillValid } from "../../../api/auth/auth.ts";
import { ApiError, forbidden, notFound } from "../../../api/jsonapi/errors.ts";
import type { Protocol, ProtocolRequest } from "../../../api/operation/protocol.ts";
import { PublicError } from "../../../lib/errors.ts";
import { serveGit } from "../../../sources/git-http.ts";
import { streamOf } from "../../../sources/streams.ts";
import type { Repository } from "../../../sources/repository.ts";
import type { KindContext } from "../../kind.ts";
import { refuseDeleting } from "../../shared/desired-state.ts";
import { storageRoom } from "../../shared/quotas.ts";
import { KIND } from "../create.ts";
import { findApplicationNamed, type ApplicationRow } from "../store.ts";
import { withSourceFaults } from "./faults.ts";
import { fetchedFrom } from "./fetch.ts";
import { deployLeftPushes } from "./left-pushes.ts";
import { makeRoom } from "./old-uploads.ts";
import { deployedBranches, deployPush } from "./push.ts";
import { GIT_REQUESTS, SourceSlots } from "./slots.ts";

const PUSH = "git-receive-pack";

/** An id or a slug; the store takes no NUL in a text. */
const NAME = /^[a-z0-9-]{1,64}$/;

/** The protocol of git's clients, who send a token as the password with any user name. */
export function gitProtocol(context: KindContext): Protocol {
  const slots = new SourceSlots(GIT_REQUESTS);
  return {
    path: "/git/:repository/*",
    async handle(asked) {
      const free = slots.take(asked.principal.familyId);
      // A client that leaves before its answer begins reads nothing of it.
      asked.request.signal.addEventListener("abort", free);
      try {
        return whenSent(await serve(context, asked), free);
      } catch (error) {
        free();
        throw error;
      }
    },
  };
}

/** The answer, with a call at its end. */
function whenSent(response: Response, ended: () => void): Response {
  const { body } = response;
  if (body === null) {
    ended();
    return response;
  }
  return new Response(streamOf(endingWith(body, ended)), response);
}

async function* endingWith(body: ReadableStream<Uint8Array>, ended: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } finally {
    ended();
  }
}

/** @throws ApiError 403 without the ability, 404, 429, 503 without room for a push, or 409 for a push where commits come from elsewhere. */
async function serve(context: KindContext, asked: ProtocolRequest): Promise<Response> {
  const { request, url, params, principal } = asked;
  const isPush = url.pathname.endsWith(`/${PUSH}`) || url.searchParams.get("service") === PUSH;
  const needed = isPush ? (`${KIND}:write` as const) : (`${KIND}:read` as const);
  if (!can(principal, needed)) throw forbidden([needed]);
  const name = (params.repository ?? "").replace(/\.git$/, "");
  const application = NAME.test(name)
    ? await findApplicationNamed(context.db, principal.organizationId, name)
    : undefined;
  if (application === undefined) throw notFound("application");
  if (isPush) refuseUnpushable(application);
  if (isPush) await withSourceFaults(() => context.repositories.refuseFullDisk());
  const repository = await opened(context, application);
  // Git's client sends no push of what is there already, so a push that was cut off is deployed now.
  if (isPush && request.method === "GET") await deployLeftPushes(context, application, repository);
  return await serveGit(repository, request, url.pathname.replace(/^\/git\/[^/]+/, ""), {
    user: principal.kind === "token" ? principal.tokenId : principal.userId,
    mayPush: isPush,
    ...(isPush && { roomBytes: await roomBytes(context, application, repository) }),
    mayGoOn: () => isStillValid(context.db, principal),
    followed: () => deployedBranches(context, application),
    onPush: (branches, again) => deployPush(context, asked, { application, repository, branches, again }),
  });
}

function refuseUnpushable(application: ApplicationRow): void {
  const { repository } = application;
  refuseDeleting(application, "application");
  if (repository !== null) throw new ApiError(409, fetchedFrom(repository));
}

/** A push that only deletes branches has no pack, so full storage does not refuse it. */
async function roomBytes(
  context: KindContext,
  { id, organizationId }: ApplicationRow,
  repository: Repository,
): Promise<number> {
  const { db, quotas } = context;
  const bytes = Math.min(await repository.roomBytes(), await storageRoom(db, quotas, organizationId));
  if (bytes <= 0) makeRoom(context, repository, id);
  return bytes;
}

/** @throws ApiError 503 when the machine has no git. */
async function opened({ repositories }: KindContext, { id }: ApplicationRow): Promise<Repository> {
  try {
    return await repositories.of(id);
  } catch (error) {
    if (!(error instanceof PublicError)) throw error;
    throw new ApiError(503, error.message, { cause: error });
  }
}
