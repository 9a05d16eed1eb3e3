// Distributes the connections of a port over the listeners that share it, by the network of the client. A BPF program in
// the kernel selects the listener (socket(7), SO_ATTACH_REUSEPORT_CBPF). Every listener has its own queue of connections
// that wait to be accepted. So when the connections of a network overflow their queue, clients of most other networks are
// accepted as usual, where a full queue would have them send again after seconds.
import { listenersAt } from "./accepted-sockets.ts";
import { memoryOf, sockets, SOL_SOCKET } from "./socket-calls.ts";

/** How many listeners a port has. */
export const LANES = 16;

const SO_ATTACH_REUSEPORT_CBPF = 51;

// The instructions of linux/bpf_common.h that are needed here.
const LOAD_WORD = 0x20;
const LOAD_BYTE = 0x30;
const ADD = 0x04;
const AND = 0x54;
const SHIFT_RIGHT = 0x74;
const XOR_COPY = 0xac;
const COPY = 0x07;
const JUMP = 0x05;
const JUMP_IF_EQUAL = 0x15;
const RETURN_RESULT = 0x16;
const RETURN = 0x06;

/** Offsets from here on count from the beginning of the IP header (SKF_NET_OFF). */
const IP_HEADER = 0xfff0_0000;
const [IPV4_SOURCE, IPV6_SOURCE] = [IP_HEADER + 12, IP_HEADER + 8];

interface Instruction {
  code: number;
  /** A number, an offset in the packet, or how many instructions to skip. */
  value?: number;
  /** How many instructions to skip when a comparison is false. */
  otherwise?: number;
}

const FOLDS = [16, 8, 4].flatMap((bits): Instruction[] => [
  { code: COPY },
  { code: SHIFT_RIGHT, value: bits },
  { code: XOR_COPY },
]);

/** The network is the same part of an address as in `networkOf`. */
const LANE_OF_NETWORK: Instruction[] = [
  { code: LOAD_BYTE, value: IP_HEADER },
  { code: SHIFT_RIGHT, value: 4 },
  { code: JUMP_IF_EQUAL, value: 6, otherwise: 5 },
  { code: LOAD_WORD, value: IPV6_SOURCE },
  { code: COPY },
  { code: LOAD_WORD, value: IPV6_SOURCE + 4 },
  { code: XOR_COPY },
  { code: JUMP, value: 1 },
  { code: LOAD_WORD, value: IPV4_SOURCE },
  ...FOLDS,
  { code: AND, value: LANES - 1 },
];

/**
 * Leads each network to one of `LANES` listeners.
 * @param port a port whose address listeners of this process share (SO_REUSEPORT).
 * @param first how many older listeners are passed over.
 */
export function leadByNetwork(port: number, first = 0): void {
  attach(port, [...LANE_OF_NETWORK, { code: ADD, value: first }, { code: RETURN_RESULT }]);
}

/**
 * Leads all connections to the listener of that number, so that older listeners can end without cutting off a client
 * whose handshake is under way. When it has another number, because older listeners have ended, the kernel takes any.
 */
export function leadToOne(port: number, number: number): void {
  attach(port, [{ code: RETURN, value: number }]);
}

function attach(port: number, instructions: Instruction[]): void {
  const code = new DataView(new ArrayBuffer(instructions.length * 8));
  for (const [index, instruction] of instructions.entries()) {
    code.setUint16(index * 8, instruction.code, true);
    code.setUint8(index * 8 + 3, instruction.otherwise ?? 0);
    code.setUint32(index * 8 + 4, instruction.value ?? 0, true);
  }
  /** struct sock_fprog: how many instructions, and where they are. */
  const program = new DataView(new ArrayBuffer(16));
  program.setUint16(0, instructions.length, true);
  program.setBigUint64(8, BigInt(memoryOf(code)), true);
  const [listener] = listenersAt(port);
  if (listener === undefined) return;
  sockets.setsockopt(listener, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, memoryOf(program), program.byteLength);
}
