// The line with which the edge says that it takes connections, as its Lua writes it and the host looks for it.

export const READY_LINE = "the edge is ready";
