// The session of the page: who is signed in, what the session may do, its beginning and its end.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect } from "react";
import { PilviError, type Redemption } from "../../sdk/index.ts";
import { client } from "./client.ts";
import { forgetAnswers } from "./latest-answers.ts";

export const ME_KEY = ["me"] as const;

/** All tabs of a browser have one session: a tab says here that it changed. */
const CHANNEL = "pilvi session";

const RETRY_MS = 2_000;

/** The user with the organizations and the abilities of the session. */
export function useMe() {
  return useQuery({
    queryKey: ME_KEY,
    queryFn: async () => (await client.users.me()).data,
    // Nothing else can be shown without it.
    refetchInterval: ({ state }) => (isRefusal(state.error) ? false : state.error !== null && RETRY_MS),
  });
}

function isRefusal(error: unknown): boolean {
  return error instanceof PilviError && error.status === 401;
}

/** Whether the session may do something, such as `caches:write`; false until that is known. */
export function useCan(ability: string): boolean {
  return useAbilities()(ability);
}

/** As `useCan`, for several abilities. */
export function useAbilities(): (ability: string) => boolean {
  const abilities = useMe().data?.meta.abilities ?? [];
  return (ability) => abilities.includes("*") || abilities.includes(ability);
}

/** Signs in, and opens a page. @param next an address of this console. */
export function useSignIn(next: string | undefined) {
  const open = useOpen();
  return useMutation({
    mutationFn: (body: { email: string; password: string }) => client.sessions.create(body),
    meta: { showsErrors: true },
    onSuccess: async () => await open(next),
  });
}

/** Signs in with a one-time link. */
export function useRedemption() {
  const open = useOpen();
  return useMutation({
    mutationFn: (body: Redemption) => client.sessions.redeem(body),
    meta: { showsErrors: true },
    onSuccess: async () => await open(),
  });
}

/** Accepts an invitation, and signs in. */
export function useAcceptance() {
  const open = useOpen();
  return useMutation({
    mutationFn: (body: Parameters<typeof client.invitations.accept>[0]) => client.invitations.accept(body),
    meta: { showsErrors: true },
    onSuccess: async () => await open(),
  });
}

/** Ends the session. */
export function useSignOut() {
  const open = useOpen();
  return useMutation({
    mutationFn: () => client.sessions.delete("current"),
    onSuccess: async () => {
      announceChange();
      await open("/sign-in");
    },
  });
}

/** Shows another organization of the user, in all tabs. */
export function useSwitchOrganization() {
  const showAnew = useShowAnew();
  return useMutation({
    mutationFn: (id: string) => client.sessions.switchOrganization(id),
    onSuccess: async () => {
      announceChange();
      await showAnew();
    },
  });
}

/** Shows the present organization of the session when another tab has switched it, or the sign-in when it has ended. */
export function useSessionOfOtherTabs(): void {
  const showAnew = useShowAnew();
  useEffect(() => {
    const channel = new BroadcastChannel(CHANNEL);
    channel.addEventListener("message", () => void showAnew());
    return () => channel.close();
  }, [showAnew]);
}

function announceChange(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage("changed");
  channel.close();
}

/** Leads to the overview, and reads anew what belongs to the session. */
function useShowAnew(): () => Promise<void> {
  const cache = useQueryClient();
  const navigate = useNavigate();
  return useCallback(async () => {
    cache.removeQueries({ type: "inactive" });
    forgetAnswers(cache);
    await navigate({ to: "/" });
    await cache.resetQueries();
  }, [cache, navigate]);
}

/** The secret of a one-time link, which browsers send to no server. */
export function secretOfLink(): string {
  return location.hash.slice(1);
}

/** Opens a page without anything that was read before, which belongs to another session or organization. */
export function useOpen(): (next?: string) => Promise<void> {
  const cache = useQueryClient();
  const navigate = useNavigate();
  return async (next) => {
    cache.clear();
    forgetAnswers(cache);
    await navigate({ to: pathOf(next) });
  };
}

/** Only a path of this console: anybody could have made the link. */
function pathOf(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])/.test(next) ? next : "/";
}
