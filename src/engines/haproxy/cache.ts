// The cache of the edge: answers that applications mark for caches that many clients share. HAProxy forgets no entry by
// its address, so each entry is kept under an address that has all that makes its answer another: a version of the
// route, which changes with each purge, stands in it.
import { MARKED } from "./counters.ts";

const CACHE = "answers";

/** All entries together. HAProxy takes the memory when it starts; the entry that was used longest ago makes room. */
export const CACHE_MEGABYTES = 16;

const MAX_ANSWER_BYTES = 256 * 1024;

/** An answer is kept for so long at most, in seconds, whatever it says: many frameworks mark answers for longer. */
const MAX_AGE_SECONDS = 300;

/** The address of an entry has to fit into a buffer with the headers of its request. */
const MAX_URL_LENGTH = 2_048;

/** The section of the cache. */
export function cacheSection(): string[] {
  return [
    `cache ${CACHE}`,
    `total-max-size ${CACHE_MEGABYTES}`,
    `max-object-size ${MAX_ANSWER_BYTES}`,
    `max-age ${MAX_AGE_SECONDS}`,
    "process-vary on",
  ];
}

/**
 * Rules that choose the backends with the cache, for routes that have marked an answer since the edge remembers them. A
 * probe is to reach an instance, and an application may read the body of a GET, which no entry's address has.
 * `has_marked_answers` comes first in each, so that requests of all other routes pay for nothing else.
 * @param version an expression of the version of a route; its value is empty for a route without a cache.
 */
export function cacheBackends(version: string): string[] {
  const kept = "if has_marked_answers keeps_answers is_short !is_never_kept";
  return [
    `acl keeps_answers ${version} -m len gt 0`,
    `acl is_short url,length le ${MAX_URL_LENGTH}`,
    "acl is_never_kept var(txn.probe) -m bool",
    "acl is_never_kept var(txn.websocket) -m bool",
    "acl is_never_kept method OPTIONS",
    `use_backend lenient-cached-repeatable ${kept} is_lenient is_repeatable !has_body`,
    `use_backend lenient-cached-unrepeatable ${kept} is_lenient !is_repeatable`,
    `use_backend strict-cached-repeatable ${kept} !is_lenient is_repeatable !has_body`,
    `use_backend strict-cached-unrepeatable ${kept} !is_lenient !is_repeatable`,
  ];
}

/** Rules that note which routes mark answers, in `has_marked_answers`. */
export function markRules(): string[] {
  return [
    `http-response ${MARKED.count} if { res.hdr(cache-control) -m beg -i public s-maxage }`,
    `acl has_marked_answers ${MARKED.counted} gt 0`,
  ];
}

/** The filter of a backend with the cache. It stands before the filter that compresses, so that it keeps what came. */
export const CACHE_FILTERS = [`filter cache ${CACHE}`, "filter compression"];

/**
 * Rules of a backend with the cache. An entry has the names that an application receives: it may make links of them. What
 * was kept before the edge began to count the route is out of use, since nobody has followed its changes meanwhile.
 * @param version as for `cacheBackends`.
 */
export function cacheRules(version: string): string[] {
  return [
    ...lookUp(version),
    "http-request set-var(txn.authorized) bool(true) if { req.hdr(authorization) -m found }",
    "acl is_shared res.hdr(cache-control) -m reg -i '^(public$|s-maxage=[1-9])'",
    "acl is_fresh res.hdr(cache-control) -m reg -i '^(s-maxage|max-age)=[1-9]'",
    "acl is_private res.hdr(cache-control) -m beg -i private no-store no-cache",
    "acl is_private res.hdr(set-cookie) -m found",
    "acl is_private var(txn.authorized) -m bool",
    // The end of a connection may be the end of an answer, or of an application.
    "acl has_end res.hdr(content-length) -m found",
    "acl has_end res.hdr(transfer-encoding) -m found",
    // An application that encodes its answers has to say that they differ.
    "acl is_encoded res.hdr(content-encoding) -m found",
    "acl says_vary res.hdr(vary) -m found",
    `http-response cache-store ${CACHE} if is_shared is_fresh has_end !is_private !is_encoded`,
    `http-response cache-store ${CACHE} if is_shared is_fresh has_end !is_private says_vary`,
    ENDS_KEPT,
  ];
}

/** An unsafe method makes the answer that is kept under its address an old one. */
const ENDS_KEPT = `http-response cache-store ${CACHE} unless METH_GET`;

/** Rules of a backend that keeps and uses no answers, but has unsafe methods end what is kept. */
export function endingRules(version: string): string[] {
  return [
    `acl ends_kept ${version} -m len gt 0`,
    `acl is_short url,length le ${MAX_URL_LENGTH}`,
    "acl is_safe method GET HEAD OPTIONS",
    ...lookUp(version, "if !is_safe ends_kept is_short"),
    ENDS_KEPT,
  ];
}

function lookUp(version: string, condition = ""): string[] {
  const parts = ["var(txn.route)", version, "sc1_get_gpt0", "ssl_fc", "req.fhdr(host)"];
  const address = parts.map((part) => `/%[${part}]`).join("");
  return [
    "set-var(txn.url) url",
    `set-uri ${address}%[var(txn.url)]`,
    `cache-use ${CACHE}`,
    "set-uri %[var(txn.url)]",
  ].map((action) => `http-request ${action} ${condition}`.trimEnd());
}
