// Leads all new connections of a port to its newest listener (socket(7), SO_ATTACH_REUSEPORT_CBPF), so that the former
// listener can end without cutting off a client whose handshake is under way.
import { listenersAt } from "./accepted-sockets.ts";
import { memoryOf, sockets, SOL_SOCKET } from "./socket-calls.ts";

const SO_ATTACH_REUSEPORT_CBPF = 51;
/** BPF_RET | BPF_K: the whole program returns a number. */
const RETURN = 0x06;
/**
 * The second of two listeners. When the first has gone, no listener has this number, and the kernel takes the listener
 * that is left.
 */
const SECOND = 1;

const instruction = new DataView(new ArrayBuffer(8));
instruction.setUint16(0, RETURN, true);
instruction.setUint32(4, SECOND, true);

/** struct sock_fprog: how many instructions, and where they are. */
const program = new DataView(new ArrayBuffer(16));
program.setUint16(0, 1, true);
program.setBigUint64(8, BigInt(memoryOf(instruction)), true);

/** @param port a port whose address two listeners of this process share (SO_REUSEPORT). */
export function leadToNewest(port: number): void {
  for (const fd of listenersAt(port)) {
    sockets.setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, memoryOf(program), program.byteLength);
  }
}
