// The frame of every measurement: a Pilvi of its own, ended however the measurement ends.
import { startPilvi, type StartOptions, type TestPilvi } from "../../tests/support/pilvi.ts";
import { printHeading } from "./report.ts";

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
 */
export async function runBench(
  title: string,
  measure: (bench: Bench) => Promise<void>,
  options: StartOptions = {},
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
    const pilvi = await startPilvi(options);
    endings.push(() => pilvi.close());
    await Promise.race([stopped, measure({ pilvi, atEnd: (ending) => endings.push(ending) })]);
    console.log("");
  });
  for (const end of endings.toReversed()) await attempt(end);
  process.exit(code);
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
