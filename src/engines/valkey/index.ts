// Valkey, which takes the same configuration and speaks the same protocol as Redis.
import { redisLike } from "../redis/engine.ts";

export const valkey = redisLike("valkey");
