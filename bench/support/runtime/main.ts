// A process that serves one instance with the gateway's own protocol handlers on the runtime's sockets and TLS.
import { createHash, X509Certificate } from "node:crypto";
import type { ProtocolHandler } from "../../../src/gateway/backend.ts";
import type { Protocol, Route } from "../../../src/contracts/gateway-link.ts";
import { mysqlHandler } from "../../../src/gateway/mysql/index.ts";
import { postgresHandler } from "../../../src/gateway/postgres/index.ts";
import { addressOf, libc, SCHED_BATCH } from "../../../src/gateway/reactor/libc.ts";
import { redisHandler } from "../../../src/gateway/redis/index.ts";
import { RuntimeBackend } from "./backend.ts";
import { RuntimeClient, streamHandlers, type RuntimeStream, type RuntimeTls } from "./streams.ts";

/** Its settings, as JSON in its only argument. */
export interface RuntimeSettings {
  entry: Route;
  certificate: { cert: string; key: string };
  /**
   * A second port, at which TLS begins with the first byte, as caches have it: the runtime cannot look at that byte
   * first.
   */
  tlsPort: number;
}

const HANDLERS: Record<Protocol, ProtocolHandler> = {
  postgres: postgresHandler,
  mysql: mysqlHandler,
  redis: redisHandler,
};

const { entry, certificate, tlsPort } = JSON.parse(process.argv[2] ?? "") as RuntimeSettings;
const endPointHash = new Uint8Array(
  createHash("sha256").update(new X509Certificate(certificate.cert).raw).digest(),
);
const tls: RuntimeTls = { options: certificate, endPointHash };
const backend = new RuntimeBackend(entry);

// As the gateway does: the throughput is a third higher where engines and clients keep all processors busy.
libc.sched_setscheduler(0, SCHED_BATCH, addressOf(new Int32Array(1)));
listen(entry.port, false);
listen(tlsPort, true);

function listen(port: number, isTls: boolean): void {
  Bun.listen<RuntimeStream>({
    hostname: "127.0.0.1",
    port,
    ...(isTls ? { tls: tls.options } : {}),
    socket: {
      ...streamHandlers,
      open: (socket) => {
        const client = new RuntimeClient(`${socket.remoteAddress}:0`, tls);
        client.adopt(socket);
        socket.data = client;
        void HANDLERS[entry.protocol](client, backend).finally(() => client.end());
      },
    },
  });
}
