// Measures how soon a client of an awake Postgres gets the challenge of its login: as a user that exists, beside names
// that no user has. A difference would say which names exist.
import { RawPostgres } from "../tests/support/wire/postgres-raw.ts";
import { runBench } from "./support/bench.ts";
import { countOption } from "./support/options.ts";
import { printColumns, printTarget, printTimes, times } from "./support/report.ts";
import { POSTGRES_SLEEPER } from "./support/sleepers.ts";
import { median } from "./support/statistics.ts";

const ROUNDS = countOption(300);
const WARM_UP = 20;
const TARGET = 1.2;

await runBench("login-challenge: TCP connect to the challenge of an awake Postgres", async ({ pilvi }) => {
  const { place, login } = await POSTGRES_SLEEPER.create(pilvi);
  if (!("port" in place)) throw new Error("the address has no port");
  const [known, unknown]: [number[], number[]] = [[], []];
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const knownMs = await challengeMs(place.port, login.username);
    const unknownMs = await challengeMs(place.port, `nobody${round}`);
    if (round < 0) continue;
    known.push(knownMs);
    unknown.push(unknownMs);
  }
  printColumns("median", "p99", "x median", "x p99");
  printTimes("a user that exists (baseline)", known);
  printTimes("a user that does not", unknown, known);
  console.log("");
  printTarget("the ratio of the medians", median(unknown) / median(known), TARGET, times);
});

async function challengeMs(port: number, user: string): Promise<number> {
  const startedAt = performance.now();
  const client = await RawPostgres.open(port);
  await client.challenge(user);
  const ms = performance.now() - startedAt;
  client.close();
  return ms;
}
