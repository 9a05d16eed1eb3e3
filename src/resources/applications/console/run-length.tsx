// How long a deployment or a command takes; the seconds go on while it is under way.
import { useEffect, useState } from "react";
import { lengthOf, lengthText, type Run } from "./deployment-texts.ts";

const TICK_MS = 500;

export function RunLength({ run }: { run: Run }) {
  const [now, setNow] = useState(() => Date.now());
  const isUnderWay = run.attributes.finished_at === null;
  useEffect(() => {
    if (!isUnderWay) return;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isUnderWay]);
  const length = lengthOf(run, now);
  return length === undefined ? null : lengthText(length);
}
