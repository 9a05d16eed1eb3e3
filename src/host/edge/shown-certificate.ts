// Has a running edge show the certificate of now.
import type { Certificate } from "../../engines/engine.ts";
import type { EngineEdge } from "../../engines/edge.ts";
import type { Runnable } from "../engine/runner-parts.ts";
import type { EdgeHost } from "./edge-host.ts";

/** The engine that runs as the edge. */
export interface RunningEdge {
  edge: EngineEdge;
  context: Runnable["context"];
}

export class ShownCertificate {
  readonly #host: Pick<EdgeHost, "certificate" | "log">;
  /** The certificate that the running edge shows; null while that is not known. */
  #shown: Certificate | null = null;

  constructor(host: Pick<EdgeHost, "certificate" | "log">) {
    this.#host = host;
  }

  /** Another edge runs, or none. */
  forget(): void {
    this.#shown = null;
  }

  /** Looks for a renewed certificate. */
  check(running: RunningEdge | null): void {
    const certificate = this.#host.certificate();
    if (certificate === null || running === null) return;
    const { spec } = running.context;
    if (spec.kind !== "edge" || spec.httpsPort === null) return;
    const isShown = this.#shown?.cert === certificate.cert && this.#shown.key === certificate.key;
    if (isShown) return;
    this.#shown = certificate;
    running.edge.show(running.context, certificate).catch((error: unknown) => {
      this.#shown = null;
      this.#host.log.warn({ error }, "the edge did not take a renewed certificate");
    });
  }
}
