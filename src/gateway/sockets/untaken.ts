// Asks the kernel for the count of bytes that were sent and not read yet. The runtime does not know it.
import { dlopen, FFIType } from "bun:ffi";
import { memoryOf } from "../../lib/socket-calls.ts";

const SIOCOUTQ = 0x5411;

const { symbols: libc } = dlopen("libc.so.6", {
  ioctl: { args: [FFIType.i32, FFIType.u64_fast, FFIType.ptr], returns: FFIType.i32 },
});

const count = new Int32Array(1);
const countAddress = memoryOf(count);

/** The count of sent bytes that the peer of a unix socket has not read; 0 for a closed descriptor. */
export function untaken(fd: number): number {
  if (fd < 0 || libc.ioctl(fd, SIOCOUTQ, countAddress) < 0) return 0;
  return count[0] ?? 0;
}
