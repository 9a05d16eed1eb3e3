// `pilvi websockets publish`: a signed request to the HTTP API of a cluster, as an application's own server would send
// it.
import type { Command } from "commander";
import { CommandError } from "../failure.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { CLUSTER } from "./arguments.ts";
import { isEncrypted } from "./channels.ts";
import { signedQuery } from "./signatures.ts";
import { requireAvailable, type Target, targetOf } from "./target.ts";

interface PublishOptions {
  app?: string;
  json?: true;
}

interface Published {
  channels: Record<string, { subscription_count: number }>;
}

const TIMEOUT_MS = 30_000;

/** Adds the command. */
export function addPublish(websockets: Command, session: Session): void {
  const command = websockets
    .command("publish")
    .description("publish an event on a channel, and print how many subscribers it has")
    .argument("<cluster>", CLUSTER)
    .argument("<channel>", "such as news, private-news or presence-room")
    .argument("<event>", "the event's name")
    .argument("[data]", "what is passed on unchanged, JSON as a rule; - reads it from the input", "{}")
    .option("--app <name-or-id>", "the application (default: the cluster's oldest, such as main)")
    .option("--json", "print the cluster's answer, and nothing else, on stdout")
    .action(async (...args: [string, string, string, string, PublishOptions]) => {
      const [cluster, channel, event, data, options] = args;
      await publish(session, cluster, { channel, event, data }, options);
    });
  withExamples(command, [
    `pilvi websockets publish chat news hello '{"text":"moi"}'`,
    "date -Is | pilvi websockets publish chat news tick -",
  ]);
}

async function publish(
  { io, client }: Session,
  cluster: string,
  { channel, event, data }: { channel: string; event: string; data: string },
  { app, json }: PublishOptions,
): Promise<void> {
  if (isEncrypted(channel)) {
    throw new CommandError(
      `Only a library that has the key can publish on ${channel}, as it encrypts what it sends.`,
    );
  }
  const target = await targetOf(await client(), cluster, app);
  requireAvailable(target);
  // A line of a shell ends with a line break that is not part of the data.
  const text = data === "-" ? (await io.readInput()).replace(/\r?\n$/, "") : data;
  const body = JSON.stringify({ name: event, channel, data: text, info: "subscription_count" });
  const answer = await send(target, body);
  if (json === true) return io.out(jsonText(answer));
  const count = answer.channels[channel]?.subscription_count ?? 0;
  io.out(
    `Published to ${count === 1 ? "1 subscriber" : `${count} subscribers`} of the channel ${channel}.\n`,
  );
}

async function send(target: Target, body: string): Promise<Published> {
  const path = `/apps/${target.application.attributes.app_id}/events`;
  const query = signedQuery(target.credentials, { method: "POST", path, body }, Date.now());
  const response = await fetch(`${target.httpUrl}${path}?${query}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`The cluster does not answer at ${target.httpUrl}: ${reason}`);
  });
  const text = await response.text();
  if (!response.ok) throw new CommandError(`The cluster refuses the event: ${text.trim()}`);
  return JSON.parse(text) as Published;
}
