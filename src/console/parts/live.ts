// Keeps what the console shows up to date: follows the events of the organization, and reads again what they changed.
import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { type EventResource, PilviClient, PilviError } from "../../sdk/index.ts";
import type { ConsoleKind } from "./kind.ts";
import { refreshResource } from "./resources.ts";

/** Whether changes appear by themselves. */
export type LiveState = "connecting" | "live" | "offline";

const RETRY_MS = 2_000;
/** The newest events that pages show, at most. */
const MAX_EVENTS = 200;

/** The key of the events that were read or have come, the newest first. */
export const EVENTS_KEY = ["events"] as const;

let state: LiveState = "connecting";
const listeners = new Set<() => void>();

function become(next: LiveState): void {
  if (next === state) return;
  state = next;
  for (const listener of listeners) listener();
}

/** The state of the event stream, for components. */
export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

/** Follows until the signal is aborted; a session that has ended ends it as well. */
export async function followEvents(
  cache: QueryClient,
  kinds: readonly ConsoleKind[],
  signal: AbortSignal,
): Promise<void> {
  const client = new PilviClient({ url: location.origin, fetch: watchedFetch });
  while (!signal.aborted) {
    try {
      for await (const event of client.events.follow({ signal })) apply(cache, kinds, event);
    } catch (error) {
      if (error instanceof PilviError && error.status === 401) return;
      become("offline");
    }
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** The client connects again by itself; only its requests show when. */
async function watchedFetch(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, init);
    become(response.ok ? "live" : "offline");
    return response;
  } catch (error) {
    if (init.signal?.aborted !== true) become("offline");
    throw error;
  }
}

function apply(cache: QueryClient, kinds: readonly ConsoleKind[], event: EventResource): void {
  cache.setQueryData<EventResource[]>(EVENTS_KEY, (old) => old && [event, ...old].slice(0, MAX_EVENTS));
  const { type, id } = event.relationships.resource.data;
  const kind = kinds.find(({ resourceType }) => resourceType === type);
  if (kind !== undefined) void refreshResource(cache, kind, id).catch(() => undefined);
  // Of parts of resources, such as applications, the pages of the kind know the keys.
  else void cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey.includes(type) });
}
