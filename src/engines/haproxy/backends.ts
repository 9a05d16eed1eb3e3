// The backends that lead to applications, and the tables that the rules of all sections count in.
import type { EdgeSpec } from "../../contracts/instance-spec.ts";
import { USE_MEMORY_MS } from "../edge.ts";
import { CACHE_FILTERS, cacheRules, endingRules } from "./cache.ts";
import { countAdmitted, COUNTED } from "./counters.ts";
import { crowdOfAddress, crowdTable } from "./crowds.ts";
import { REFUSED_REQUESTS } from "./forged.ts";
import { page } from "./pages.ts";
import { ROUTE_TABLE } from "./paths.ts";
import {
  CACHE_VERSION,
  policyTables,
  STRICTNESSES,
  USUAL_TIMEOUT_SECONDS,
  type PolicyRules,
  type Strictness,
} from "./policy.ts";

const COMPRESSED = [
  "text/html",
  "text/plain",
  "text/css",
  "text/javascript",
  "text/xml",
  "application/javascript",
  "application/json",
  "application/manifest+json",
  "application/xml",
  "image/svg+xml",
];

/** It stands in the backends: in the frontend it would come before the cache, which would keep what is compressed. */
const COMPRESSION = ["compression algo gzip", `compression type ${COMPRESSED.join(" ")}`];

/** A client may have closed its own side only, which is no reason to give up a request that an application has. */
const ANSWERED_ANYWAY = ["no option abortonclose"];

const PORTS = "var(txn.target),field(1,:)";
const TIMEOUT = "http-request set-timeout server var(txn.target),field(2,:)";

/** Lead to the instance of a route. A usual route has one instance, and a timeout that no rule has to look up. */
const USUAL_LEAD = [`http-request set-dst-port ${PORTS}`, `timeout server ${USUAL_TIMEOUT_SECONDS}s`];
const LEAD = [
  `http-request set-var(txn.port) ${PORTS}`,
  "http-request set-var(txn.port) var(txn.port),lua.next_port if { var(txn.port) -m sub , }",
  "http-request set-dst-port var(txn.port)",
  TIMEOUT,
];

/**
 * How often a request is repeated. A request by which an application ends must not end it again and again, and each second
 * in which the port is refused takes one repetition.
 */
const REPETITIONS = 4;

/**
 * An application may close a connection that it has kept, just when a request is on its way there. A GET is then sent
 * again. Another request might take effect twice, so it gets a connection of its own.
 */
const REPEATED = [
  ...ANSWERED_ANYWAY,
  "http-reuse always",
  "retry-on conn-failure empty-response",
  `retries ${REPETITIONS}`,
  "server application 127.0.0.1",
];
const NOT_REPEATED = ["option http-server-close", "http-reuse never", "server application 127.0.0.1"];

/** @param policies the rules of the backends of each strictness. */
export function backends(spec: EdgeSpec, policies: Record<Strictness, PolicyRules>): string[][] {
  const { strict } = policies;
  const rules = {
    ...policies,
    strict: { ...strict, requests: [...strict.requests, crowdOfAddress(spec)] },
  };
  return [
    ...STRICTNESSES.flatMap((each) => {
      const { requests, answers } = rules[each];
      // No other instance of a usual route could miss a request, so nobody needs their count.
      const lead = each === "usual" ? USUAL_LEAD : [countAdmitted, ...LEAD];
      const common = [...COMPRESSION, ...requests, ...answers, ...lead];
      return [
        [`backend ${each}-repeatable`, ...common, ...REPEATED],
        [`backend ${each}-unrepeatable`, ...REFUSED_REQUESTS, ...common, ...NOT_REPEATED],
      ];
    }),
    ...(["lenient", "strict"] as const).flatMap((each) => {
      const { requests, answers } = rules[each];
      // What is kept has none of the headers of the policy, which may change.
      const common = [
        ...CACHE_FILTERS,
        ...COMPRESSION,
        ...requests,
        ...cacheRules(CACHE_VERSION),
        ...answers,
        countAdmitted,
        ...LEAD,
      ];
      return [
        [`backend ${each}-cached-repeatable`, ...common, ...REPEATED],
        [`backend ${each}-cached-unrepeatable`, ...REFUSED_REQUESTS, ...common, ...NOT_REPEATED],
      ];
    }),
    [
      "backend sleeping",
      ...CACHE_FILTERS,
      ...COMPRESSION,
      ...REFUSED_REQUESTS,
      ...rules.strict.requests,
      ...endingRules(CACHE_VERSION),
      ...rules.strict.answers,
      countAdmitted,
      TIMEOUT,
      "http-request lua.wake",
      `http-request return ${page(503)} hdr retry-after 2 if { var(txn.refusal) -m found }`,
      "http-request set-dst-port var(txn.port)",
      ...NOT_REPEATED,
    ],
  ];
}

/** Backends that lead nowhere, and have the tables that the others count in. */
export function tables(): string[][] {
  return [
    ["backend addresses", "stick-table type ipv6 size 200k expire 1m store conn_cur"],
    [
      `backend ${ROUTE_TABLE}`,
      `stick-table type string len 64 size 100k expire ${USE_MEMORY_MS}ms store ${COUNTED}`,
    ],
    crowdTable(),
    policyTables(),
  ];
}
