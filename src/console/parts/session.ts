// The session of the page: who is signed in, what the session may do, its beginning and its end.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Redemption } from "../../sdk/index.ts";
import { client } from "./client.ts";

export const ME_KEY = ["me"] as const;

/** The user with the organizations and the abilities of the session. */
export function useMe() {
  return useQuery({ queryKey: ME_KEY, queryFn: async () => (await client.users.me()).data });
}

/** Whether the session may do something, such as `caches:write`; false until that is known. */
export function useCan(ability: string): boolean {
  const abilities = useMe().data?.meta.abilities ?? [];
  return abilities.includes("*") || abilities.includes(ability);
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
    onSuccess: async () => await open("/sign-in"),
  });
}

/** Shows another organization of the user. */
export function useSwitchOrganization() {
  const open = useOpen();
  return useMutation({
    mutationFn: (id: string) => client.sessions.switchOrganization(id),
    onSuccess: async () => await open(),
  });
}

/** The secret of a one-time link, which browsers send to no server. */
export function secretOfLink(): string {
  return location.hash.slice(1);
}

/** Opens a page without anything that was read before, which belongs to another session or organization. */
function useOpen(): (next?: string) => Promise<void> {
  const cache = useQueryClient();
  const navigate = useNavigate();
  return async (next) => {
    cache.clear();
    await navigate({ to: pathOf(next) });
  };
}

/** Only a path of this console: anybody could have made the link. */
function pathOf(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])/.test(next) ? next : "/";
}
