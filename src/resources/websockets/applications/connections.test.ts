// The split of a cluster's connections over its applications.
import { expect, test } from "bun:test";
import { ApiError } from "../../../api/jsonapi/errors.ts";
import { connectionsFor } from "./connections.ts";

const others = (...connections: number[]) => connections.map((count) => ({ max_connections: count }));
const evenly = { maxConnections: 100, strategy: "evenly" } as const;
const custom = { maxConnections: 100, strategy: "custom" } as const;

test.each([
  [evenly, [], undefined, { strategy: "evenly", connections: 100 }],
  [evenly, [100], undefined, { strategy: "evenly", connections: 50 }],
  [evenly, [50, 50], undefined, { strategy: "evenly", connections: 33 }],
  [evenly, [], 100, { strategy: "custom", connections: 100 }],
  [evenly, [50], 50, { strategy: "custom", connections: 50 }],
  [custom, [20, 30], undefined, { strategy: "custom", connections: 50 }],
  [custom, [20, 30], 1, { strategy: "custom", connections: 1 }],
  [custom, [], undefined, { strategy: "custom", connections: 100 }],
] as const)("in %j beside %j, for %p", (cluster, numbers, wanted, share) => {
  expect(connectionsFor(cluster, others(...numbers), wanted)).toEqual(share);
});

test.each([
  [evenly, [100], 1, 0],
  [evenly, [50], 51, 50],
  [custom, [60, 40], undefined, 0],
  [custom, [60], 41, 40],
  [custom, [], 101, 100],
] as const)("in %j beside %j there are not enough for %p", (cluster, numbers, wanted, left) => {
  const error = (() => {
    try {
      return connectionsFor(cluster, others(...numbers), wanted);
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toBeInstanceOf(ApiError);
  expect((error as ApiError).errors?.max_connections).toEqual([
    `The cluster has 100 connections, of which its other applications leave ${left}.${numbers.length > 0 ? " Lower one of theirs first." : ""}`,
  ]);
});
