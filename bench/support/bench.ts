// The frame of every measurement: usually a Pilvi of its own, which ends however the measurement ends.
import { startPilvi, type TestPilvi } from "../../tests/support/pilvi/pilvi.ts";
import { printHeading } from "./report.ts";

/** The ports that tests leave to instances, without the first thousand, which the tests take themselves. */
const FIRST_PORT = 21_000;
const THOUSANDS = 9;

/** An action for the end of a measurement; actions run in reverse order. */
type Ending = () => void | Promise<void>;

/** The interface that every measurement gets. */
export interface Endings {
  /** Runs an action at the end, even when the measurement fails or is stopped. */
  atEnd(ending: Ending): void;
}

/** The interface of a measurement that needs a Pilvi. */
export interface Bench extends Endings {
  pilvi: TestPilvi;
}

/** Why a measurement ends early; printed as a sentence, without a stack. */
export class CannotMeasure extends Error {}

/**
 * Runs a measurement and ends the process: with 0 when it measured, and with 1 when it could not or was stopped. A
 * figure that misses its target is a result like any other.
 * @param env settings of the Pilvi that differ from the settings of tests.
 */
export async function runBench(
  title: string,
  measure: (bench: Bench) => Promise<void>,
  env: Record<string, string> = {},
): Promise<never> {
  return await runFrame(title, async ({ atEnd }, orStopped) => {
    const pilvi = await startMeasured(env);
    atEnd(() => pilvi.close());
    await orStopped(measure({ pilvi, atEnd }));
  });
}

/** As `runBench`, for measurements without a Pilvi. */
export async function runWithoutPilvi(
  title: string,
  measure: (bench: Endings) => Promise<void>,
): Promise<never> {
  return await runFrame(title, (endings, orStopped) => orStopped(measure(endings)));
}

/** @param measure passes the work that a signal may leave half done to its second argument. */
async function runFrame(
  title: string,
  measure: (endings: Endings, orStopped: (task: Promise<void>) => Promise<void>) => Promise<void>,
): Promise<never> {
  const endings: Ending[] = [];
  const stopped = stopSignal();
  let code = 0;
  const attempt = async (task: Ending) => {
    try {
      await task();
    } catch (error) {
      console.error(error instanceof CannotMeasure ? error.message : error);
      code = 1;
    }
  };
  await attempt(async () => {
    printHeading(title);
    await measure({ atEnd: (ending) => endings.push(ending) }, (task) => Promise.race([stopped, task]));
    console.log("");
  });
  for (const end of endings.toReversed()) await attempt(end);
  process.exit(code);
}

/**
 * Starts a Pilvi whose instances get ports from another thousand than most other Pilvis on this machine: two Pilvis of
 * tests may take the same port in the moment before either listens there.
 */
export async function startMeasured(env: Record<string, string>): Promise<TestPilvi> {
  const first = FIRST_PORT + (process.pid % THOUSANDS) * 1_000;
  const quotas = Object.fromEntries(
    ["RESOURCES", "MEMORY", "CONNECTIONS", "PORTS"].map((name) => [`PILVI_QUOTA_${name}`, "0"]),
  );
  return await startPilvi({ env: { PILVI_PORT_RANGE: `${first}-${first + 999}`, ...quotas, ...env } });
}

/** Rejects when this process is asked to end. */
function stopSignal(): Promise<never> {
  const stopped = new Promise<never>((_, reject) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.on(signal, () => reject(new CannotMeasure(`stopped by ${signal}`)));
    }
  });
  // A signal during the start of Pilvi takes effect after the start, and must not end this process before.
  stopped.catch(() => undefined);
  return stopped;
}
