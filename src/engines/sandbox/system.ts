// What every sandbox shows of the system, whatever makes the sandbox.

/** Folders of the system that programs need. */
export const SYSTEM_FOLDERS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** What programs read of `/etc`: names, certificates, time, and the loader's list. Nothing of it is secret. */
export const SYSTEM_FILES = [
  "alternatives",
  "ca-certificates",
  "ca-certificates.conf",
  "host.conf",
  "hosts",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "mime.types",
  "nsswitch.conf",
  "pki",
  "protocols",
  "resolv.conf",
  "services",
  "ssl",
].map((name) => `/etc/${name}`);
