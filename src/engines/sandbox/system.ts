// What every sandbox shows of the system, whatever makes the sandbox.

/** Folders of the system that programs need. */
export const SYSTEM_FOLDERS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** The files of `/etc` that programs read: names, time, and the loader's list. Nothing of it is secret. */
export const ETC_FILES = [
  "host.conf",
  "hosts",
  "ld.so.cache",
  "ld.so.conf",
  "localtime",
  "mime.types",
  "nsswitch.conf",
  "protocols",
  "resolv.conf",
  "services",
];

/**
 * The folders of `/etc` that programs read: certificates, and names of programs and libraries. On Arch Linux the
 * certificates of `ssl` are links into `ca-certificates`.
 */
export const ETC_FOLDERS = ["alternatives", "ca-certificates", "ld.so.conf.d", "pki", "ssl"];
