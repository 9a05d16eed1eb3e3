// Has the kernel refuse ports, by small programs of its own (bpf(2)) that check binds. A guard refuses a port to all users
// but one, while an engine that takes no open socket is about to listen there, or while a reservation turns into a
// listener: it has to allow reuse of its address then, as any program can ask for. Its program checks every bind on the
// machine for that time, and ends with the host's descriptor. The program of a customer's group checks the binds of that
// group, and ends with it, so that it outlives the host.
import { closeSync, openSync, readFileSync } from "node:fs";
import { dlopen, FFIType } from "bun:ffi";
import type { PortRange } from "../../engines/packet-filter/ruleset.ts";
import { memoryOf } from "../../lib/socket-calls.ts";

const { symbols: libc } = dlopen("libc.so.6", {
  syscall: { args: [FFIType.i64, FFIType.i64, FFIType.ptr, FFIType.i64], returns: FFIType.i64_fast },
});
const SYS_BPF = process.arch === "arm64" ? 280 : 321;
const [PROG_LOAD, PROG_ATTACH, LINK_CREATE] = [5, 8, 28];
const CGROUP_SOCK_ADDR = 18;
/** Where the program is attached: binds of IPv4 and of IPv6. */
const BINDS = [8, 9];
const ATTRIBUTE_BYTES = 128;
const LICENSE = Buffer.from("GPL\0");

/** The places of members in struct bpf_sock_addr: `user_port`, in the byte order of the network, and `protocol`. */
const [USER_PORT, PROTOCOL] = [24, 36];
const UDP = 17;
const GET_CURRENT_UID_GID = 15;

/** An instruction: operation, registers (source and destination), offset or how many to skip, number. */
type Instruction = [code: number, registers: number, offset: number, value: number];

/** Refuses all users but that one. */
function instructionsFor(port: number, uid: number): Instruction[] {
  const inNetworkOrder = ((port & 0xff) << 8) | (port >> 8);
  return [
    [0x61, 0x12, USER_PORT, 0], // r2 = user_port
    [0x55, 0x02, 5, inNetworkOrder], // unless it is the port: allow
    [0x85, 0x00, 0, GET_CURRENT_UID_GID],
    [0xbc, 0x00, 0, 0], // r0 = its lower half, the uid
    [0x15, 0x00, 2, uid], // if it is the user: allow
    [0xb7, 0x00, 0, 0], // r0 = 0: refuse
    [0x95, 0x00, 0, 0],
    [0xb7, 0x00, 0, 1], // r0 = 1: allow
    [0x95, 0x00, 0, 0],
  ];
}

/** Refuses the range but for the own port. UDP has ports of its own, which no instance has. */
function instructionsFrom({ range, own }: ReservedPorts): Instruction[] {
  return [
    [0x61, 0x12, PROTOCOL, 0], // r2 = protocol
    [0x15, 0x02, 7, UDP], // if it is UDP: allow
    [0x61, 0x12, USER_PORT, 0], // r2 = user_port
    [0xdc, 0x02, 0, 16], // r2 = it in the order of the machine
    [0xa5, 0x02, 4, range.first], // if it is below the range: allow
    [0x25, 0x02, 3, range.last], // if it is above: allow
    [0x15, 0x02, 2, own ?? 0], // if it is the own port: allow
    [0xb7, 0x00, 0, 0], // r0 = 0: refuse
    [0x95, 0x00, 0, 0],
    [0xb7, 0x00, 0, 1], // r0 = 1: allow
    [0x95, 0x00, 0, 0],
  ];
}

/** Allows every bind. */
const ALLOW_ALL: Instruction[] = [
  [0xb7, 0x00, 0, 1], // r0 = 1: allow
  [0x95, 0x00, 0, 0],
];

/** Ports of instances, which the processes of a customer's group may not take. */
export interface ReservedPorts {
  range: PortRange;
  /** The port of the range at which the processes answer; null without any. */
  own: number | null;
}

/** Refuses a port while it is open. */
export interface BindGuard {
  close(): void;
}

/** @returns null where the machine or the rights of this process do not allow it: then nothing is refused. */
export function guardBinding(port: number, uid: number): BindGuard | null {
  return guardWith(instructionsFor(port, uid));
}

/** Runs an action while the kernel refuses a port to all other users, where this process can have it do so. */
export function refusingOthers<T>(port: number, action: () => T): T {
  const guard = guardBinding(port, process.getuid?.() ?? 0);
  try {
    return action();
  } finally {
    guard?.close();
  }
}

/** Whether this process can have the kernel refuse ports; tries it with a program that refuses nothing. */
export function canGuardBinding(): boolean {
  const guard = guardWith(ALLOW_ALL);
  guard?.close();
  return guard !== null;
}

/**
 * Refuses ports to the processes of a group, in place of what was refused to them before, until the group is deleted.
 * Where the machine or the rights of this process do not allow it, nothing is refused.
 * @param folder of a group of version 2.
 */
export function refuseReserved(folder: string, ports: ReservedPorts): void {
  const instructions = instructionsFrom(ports);
  const group = openSync(folder, "r");
  for (const type of BINDS) {
    const program = load(instructions, type);
    if (program < 0) continue;
    attach(PROG_ATTACH, program, group, type);
    closeSync(program);
  }
  closeSync(group);
}

function guardWith(instructions: Instruction[]): BindGuard | null {
  const root = openCgroupRoot();
  if (root === null) return null;
  const links: number[] = [];
  const close = () => {
    for (const link of links.splice(0)) closeSync(link);
  };
  for (const type of BINDS) {
    const link = guardBinds(instructions, type, root);
    if (link !== null) links.push(link);
  }
  closeSync(root);
  if (links.length === BINDS.length) return { close };
  close();
  return null;
}

/** @returns a descriptor that keeps the program attached; null when it cannot be. */
function guardBinds(instructions: Instruction[], attachType: number, cgroup: number): number | null {
  const program = load(instructions, attachType);
  if (program < 0) return null;
  const link = attach(LINK_CREATE, program, cgroup, attachType);
  closeSync(program);
  return link < 0 ? null : link;
}

/** The cgroup of version 2 that all processes are in; null without any. */
function openCgroupRoot(): number | null {
  const mounts = readFileSync("/proc/self/mounts", "utf8");
  const mount = /^\S+ (\S+) cgroup2 /m.exec(mounts)?.[1];
  if (mount === undefined) return null;
  try {
    return openSync(mount, "r");
  } catch {
    return null;
  }
}

function load(instructions: Instruction[], attachType: number): number {
  const code = new DataView(new ArrayBuffer(instructions.length * 8));
  for (const [index, [operation, registers, offset, value]] of instructions.entries()) {
    code.setUint8(index * 8, operation);
    code.setUint8(index * 8 + 1, registers);
    code.setInt16(index * 8 + 2, offset, true);
    code.setInt32(index * 8 + 4, value, true);
  }
  const attribute = new DataView(new ArrayBuffer(ATTRIBUTE_BYTES));
  attribute.setUint32(0, CGROUP_SOCK_ADDR, true);
  attribute.setUint32(4, instructions.length, true);
  attribute.setBigUint64(8, BigInt(memoryOf(code)), true);
  attribute.setBigUint64(16, BigInt(memoryOf(LICENSE)), true);
  attribute.setUint32(68, attachType, true);
  return bpf(PROG_LOAD, attribute);
}

/** Both ways to attach a program name it, the group and the kind of its calls; they differ in the order. */
function attach(command: number, program: number, cgroup: number, attachType: number): number {
  const attribute = new DataView(new ArrayBuffer(ATTRIBUTE_BYTES));
  const [first, second] = command === LINK_CREATE ? [program, cgroup] : [cgroup, program];
  attribute.setUint32(0, first, true);
  attribute.setUint32(4, second, true);
  attribute.setUint32(8, attachType, true);
  return bpf(command, attribute);
}

function bpf(command: number, attribute: DataView): number {
  return Number(libc.syscall(SYS_BPF, command, memoryOf(attribute), attribute.byteLength));
}
