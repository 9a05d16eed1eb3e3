// Valkey, which takes the same configuration and speaks the same protocol as Redis.
import { redisLike } from "../redis/engine.ts";
import { program } from "./program.ts";

export const valkey = redisLike("valkey", program);
