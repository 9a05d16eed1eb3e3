// `pilvi websockets listen`: prints the events of a channel until Ctrl-C.
import type { Command } from "commander";
import { isAbsence } from "../../sdk/index.ts";
import { countingNumber } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { CLUSTER } from "./arguments.ts";
import { isEncrypted } from "./channels.ts";
import { eventName, jsonLineOf, lineOf } from "./lines.ts";
import { originFor } from "./origin.ts";
import { lossText, pauseAfter } from "./reconnect.ts";
import { type Closing, type SubscriptionListener, Subscriber } from "./subscriber.ts";
import { requireAvailable, type Target, targetOf } from "./target.ts";

interface ListenOptions {
  app?: string;
  event?: string;
  user: string;
  count?: number;
  json?: true;
}

/** Adds the command. */
export function addListen(websockets: Command, session: Session): void {
  const command = websockets
    .command("listen")
    .description("print the events of a channel, one a line, until Ctrl-C")
    .argument("<cluster>", CLUSTER)
    .argument("<channel>", "such as news, private-news or presence-room")
    .option("--app <name-or-id>", "the application (default: the cluster's oldest, such as main)")
    .option("--event <name>", "only events of this name")
    .option("--user <id>", "who to be on a presence channel", "pilvi")
    .option("--count <number>", "end after so many events", countingNumber)
    .option("--json", "print each event as an object in one line")
    .action(async (cluster: string, channel: string, options: ListenOptions) => {
      await listen(session, cluster, channel, options);
    });
  withExamples(command, [
    "pilvi websockets listen chat news",
    "pilvi websockets listen chat presence-room --user 42 --event message",
    "pilvi websockets listen chat private-news --json | jq .data",
  ]);
}

async function listen(
  session: Session,
  cluster: string,
  channel: string,
  options: ListenOptions,
): Promise<void> {
  const end = new AbortController();
  const forget = session.io.onInterrupt(() => end.abort());
  try {
    const target = await targetOf(await session.client(), cluster, options.app);
    requireAvailable(target);
    await listenUntilClosed(session, target, { channel, options, end });
  } catch (error) {
    if (!end.signal.aborted) throw error;
  } finally {
    forget();
  }
}

interface ListenRequest {
  channel: string;
  options: ListenOptions;
  /** Ends the command. */
  end: AbortController;
}

/** Connects again and again, until the cluster refuses further attempts. */
async function listenUntilClosed(session: Session, first: Target, request: ListenRequest): Promise<void> {
  const { signal } = request.end;
  const listener = listenerOf(session, first, request);
  let target = first;
  let wasThere = false;
  for (let failures = 0; !signal.aborted;) {
    const closing = await connect(target, request, listener);
    if (signal.aborted) return;
    wasThere ||= closing.wasConnected;
    failures = closing.wasConnected ? 0 : failures + 1;
    const pauseMs = pauseAfter(closing, failures, wasThere, target);
    session.io.err(lossText(closing, pauseMs));
    await session.io.pause(pauseMs, signal);
    target = await renewed(session, target);
  }
}

async function connect(
  { url, credentials, application }: Target,
  { channel, options, end }: ListenRequest,
  listener: SubscriptionListener,
): Promise<Closing> {
  const origin = originFor(application.attributes.allowed_origins);
  const subscription = { url, credentials, channel, userId: options.user, origin };
  const subscriber = new Subscriber(subscription, listener);
  const close = () => subscriber.close();
  end.signal.addEventListener("abort", close);
  try {
    return await subscriber.ended;
  } finally {
    end.signal.removeEventListener("abort", close);
  }
}

function listenerOf(
  { io }: Session,
  { application }: Target,
  { channel, options, end }: ListenRequest,
): SubscriptionListener {
  let left = options.count ?? Number.POSITIVE_INFINITY;
  return {
    subscribed(members) {
      const { name } = application.attributes;
      const cipher = isEncrypted(channel) ? " Its events are encrypted, and shown as they come." : "";
      const present = members === undefined ? "" : ` There: ${members.join(", ")}.`;
      io.err(`Listening to ${channel} of the application ${name}.${present}${cipher} Ctrl-C ends it.\n`);
    },
    received(frame) {
      if (left <= 0 || (options.event !== undefined && eventName(frame) !== options.event)) return;
      io.out((options.json === true ? jsonLineOf : lineOf)(frame, new Date()));
      left -= 1;
      if (left <= 0) end.abort();
    },
    complaint: (text) => io.err(`The cluster says: ${text}\n`),
  };
}

/** The cluster as it is now: its secret may have been rotated since. Without Pilvi, the known data stays in use. */
async function renewed({ client }: Session, target: Target): Promise<Target> {
  const { cluster, application } = target;
  try {
    return await targetOf(await client(), cluster.id, application.id);
  } catch (error) {
    if (isAbsence(error)) return target;
    throw error;
  }
}
