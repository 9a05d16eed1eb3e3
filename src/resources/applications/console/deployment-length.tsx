// How long a deployment takes; the seconds of a deployment that is under way go on.
import { useEffect, useState } from "react";
import type { DeploymentResource } from "../../../sdk/index.ts";
import { isOpen, lengthOf, lengthText } from "./deployment-texts.ts";

const TICK_MS = 500;

export function DeploymentLength({ deployment }: { deployment: DeploymentResource }) {
  const [now, setNow] = useState(() => Date.now());
  const isRunning = isOpen(deployment);
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  const length = lengthOf(deployment, now);
  return length === undefined ? null : lengthText(length);
}
