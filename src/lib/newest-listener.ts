// Leads all new connections of a port to the listener that came last (socket(7), SO_ATTACH_REUSEPORT_CBPF), so that one before it can end
// without cutting anybody off whose handshake is under way.
import { listenersAt } from "./accepted-sockets.ts";
import { memoryOf, sockets, SOL_SOCKET } from "./socket-calls.ts";

const SO_ATTACH_REUSEPORT_CBPF = 51;
/** BPF_RET | BPF_K: the whole program answers with a number. */
const RETURN = 0x06;
/** Of two listeners; when the first has gone, there is no such number and the kernel takes the one that is left. */
const SECOND = 1;

const instruction = new DataView(new ArrayBuffer(8));
instruction.setUint16(0, RETURN, true);
instruction.setUint32(4, SECOND, true);

/** struct sock_fprog: how many instructions, and where they are. */
const program = new DataView(new ArrayBuffer(16));
program.setUint16(0, 1, true);
program.setBigUint64(8, BigInt(memoryOf(instruction)), true);

/** @param port where two listeners of this process share the address (SO_REUSEPORT). */
export function leadToNewest(port: number): void {
  for (const fd of listenersAt(port)) {
    sockets.setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, memoryOf(program), program.byteLength);
  }
}
