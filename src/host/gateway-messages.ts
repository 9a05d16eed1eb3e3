// What the gateway may say to the host. It parses the bytes of strangers, so not even its own are believed unseen.
import { z } from "zod";
import type { GatewayMessage } from "../gateway/link.ts";
import { reasonSchema, wakeSchema } from "./manifest.ts";

const id = z.string().max(64);

const plain = z.object({
  type: z.enum(["released", "quiet", "users"]),
  id,
});

const answer = z.object({
  type: z.enum(["drained", "busy", "detached"]),
  id,
  question: z.number().int().optional(),
});

const messageSchema = z.discriminatedUnion("type", [
  plain,
  answer,
  z.object({ type: z.literal("holding") }),
  z.object({ type: z.literal("wake"), id, reason: reasonSchema }),
  z.object({ type: z.literal("woken"), id, wake: wakeSchema }),
]) as unknown as z.ZodType<GatewayMessage>;

/** Reads one line. @throws when it is none of the messages. */
export function readGatewayMessage(line: string): GatewayMessage {
  return messageSchema.parse(JSON.parse(line));
}
