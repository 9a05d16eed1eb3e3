// Publishes a test event, as an application's own server would.
import { ApiError } from "../../../../api/jsonapi/errors.ts";
import { signedPath, type ApplicationKey } from "../../signature.ts";
import type { WebsocketTestEvent } from "./schema.ts";

/** Long enough for a cluster whose server is just being started again. */
const TIMEOUT_MS = 20_000;

/**
 * Publishes at the cluster's address, as a customer's server does.
 * @param url of the cluster, such as `https://cloud.example:20002`.
 * @returns how many subscribers the channel had.
 * @throws ApiError 409 when the application's latest change is not in force yet, 503 when the cluster does not answer.
 */
export async function publishTestEvent(
  url: string,
  by: ApplicationKey,
  event: WebsocketTestEvent,
): Promise<number> {
  const path = `/apps/${by.appId}/events`;
  const body = JSON.stringify({ ...event, info: "subscription_count" });
  const answer = await post(url + signedPath({ method: "POST", path, body }, by), body);
  if (answer.status === 200) return countIn(answer.text, event.channel);
  if (answer.status === 401 || answer.status === 404) {
    throw new ApiError(
      409,
      "The latest change of the application is not in force yet. Wait until its cluster is available.",
    );
  }
  throw unavailable(new Error(`the answer was ${answer.status}: ${answer.text}`));
}

async function post(url: string, body: string): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      keepalive: false,
      // The certificate's name is the operator's choice, and the address is Pilvi's own.
      tls: { rejectUnauthorized: false },
    });
    return { status: response.status, text: await response.text() };
  } catch (cause) {
    throw unavailable(cause);
  }
}

function unavailable(cause: unknown): ApiError {
  return new ApiError(503, "The WebSocket cluster does not answer at the moment. Try again soon.", {
    headers: { "Retry-After": "2" },
    cause,
  });
}

/** The answer has the channel with its subscribers, 0 without any. */
function countIn(text: string, channel: string): number {
  const { channels = {} } = JSON.parse(text) as {
    channels?: Record<string, { subscription_count?: number }>;
  };
  return channels[channel]?.subscription_count ?? 0;
}
