// The frame of every measurement: a Pilvi of its own, ended however the measurement ends.
import { startPilvi, type TestPilvi } from "../../tests/support/pilvi.ts";
import { printHeading } from "./report.ts";

/** The ports that tests leave to instances, without the first thousand, which those take. */
const FIRST_PORT = 21_000;
const THOUSANDS = 9;

/** What has to be ended when a measurement is over, the last one first. */
type Ending = () => void | Promise<void>;

/** What a measurement works with. */
export interface Bench {
  pilvi: TestPilvi;
  /** Has something done at the end, even when the measurement fails or is stopped. */
  atEnd(ending: Ending): void;
}

/** Somebody wants the measurement to end; told without a stack. */
class Stopped extends Error {}

/**
 * Runs a measurement and ends the process: with 0 when it measured something, and with 1 when it could not or was stopped.
 * A figure that misses its target is a result like any other.
 * @param env settings of the Pilvi that differ from those of tests.
 */
export async function runBench(
  title: string,
  measure: (bench: Bench) => Promise<void>,
  env: Record<string, string> = {},
): Promise<never> {
  const endings: Ending[] = [];
  const stopped = stopSignal();
  let code = 0;
  const attempt = async (task: Ending) => {
    try {
      await task();
    } catch (error) {
      console.error(error instanceof Stopped ? error.message : error);
      code = 1;
    }
  };
  await attempt(async () => {
    printHeading(title);
    const pilvi = await startMeasured(env);
    endings.push(() => pilvi.close());
    await Promise.race([stopped, measure({ pilvi, atEnd: (ending) => endings.push(ending) })]);
    console.log("");
  });
  for (const end of endings.toReversed()) await attempt(end);
  process.exit(code);
}

/**
 * Starts a Pilvi whose instances get ports from another thousand than those of most others on this machine: tests of two
 * Pilvis that run at once may take the same port in the moment before either listens there.
 */
export async function startMeasured(env: Record<string, string>): Promise<TestPilvi> {
  const first = FIRST_PORT + (process.pid % THOUSANDS) * 1_000;
  return await startPilvi({ env: { PILVI_PORT_RANGE: `${first}-${first + 999}`, ...env } });
}

/** Rejected when this process is asked to end. */
function stopSignal(): Promise<never> {
  const stopped = new Promise<never>((_, reject) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.on(signal, () => reject(new Stopped(`stopped by ${signal}`)));
    }
  });
  // A signal during the start of Pilvi is heeded after it, and must not end this process before.
  stopped.catch(() => undefined);
  return stopped;
}
