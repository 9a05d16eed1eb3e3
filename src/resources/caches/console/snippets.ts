// Ways to connect to a cache, ready to be pasted.
import type { Snippet } from "../../../console/parts/connect.tsx";
import type { CacheResource } from "../../../sdk/index.ts";

/** The address with the credentials, for clients that take one text. */
export function urlOf({ attributes: { connection } }: CacheResource): string {
  const { protocol, username = "", password = "", hostname, port } = connection;
  return `${protocol}://${encodeURIComponent(username)}:${encodeURIComponent(password)}@${hostname}:${port}`;
}

export function snippetsOf(cache: CacheResource): Snippet[] {
  const { protocol, username = "", password = "", hostname, port } = cache.attributes.connection;
  const url = urlOf(cache);
  return [
    { label: "URL", text: url },
    { label: "valkey-cli", text: `valkey-cli -u '${url}'` },
    {
      label: "Laravel",
      text: [
        `REDIS_SCHEME=${protocol === "rediss" ? "tls" : "tcp"}`,
        `REDIS_HOST=${hostname}`,
        `REDIS_PORT=${port}`,
        `REDIS_USERNAME=${username}`,
        `REDIS_PASSWORD=${password}`,
      ].join("\n"),
    },
    {
      label: "Node",
      text: `import { createClient } from 'redis';

const cache = await createClient({ url: "${url}" }).connect();
await cache.set("greeting", "hello");
console.log(await cache.get("greeting"));
await cache.close();`,
    },
    {
      label: "Python",
      text: `import redis

cache = redis.from_url("${url}")
cache.set("greeting", "hello")
print(cache.get("greeting"))`,
    },
    {
      label: "PHP",
      text: `<?php
$cache = new Redis();
$cache->connect("${protocol === "rediss" ? "tls://" : ""}${hostname}", ${port});
$cache->auth(["${username}", "${password}"]);
$cache->set("greeting", "hello");
echo $cache->get("greeting");`,
    },
  ];
}
