// The whole crash matrix of read replicas: making, feeding and deleting, stopped at every step, with every victim.
import { afterAll, beforeAll, test } from "bun:test";
import {
  begin,
  end,
  FEEDING,
  interruptDeletion,
  interruptFeed,
  interruptLife,
  LIVES,
  makeReplica,
} from "../crash/replicas.ts";
import { shareOf } from "../crash/share.ts";

beforeAll(begin, 300_000);
afterAll(end);

test.each(shareOf(LIVES))(
  "a replica at %s survives a kill of the %s, and its deletion at %s one of the %s",
  interruptLife,
);

test("a replica is made without a kill", makeReplica);

test.each(shareOf(FEEDING))("a replica at %s survives a kill of the %s", interruptFeed);

test(
  "the deletion of a cluster takes its replica along after a kill of the control plane",
  interruptDeletion,
);
