// The policy of a route as fields of its entry in the map of targets, and the rules of the configuration that read them.
import { isDeepStrictEqual } from "node:util";
import {
  botCategories,
  NO_POLICY,
  rateLimits,
  type BotCategory,
  type EdgePolicy,
} from "../../contracts/edge-route.ts";
import type { EdgeTarget } from "../edge.ts";
import { BOTS_FILE } from "./bots.ts";
import { PASS_COOKIE, SOLVED_START } from "./challenge.ts";
import { page } from "./pages.ts";
import { confPath } from "./paths.ts";

/** The table of clients of routes with a limit. */
const CLIENT_TABLE = "clients";

/** The table holds so many clients; the client that was silent longest makes room. */
const CLIENTS = "100k";

/** A banned client is let in again once it has been silent for so long. */
const BAN = "10m";

/** What only scanners ask for. Paths of programs that people use, such as WordPress, are not among them. */
const SCANNED = [
  "/[.](git|svn|hg|aws|ssh)/",
  "/vendor/phpunit/",
  "/_ignition/execute-solution",
  "^/(boaform/|hnap1|phpmyadmin|pma/|solr/admin/|[.]env)",
  "/([.](env|ds_store|htpasswd|htaccess)|eval-stdin[.]php|id_rsa)$",
];

const FRAMES = { deny: "DENY", sameorigin: "SAMEORIGIN", all: "" } as const;
const LEVELS = { challenge: "c", throttle: "t", ban: "b" } as const;

/** The places of the fields in an entry; the ports and the timeout come before. */
const FIELDS = {
  frame: 3,
  nosniff: 4,
  unlisted: 5,
  scans: 6,
  hsts: 7,
  directives: 8,
  level: 9,
  limit: 10,
  bots: 11,
  attack: 12,
  cache: 13,
};

/** The policy of an environment whose settings nobody has changed, but for its cache. */
export const USUAL_POLICY: EdgePolicy = { ...NO_POLICY, frame: "deny", isNosniff: true, refusesScans: true };

/** The timeout of an environment whose settings nobody has changed. */
export const USUAL_TIMEOUT_SECONDS = 30;

/**
 * The backends that a route's requests go to: those for usual routes, whose few rules are ready-made; those for policies
 * that refuse no clients; and those with all rules, which are many. A usual route has one instance, which runs, the usual
 * timeout and the usual policy. A word at the end of an entry chooses; an entry without any is that of a former release,
 * and goes to the last.
 */
export const STRICTNESSES = ["usual", "lenient", "strict"] as const;

export type Strictness = (typeof STRICTNESSES)[number];

/** Whether an entry is that of a usual route, and whether its policy refuses no clients. */
export const IS_USUAL = "var(txn.target) -m end :usual";
export const IS_LENIENT = "var(txn.target) -m end :usual :lenient";

/** Whether an entry is that of a usual route. Of other routes it does not say whether they are alone. */
export function saysUsual(entry: string): boolean {
  return entry.endsWith(":usual");
}

export function strictnessOf({ ports, isAlone, timeoutSeconds, policy }: EdgeTarget): Strictness {
  if (policy.rateLimit !== null || policy.refusedBots.length > 0 || policy.isUnderAttack) return "strict";
  const isUsual =
    isAlone &&
    ports.length === 1 &&
    timeoutSeconds === USUAL_TIMEOUT_SECONDS &&
    isDeepStrictEqual({ ...policy, cacheVersion: null }, USUAL_POLICY);
  return isUsual ? "usual" : "lenient";
}

/** The policy as fields, separated by colons. */
export function policyText(policy: EdgePolicy): string {
  const { hsts, rateLimit } = policy;
  return [
    FRAMES[policy.frame],
    policy.isNosniff ? "n" : "",
    policy.isUnlisted ? "u" : "",
    policy.refusesScans ? "x" : "",
    hsts === null ? "" : String(hsts.maxAgeSeconds),
    `${hsts?.includesSubdomains === true ? "s" : ""}${hsts?.isPreloaded === true ? "p" : ""}`,
    rateLimit === null ? "" : LEVELS[rateLimit.level],
    rateLimit === null ? "" : String(rateLimit.requestsPerMinute),
    policy.refusedBots.map(letterOf).join(""),
    policy.isUnderAttack ? "a" : "",
    policy.cacheVersion ?? "",
  ].join(":");
}

/** The policy of an entry's fields; an edge of a former release has none of the fields, or fewer. */
export function policyOf(fields: string[]): EdgePolicy {
  const [
    frame,
    nosniff,
    unlisted,
    scans,
    hsts = "",
    directives = "",
    level = "",
    limit,
    bots = "",
    attack,
    version = "",
  ] = fields;
  return {
    frame: keyOf(FRAMES, frame) ?? NO_POLICY.frame,
    isNosniff: nosniff === "n",
    isUnlisted: unlisted === "u",
    hsts:
      hsts === ""
        ? null
        : {
            maxAgeSeconds: Number(hsts),
            includesSubdomains: directives.includes("s"),
            isPreloaded: directives.includes("p"),
          },
    cacheVersion: version === "" ? null : version,
    rateLimit: rateLimitOf(level, Number(limit)),
    refusedBots: [...bots].flatMap((letter) => botCategories[letter.charCodeAt(0) - FIRST_LETTER] ?? []),
    refusesScans: scans === "x",
    isUnderAttack: attack === "a",
  };
}

function rateLimitOf(letter: string, limit: number): EdgePolicy["rateLimit"] {
  const level = keyOf(LEVELS, letter);
  const requestsPerMinute = rateLimits.find((each) => each === limit);
  return level === undefined || requestsPerMinute === undefined ? null : { level, requestsPerMinute };
}

function keyOf<Key extends string>(
  letters: Record<Key, string>,
  letter: string | undefined,
): Key | undefined {
  return (Object.keys(letters) as Key[]).find((key) => letters[key] === letter);
}

const FIRST_LETTER = "a".charCodeAt(0);

/** The letter that stands for a category, in an entry and in the map of bots. */
export function letterOf(category: BotCategory): string {
  return String.fromCharCode(FIRST_LETTER + botCategories.indexOf(category));
}

function field(name: keyof typeof FIELDS): string {
  return `var(txn.target),field(${FIELDS[name]},:)`;
}

/** Whether clients of a route have a limit of requests, which tracks them in `sc2`. */
export const IS_LIMITED = `${field("limit")} -m int gt 0`;

/** The version of what the cache has of a route; empty when it keeps nothing. */
export const CACHE_VERSION = field("cache");

const REFUSED = `http-request return ${page(403)} if`;

/** The host's own probes pass all rules. */
const NO_PROBE = "!{ var(txn.probe) -m bool }";

/** The rules of a backend for the policy of its routes. */
export interface PolicyRules {
  requests: string[];
  answers: string[];
}

/** @param key the secret of challenges, in base64. */
export function policyRules(key: string): Record<Strictness, PolicyRules> {
  const scans = scanRules(`{ ${field("scans")} -m str x }`);
  const answers = responseRules();
  return {
    usual: { requests: scanRules(""), answers: usualAnswers() },
    lenient: { requests: scans, answers },
    strict: { requests: [...scans, ...strictRules(key)], answers },
  };
}

function usualAnswers(): string[] {
  return [set("X-Frame-Options", FRAMES.deny), set("X-Content-Type-Options", "nosniff")];
}

/**
 * Rules that refuse the requests of scanners, with and without characters in codes. The host's own probes pass.
 * @param condition which requests are looked at.
 */
function scanRules(condition: string): string[] {
  const scanned = SCANNED.join("|");
  return [
    `acl is_scan path -m reg -i '${scanned}'`,
    // A path with a wrong code is judged as it is alone.
    `acl is_scan path,url_dec -m reg -i '${scanned}'`,
    // Most paths neither have codes nor are scanned, so one look is enough for them.
    `${REFUSED} ${condition} { path -m reg -i '%|${scanned}' } is_scan ${NO_PROBE}`,
  ];
}

/**
 * Rules that refuse bots, clients over their limit, and under attack all clients that have not passed the challenge. The
 * host's own probes pass.
 * @param key the secret of challenges, in base64.
 */
function strictRules(key: string): string[] {
  return [
    `acl refuses_bots ${field("bots")} -m len gt 0`,
    `http-request set-var(txn.bot) req.fhdr(user-agent),lower,map_sub(${confPath(BOTS_FILE)}) if refuses_bots`,
    ...botCategories.map((category) => {
      const letter = letterOf(category);
      return `${REFUSED} { var(txn.bot) -m str ${letter} } { ${field("bots")} -m sub ${letter} } ${NO_PROBE}`;
    }),
    "http-request set-var(txn.client) src,ipmask(32,64)",
    "http-request set-var(txn.caller) var(txn.route),concat(/,txn.client)",
    ...limitRules(),
    ...challengeRules(key),
  ];
}

function limitRules(): string[] {
  return [
    `acl is_limited ${IS_LIMITED}`,
    `http-request track-sc2 var(txn.caller) table ${CLIENT_TABLE} if is_limited ${NO_PROBE}`,
    ...rateLimits.map(
      (limit) =>
        `http-request set-var(txn.over) bool(true) if { sc2_http_req_rate gt ${limit} } { ${field("limit")} -m str ${limit} }`,
    ),
    "acl is_over var(txn.over) -m bool",
    `http-request return ${page(429)} hdr retry-after 15 if is_over { ${field("level")} -m str t }`,
    `acl bans ${field("level")} -m str b`,
    "http-request sc-set-gpt0(2) 1 if is_over bans",
    `${REFUSED} bans { sc2_get_gpt0 gt 0 }`,
  ];
}

/** The answer to a challenge is good for its client until the day ends, in Coordinated Universal Time. */
function challengeRules(key: string): string[] {
  return [
    `acl challenges ${field("level")} -m str c`,
    `acl is_under_attack ${field("attack")} -m str a`,
    `http-request set-var(txn.challenged) bool(true) if is_over challenges or is_under_attack ${NO_PROBE}`,
    "acl is_challenged var(txn.challenged) -m bool",
    "http-request set-var(txn.day) date,div(86400) if is_challenged",
    `http-request set-var(txn.seed) var(txn.caller),concat(/,txn.day),hmac(sha256,${key}),hex,lower if is_challenged`,
    `http-request set-var(txn.nonce) req.cook(${PASS_COOKIE}),bytes(0,16) if is_challenged`,
    `acl is_solved var(txn.seed),concat(/,txn.nonce),sha2(256),hex -m beg ${SOLVED_START}`,
    `http-request return ${page("challenge")} if is_challenged !is_solved`,
  ];
}

/** A header that an answer gets when the application has not set it. */
function set(name: string, value: string, condition = ""): string {
  return `http-response add-header ${name} ${value} if ${condition} !{ res.hdr(${name}) -m found }`;
}

/** Rules that add headers to answers. What an application says itself stays. */
function responseRules(): string[] {
  const hsts = (more: string, condition: string) =>
    set(
      "Strict-Transport-Security",
      `"max-age=%[${field("hsts")}]${more}"`,
      `{ ssl_fc } has_hsts ${condition}`,
    );
  const directives = (letters: string) => `{ ${field("directives")} -m str ${letters} }`;
  return [
    set("X-Frame-Options", `%[${field("frame")}]`, `{ ${field("frame")} -m len gt 0 }`),
    set("X-Content-Type-Options", "nosniff", `{ ${field("nosniff")} -m str n }`),
    set("X-Robots-Tag", '"noindex, nofollow"', `{ ${field("unlisted")} -m str u }`),
    `acl has_hsts ${field("hsts")} -m int ge 0`,
    hsts("; includeSubDomains; preload", directives("sp")),
    hsts("; includeSubDomains", directives("s")),
    hsts("; preload", directives("p")),
    hsts("", `!{ ${field("directives")} -m len gt 0 }`),
  ];
}

/** The tables that the rules count in. */
export function policyTables(): string[] {
  return [
    `backend ${CLIENT_TABLE}`,
    `stick-table type string len 112 size ${CLIENTS} expire ${BAN} store conn_cur,http_req_rate(60s),gpt0`,
  ];
}
