// Suspends that tests request through the API of a Pilvi, also of one on a busy machine.
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import type { Answer, TestPilvi } from "./pilvi.ts";

/** A single-resource answer, or an error. */
export interface SleeperDocument {
  data: CacheResource | DatabaseClusterResource;
  message?: string;
}

/** The host's reason for leaving an engine awake that did not answer in time. */
const SILENT_ENGINE = "The engine did not report whether it is in use.";

/**
 * Requests a suspend. An engine on a busy machine may answer the host late, once; the customer is asked to try again.
 * @param path the path of the resource in the API.
 */
export async function requestSuspend(pilvi: TestPilvi, path: string): Promise<Answer<SleeperDocument>> {
  const request = () => pilvi.api<SleeperDocument>("POST", `${path}/suspend`);
  const answer = await request();
  return answer.status === 409 && answer.body.message === SILENT_ENGINE ? await request() : answer;
}
