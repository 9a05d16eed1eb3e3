// How the pages of commands read them. Their events have everything of applications read again; an open command is read
// in short intervals, as its beginning is no event.
import { useQuery } from "@tanstack/react-query";
import type { CommandResource } from "../../../sdk/index.ts";
import { isOpenCommand } from "./command-texts.ts";
import { type EnvironmentIds, environmentsOf, WATCHED_MS } from "./queries.ts";

/** The answer is held while there is no output, so the next reading needs no pause. */
const NEXT_READING_MS = 50;

/** What a command has written so far. */
interface WrittenOutput {
  text: string;
  /** Where the next part begins; undefined is the beginning. */
  cursor?: string;
  isComplete: boolean;
}

const NOTHING: WrittenOutput = { text: "", isComplete: false };

/** The operations on the commands of an environment. */
export function commandsOf({ applicationId, environmentId }: EnvironmentIds) {
  return environmentsOf(applicationId).commands(environmentId);
}

/** All commands that are kept, the newest first. */
export function useCommands(ids: EnvironmentIds) {
  return useQuery<CommandResource[]>({
    queryKey: ["applications", "commands", ids.environmentId],
    queryFn: async () => await Array.fromAsync(commandsOf(ids).all()),
    refetchInterval: ({ state }) => (state.data?.some(isOpenCommand) ?? false) && WATCHED_MS,
  });
}

export function useCommand(ids: EnvironmentIds, id: string) {
  return useQuery<CommandResource>({
    queryKey: ["applications", "command", id],
    queryFn: async ({ signal }) => (await commandsOf(ids).get(id, { signal })).data,
    refetchInterval: ({ state }) => state.data !== undefined && isOpenCommand(state.data) && WATCHED_MS,
  });
}

/** The output as it comes. @param isReadable whether the session may see it. */
export function useCommandOutput(ids: EnvironmentIds, id: string, isReadable: boolean) {
  return useQuery<WrittenOutput>({
    // Apart from the others, since an event would break off a reading that is held.
    queryKey: ["command-output", id],
    enabled: isReadable,
    queryFn: async ({ client, queryKey, signal }) => {
      const former = client.getQueryData<WrittenOutput>(queryKey) ?? NOTHING;
      if (former.isComplete) return former;
      const after = former.cursor === undefined ? {} : { after: former.cursor };
      const { data, meta } = await commandsOf(ids).output(id, { ...after, signal });
      const more = data.map(({ text, is_open: isOpen }) => (isOpen ? text : `${text}\n`)).join("");
      return { text: former.text + more, cursor: meta.cursor, isComplete: meta.is_complete };
    },
    refetchInterval: ({ state }) => state.data?.isComplete !== true && NEXT_READING_MS,
  });
}
