// The steps of measurements with caches through the API.
import { cacheBody, type CacheDocument, type TestPilvi } from "../../tests/support/pilvi/pilvi.ts";
import type { CacheResource } from "../../src/resources/caches/schema.ts";
import type { CacheAddress } from "./first-pong.ts";

/** Sends a create and returns the 201's resource, whose engine does not run yet. */
export async function orderCache(pilvi: TestPilvi): Promise<CacheResource> {
  const { status, body } = await pilvi.api<CacheDocument>("POST", "/caches", cacheBody());
  if (status !== 201) throw new Error(`POST /caches: ${status} ${JSON.stringify(body)}`);
  return body.data;
}

/** The customer's address of the cache, as its resource has it. */
export function addressOf({ attributes }: CacheResource): CacheAddress {
  const { port, username, password } = attributes.connection;
  return { port, username: username ?? "", password: password ?? "" };
}
