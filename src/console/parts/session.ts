// The session of the page: beginning and ending it.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { client } from "./client.ts";

/** What a form for signing in has. */
export interface SignIn {
  email: string;
  password: string;
}

/** Signs in, and opens a page. @param next an address of this console. */
export function useSignIn(next: string | undefined) {
  const opened = useOpened(next);
  return useMutation({
    mutationFn: (body: SignIn) => client.sessions.create(body),
    meta: { showsErrors: true },
    onSuccess: opened,
  });
}

/** Opens a page with a session that has just begun. */
export function useOpened(next?: string): () => Promise<void> {
  const cache = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    // What was read before belongs to another session.
    cache.clear();
    await navigate({ to: pathOf(next) });
  };
}

/** Ends the session. */
export function useSignOut() {
  const opened = useOpened("/sign-in");
  return useMutation({ mutationFn: () => client.sessions.delete("current"), onSuccess: opened });
}

/** Only a path of this console: an address of elsewhere could stand in a link that a stranger made. */
function pathOf(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])/.test(next) ? next : "/";
}
