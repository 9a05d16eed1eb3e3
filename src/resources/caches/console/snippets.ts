// Ways to connect to a cache, ready to be pasted.
import type { Snippet } from "../../../console/parts/connect.tsx";
import type { CacheResource } from "../../../sdk/index.ts";

/** The address with the credentials, for clients that take one text. */
export function urlOf({ attributes: { connection } }: CacheResource): string {
  const { protocol, username = "", password = "", hostname, port } = connection;
  return `${protocol}://${encodeURIComponent(username)}:${encodeURIComponent(password)}@${hostname}:${port}`;
}

export function snippetsOf(cache: CacheResource): Snippet[] {
  const url = urlOf(cache);
  return [
    { label: "URL", text: url },
    { label: "valkey-cli", text: `valkey-cli -u '${url}'` },
    { label: "Laravel", text: laravelSettings(cache) },
    { label: "Node", text: nodeCode(url) },
    { label: "ioredis", text: ioredisCode(url) },
    { label: "Python", text: pythonCode(url) },
    { label: "PHP", text: phpCode(cache) },
  ];
}

function laravelSettings({ attributes: { connection } }: CacheResource): string {
  const { protocol, username = "", password = "", hostname, port } = connection;
  return [
    `REDIS_SCHEME=${protocol === "rediss" ? "tls" : "tcp"}`,
    `REDIS_HOST=${hostname}`,
    `REDIS_PORT=${port}`,
    `REDIS_USERNAME=${username}`,
    `REDIS_PASSWORD=${password}`,
  ].join("\n");
}

function nodeCode(url: string): string {
  return `import { createClient } from 'redis';

const cache = await createClient({ url: "${url}" }).connect();
await cache.set("greeting", "hello");
console.log(await cache.get("greeting"));
await cache.close();`;
}

function ioredisCode(url: string): string {
  return `import { Redis } from 'ioredis';

const cache = new Redis("${url}");
await cache.set("greeting", "hello");
console.log(await cache.get("greeting"));
await cache.quit();`;
}

function pythonCode(url: string): string {
  return `import redis

cache = redis.from_url("${url}", decode_responses=True)
cache.set("greeting", "hello")
print(cache.get("greeting"))`;
}

function phpCode({ attributes: { connection } }: CacheResource): string {
  const { protocol, username = "", password = "", hostname, port } = connection;
  const scheme = protocol === "rediss" ? "tls://" : "";
  return `<?php
$cache = new Redis();
$cache->connect("${scheme}${hostname}", ${port});
$cache->auth(["${username}", "${password}"]);
$cache->set("greeting", "hello");
echo $cache->get("greeting");`;
}
