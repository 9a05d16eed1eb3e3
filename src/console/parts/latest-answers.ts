// The latest that is known of each resource. Requests may be answered in another order than they were sent, so an answer
// counts only while no later request has been answered.
import type { QueryClient } from "@tanstack/react-query";
import type { ConsoleResource } from "./kind.ts";

/** A resource as the answer to the latest request has it; null when it is gone. */
interface LatestAnswer {
  sentAt: number;
  resource: ConsoleResource | null;
}

const answers = new WeakMap<QueryClient, Map<string, Map<string, LatestAnswer>>>();
let requests = 0;

/** The place of a request in the order of all requests; to be taken when it is sent. */
export function nextRequest(): number {
  requests += 1;
  return requests;
}

function answersOf(cache: QueryClient, kind: { name: string }): Map<string, LatestAnswer> {
  const ofCache = answers.get(cache) ?? new Map<string, Map<string, LatestAnswer>>();
  answers.set(cache, ofCache);
  const ofKind = ofCache.get(kind.name) ?? new Map<string, LatestAnswer>();
  ofCache.set(kind.name, ofKind);
  return ofKind;
}

/** Notes an answer about a resource. @returns the resource as the latest answer has it, which may be another answer. */
export function noteAnswer<Resource extends ConsoleResource>(
  cache: QueryClient,
  kind: { name: string },
  id: string,
  answer: { sentAt: number; resource: Resource | null },
): Resource | null {
  const known = answersOf(cache, kind);
  const former = known.get(id);
  // The collection of a kind has resources of its type alone.
  if (former !== undefined && former.sentAt > answer.sentAt) return former.resource as Resource | null;
  known.set(id, answer);
  return answer.resource;
}

/** Notes the answers of a list. @returns its resources as the latest answers have them. */
export function noteListed<Resource extends ConsoleResource>(
  cache: QueryClient,
  kind: { name: string },
  items: readonly Resource[],
  sentAt: number,
): Resource[] {
  return items.flatMap((resource) => noteAnswer(cache, kind, resource.id, { sentAt, resource }) ?? []);
}

/** A list that was asked for at a time, with all that later requests have brought. */
export function withLaterAnswers<Resource extends ConsoleResource>(
  cache: QueryClient,
  kind: { name: string },
  items: readonly Resource[],
  sentAt: number,
): Resource[] {
  const later = [...answersOf(cache, kind)].filter(([, answer]) => answer.sentAt > sentAt);
  const byId = new Map(items.map((item) => [item.id, item]));
  for (const [id, { resource }] of later) {
    if (resource === null) byId.delete(id);
    // The collection of a kind has resources of its type alone.
    else byId.set(id, resource as Resource);
  }
  return [...byId.values()];
}

/** Forgets all answers, which may be those of a former user. */
export function forgetAnswers(cache: QueryClient): void {
  answers.delete(cache);
}
